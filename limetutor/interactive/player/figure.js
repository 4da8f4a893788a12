// One figure: its controls, its picture and its sentence.

// --- pages saved to disk -----------------------------------------------------------------------

// A page saved to disk is the page as it stands: the picture moved, the controls at their default.
// So before the first move the picture is kept beside the moving one, as text that nothing
// displays and every browser saves; a page that opens with it was saved, and starts from it.
const keptIn = (figure) => figure.querySelector("script.lt-first");

const keep = (figure) => {
  const kept = document.createElement("script");
  kept.type = "application/json";
  kept.className = "lt-first nohighlight"; // a search marks its words in scripts too
  kept.textContent = JSON.stringify(figure.querySelector("svg").outerHTML).replaceAll("<", "\\u003c");
  figure.append(kept);
};

const restore = (figure) => {
  const holder = document.createElement("template");
  holder.innerHTML = JSON.parse(keptIn(figure).textContent);
  figure.querySelector("svg").replaceWith(holder.content);
};

// --- motion ------------------------------------------------------------------------------------

const SETTLE = 120; // milliseconds from where something was let go to the nearest stop
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// Calls draw with what has passed of a time, from 0 to 1, frame by frame; the result ends it early.
const animate = (time, draw, done) => {
  if (still()) {
    done();
    return null;
  }
  const begin = performance.now();
  let request = requestAnimationFrame(function frame(now) {
    const passed = Math.min(Math.max((now - begin) / time, 0), 1);
    if (passed < 1) {
      draw(passed);
      request = requestAnimationFrame(frame);
    } else done();
  });
  return () => cancelAnimationFrame(request);
};

// --- one figure --------------------------------------------------------------------------------

const start = (figure) => {
  const reopened = keptIn(figure);
  if (reopened) restore(figure);
  const data = JSON.parse(figure.dataset.controls);
  const svg = figure.querySelector("svg");
  const sentence = figure.querySelector(".lt-sentence");
  const controls = [...figure.querySelectorAll("input, select")];
  const labels = controls.map((control) => control.labels[0].textContent);
  const sizes = data.texts.map((texts) => texts.length);
  // The rest of the data is large, and is read when something moves for the first time.
  let stored = null;
  const read = () => {
    if (!stored) {
      const { layers, sentences } = JSON.parse(figure.querySelector("script").textContent);
      stored = { sentences, layers: layers.map((layer, k) => layerOf(svg.children[k], layer, sizes)) };
    }
    return stored;
  };
  const everything = sizes.map((_, k) => k);

  // Where the controls stand, between stops as well while something moves; and the nearest stops.
  const where = () =>
    controls.map((control) => (control.tagName === "SELECT" ? control.selectedIndex : +control.value));
  const now = () => where().map(Math.round);
  const put = (places) =>
    controls.forEach((control, k) => {
      if (control.tagName === "SELECT") control.selectedIndex = places[k];
      else if (+control.value !== places[k]) control.value = places[k];
    });
  const defaults = controls.map((control) => +control.dataset.default);

  const paint = (places) => {
    if (!keptIn(figure)) keep(figure);
    for (const layer of read().layers) layer.show(places);
    marks.follow();
  };

  // What is said changes at the middle between two stops, and nothing but the picture in between.
  let told = "";
  const update = () => {
    const at = now();
    paint(where());
    if (at.join() === told) return;
    told = at.join();
    controls.forEach((control, k) => {
      if (control.type !== "range") return;
      control.setAttribute("aria-valuetext", data.texts[k][at[k]]);
      control.nextElementSibling.value = data.texts[k][at[k]];
    });
    for (const handle of handles) handle.tell(at);
    sentence.textContent = read().sentences[placeOf(everything, at, sizes)];
  };

  // Sliders know whole stops only, but for those that something moves right now.
  const glide = (on) =>
    controls.forEach((control, k) => {
      const step = on && data.glides[k] ? "any" : "1";
      if (control.type === "range" && control.step !== step) control.step = step;
    });

  let halt = null; // ends what moves by itself
  const finish = () => {
    if (!halt) return;
    halt();
    halt = null;
    rest();
  };
  const rest = () => {
    put(now());
    glide(false);
    update();
  };

  // While something is dragged: to any place between the stops of what glides.
  const move = (places) => {
    glide(true);
    put(places.map((place, k) => (data.glides[k] ? place : Math.round(place))));
    update();
  };

  // It was let go: on to the nearest stops, where all is exact.
  const settle = () => {
    if (halt) return; // on its way already
    const from = where(), to = now();
    if (from.every((place, k) => place === to[k])) return glide(false);
    const ended = () => {
      halt = null;
      rest();
    };
    halt = animate(SETTLE, (t) => {
      const left = (1 - t) ** 2;
      put(to.map((stop, k) => stop + (from[k] - stop) * left));
      update();
    }, ended);
  };

  // Go to these stops; whether that was a move.
  const go = (stops) => {
    finish();
    const before = now();
    if (stops.every((stop, k) => stop === before[k])) return false;
    put(stops);
    update();
    return true;
  };

  const handles = [...svg.querySelectorAll("[data-handle]")].map((element) => {
    const number = [...svg.children].indexOf(element.parentNode);
    const layer = () => read().layers[number];
    const own = element.dataset.handle.split(" ").map((name) => data.names.indexOf(name));
    const commit = () => page.commit();
    return handleOf({ element, layer, own, data, labels, sizes, where, now, go, move, settle, finish, commit });
  });
  const marks = marksOf(svg, handles);

  // As an address: the figure's name, then its controls.
  const name = figure.closest("figure[id]")?.id || figure.dataset.figure;
  const address = () =>
    now().reduce(
      (text, stop, k) => `${text}&${data.names[k]}=${encodeURIComponent(data.stops[k][stop])}`,
      `#${name}`,
    );

  // The stops that an address asks for: the nearest, and the default where it makes no sense.
  const stopsFor = (asked) =>
    defaults.map((stop, k) => {
      if (!asked.has(data.names[k])) return stop;
      const text = asked.get(data.names[k]);
      if (controls[k].tagName === "SELECT") {
        const found = data.stops[k].indexOf(text);
        return found < 0 ? stop : found;
      }
      const value = text.trim() === "" ? NaN : Number(text);
      if (!Number.isFinite(value)) return stop;
      return nearest(data.stops[k].map((other) => Math.abs(other - value)));
    });

  const page = { commit: () => {} }; // replaced once all figures are there
  const fits = (stops) => // those of an older build of the page may not
    Array.isArray(stops) && stops.length === sizes.length &&
    stops.every((stop, k) => Number.isInteger(stop) && stop >= 0 && stop < sizes[k]);
  const me = { figure, name, page, now, go, address, stopsFor, defaults, fits };

  // A key that is held down is one move, and so is a drag: it ends when it is let go.
  let keyDown = false;
  figure.addEventListener("input", update);
  figure.addEventListener("keydown", finish, { capture: true });
  figure.addEventListener("keydown", (event) => {
    keyDown = true;
    if (event.defaultPrevented) event.stopPropagation(); // a handle took it: it turns no slide
  });
  figure.addEventListener("change", () => { if (!keyDown) page.commit(); });
  for (const end of ["keyup", "focusout"]) {
    figure.addEventListener(end, () => {
      if (keyDown) page.commit();
      keyDown = false;
    });
  }
  controls.forEach((control, k) => {
    if (!data.glides[k]) return;
    control.addEventListener("pointerdown", () => {
      finish();
      glide(true);
    });
    for (const end of ["pointerup", "pointercancel", "change", "blur"]) control.addEventListener(end, settle);
  });
  figure.querySelector(".lt-reset").addEventListener("click", () => {
    go(defaults);
    page.commit();
  });
  figure.querySelector(".lt-copy").addEventListener("click", () => copyLink(me));
  touchable(svg, handles, marks);
  if (reopened) {
    put(defaults);
    figure.querySelector(".lt-said").textContent = "";
    update();
  }
  figure.querySelector(".lt-controls").classList.remove("lt-idle");
  nudge(svg, handles, (by) => {
    const places = now();
    if (places.some((place, k) => place !== where()[k])) return false; // it moves already
    paint(places.map((place, k) => Math.min(Math.max(place + (by[k] ?? 0), 0), sizes[k] - 1)));
    return true;
  });
  return me;
};

const nearest = (distances) => distances.indexOf(Math.min(...distances));
