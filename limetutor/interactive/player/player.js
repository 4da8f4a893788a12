// Brings the static figures of limetutor to life: a control chooses a stop, and the few attributes
// that differ are put into the picture. The format is described in limetutor/interactive/frames.py.
// A handle in the picture is dragged to the nearest of its places, which are stored like all else.
(() => {
  "use strict";

  // --- frames ----------------------------------------------------------------------------------

  // The number of a combination of stops of some controls, the first of which varies fastest.
  const placeOf = (controls, at, sizes) =>
    controls.reduceRight((number, k) => number * sizes[k] + at[k], 0);

  // The value of one varying attribute at any place; its numbers are stored as changes.
  const reader = (scale, parts, data) => {
    if (scale === 0) return (place) => parts[data[place]];
    const width = parts.length - 1;
    const sums = Int32Array.from(data);
    for (let k = width; k < sums.length; k++) sums[k] += sums[k - width];
    return (place) => {
      let text = parts[0];
      for (let k = 0; k < width; k++) text += sums[place * width + k] / scale + parts[k + 1];
      return text;
    };
  };

  // A part of the picture with the controls it depends on: show(at) puts in what differs there.
  const layerOf = (root, { groups, controls, which }, sizes) => {
    let shown = groups.find((group) => group.base === null);
    if (groups.length > 1) shown.base = root.innerHTML;
    let elements = [root, ...root.querySelectorAll("*")];
    let last = null;

    const columnsOf = (group) =>
      (group.unpacked ??= group.columns.map(([element, attribute, along, scale, parts, data]) => ({
        element, attribute, along, read: reader(scale, parts, data), last: null,
      })));

    const show = (at) => {
      const place = placeOf(controls, at, sizes);
      if (place === last) return;
      last = place;
      const group = groups[which.length ? which[place] : 0];
      if (group !== shown) {
        root.innerHTML = group.base;
        elements = [root, ...root.querySelectorAll("*")];
        shown = group;
        for (const column of columnsOf(group)) column.last = null;
      }
      for (const column of columnsOf(group)) {
        const there = placeOf(column.along, at, sizes);
        if (there === column.last) continue;
        column.last = there;
        const node = elements[column.element], value = column.read(there);
        if (column.attribute) node.setAttribute(column.attribute, value);
        else node.firstChild.data = value;
      }
    };

    // Where an element stands with the controls at some stops; only handles are asked.
    const whereIs = (element, at) => {
      const place = ["cx", "cy"].map((name) => {
        const index = elements.indexOf(element);
        const column = columnsOf(shown).find((c) => c.element === index && c.attribute === name);
        return +(column ? column.read(placeOf(column.along, at, sizes)) : element.getAttribute(name));
      });
      return { x: place[0], y: place[1] };
    };
    return { show, whereIs };
  };

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

    const stopOf = (control) =>
      control.tagName === "SELECT" ? control.selectedIndex : +control.value;
    const now = () => controls.map(stopOf);
    const defaults = controls.map((control) => +control.dataset.default);

    const update = () => {
      if (!keptIn(figure)) keep(figure);
      const at = now();
      controls.forEach((control, k) => {
        if (control.type !== "range") return;
        control.setAttribute("aria-valuetext", data.texts[k][at[k]]);
        control.nextElementSibling.value = data.texts[k][at[k]];
      });
      const { layers, sentences } = read();
      for (const layer of layers) layer.show(at);
      for (const handle of handles) handle.tell(at);
      const said = sentences[placeOf(everything, at, sizes)];
      if (sentence.textContent !== said) sentence.textContent = said;
    };

    // Go to these stops; whether that was a move.
    const go = (stops) => {
      const before = now();
      if (stops.every((stop, k) => stop === before[k])) return false;
      controls.forEach((control, k) => {
        if (control.tagName === "SELECT") control.selectedIndex = stops[k];
        else control.value = stops[k];
      });
      update();
      return true;
    };

    const handles = [...svg.querySelectorAll("[data-handle]")].map((element) => {
      const number = [...svg.children].indexOf(element.parentNode);
      const layer = () => read().layers[number];
      const own = element.dataset.handle.split(" ").map((name) => data.names.indexOf(name));
      return handleOf({ element, layer, own, data, labels, sizes, now, go, commit: () => page.commit() });
    });

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
    figure.querySelector(".lt-reset").addEventListener("click", () => {
      go(defaults);
      page.commit();
    });
    figure.querySelector(".lt-copy").addEventListener("click", () => copyLink(me));
    touchable(svg, handles);
    if (reopened) {
      controls.forEach((control, k) => {
        if (control.tagName === "SELECT") control.selectedIndex = defaults[k];
        else control.value = defaults[k];
      });
      figure.querySelector(".lt-said").textContent = "";
      update();
    }
    figure.querySelector(".lt-controls").classList.remove("lt-idle");
    return me;
  };

  const nearest = (distances) => distances.indexOf(Math.min(...distances));

  // --- handles -----------------------------------------------------------------------------------

  const handleOf = ({ element, layer, own, data, labels, sizes, now, go, commit }) => {
    const [across, up] = own;

    const tell = (at) => {
      const texts = own.map((k) => data.texts[k][at[k]]);
      element.setAttribute("aria-valuenow", data.stops[across][at[across]]);
      element.setAttribute(
        "aria-valuetext",
        own.length === 1 ? texts[0] : own.map((k, i) => `${labels[k]} ${texts[i]}`).join(", "),
      );
    };

    // All places of the handle, the other controls staying where they are.
    const places = () => {
      const found = [];
      const at = now();
      for (let i = 0; i < sizes[across]; i++) {
        for (let j = 0; j < (own.length > 1 ? sizes[up] : 1); j++) {
          at[across] = i;
          if (own.length > 1) at[up] = j;
          found.push({ stops: [...at], ...layer().whereIs(element, at) });
        }
      }
      return found;
    };

    // A handle of one control runs along a line: what counts is the direction in which it runs.
    const nearestTo = (point, all) => {
      const span = (name) => {
        const values = all.map((place) => place[name]);
        return Math.max(...values) - Math.min(...values);
      };
      const only = own.length > 1 ? null : span("x") >= span("y") ? "x" : "y";
      const away = (place) =>
        only ? Math.abs(place[only] - point[only]) : Math.hypot(place.x - point.x, place.y - point.y);
      return all[nearest(all.map(away))].stops;
    };

    const step = (control, by) => {
      const at = now();
      at[control] = Math.min(Math.max(at[control] + by, 0), sizes[control] - 1);
      go(at);
    };
    const large = (control) => Math.max(1, Math.round(sizes[control] / 10));
    const rows = up ?? across; // what the keys that point up and down move
    const keys = {
      ArrowRight: () => step(across, 1),
      ArrowLeft: () => step(across, -1),
      ArrowUp: () => step(rows, 1),
      ArrowDown: () => step(rows, -1),
      PageUp: () => step(rows, large(rows)),
      PageDown: () => step(rows, -large(rows)),
      Home: () => step(across, -sizes[across]),
      End: () => step(across, sizes[across]),
    };

    element.addEventListener("keydown", (event) => {
      if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      keys[event.key]();
    });

    // What begins on a handle is a drag and never scrolls: touch-action says so, not to every browser.
    element.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });

    // Dragged from where it was taken hold of, so that it does not jump under the finger.
    let held = null;
    element.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !event.isPrimary) return;
      event.preventDefault();
      element.focus({ preventScroll: true });
      element.setPointerCapture(event.pointerId);
      const pointer = inPicture(element.ownerSVGElement, event);
      const centre = layer().whereIs(element, now());
      held = { dx: centre.x - pointer.x, dy: centre.y - pointer.y, places: places() };
    });
    const drag = (event) => {
      if (!held) return;
      const { x, y } = inPicture(element.ownerSVGElement, event);
      go(nearestTo({ x: x + held.dx, y: y + held.dy }, held.places));
    };
    element.addEventListener("pointermove", drag);
    element.addEventListener("pointerup", drag); // a quick finger is gone before its last move is told
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) {
      element.addEventListener(end, () => {
        if (held) commit();
        held = null;
      });
    }
    return { element, own, tell, places, nearestTo, go, commit };
  };

  const inPicture = (svg, event) =>
    new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());

  // Handles are as large as a fingertip on any screen, and a tap on a map takes its point there.
  const touchable = (svg, handles) => {
    if (!handles.length) return;
    const fit = () => {
      const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
      if (scale) for (const { element } of handles) element.setAttribute("r", +(22.5 / scale).toFixed(1));
    };
    new ResizeObserver(fit).observe(svg);
    const pad = handles.find((handle) => handle.own.length > 1);
    if (!pad) return;
    svg.addEventListener("click", (event) => {
      if (event.target.dataset?.handle) return;
      const point = inPicture(svg, event);
      const all = pad.places();
      const inside = ["x", "y"].every((name) => {
        const values = all.map((place) => place[name]);
        return point[name] > Math.min(...values) - 8 && point[name] < Math.max(...values) + 8;
      });
      if (inside && pad.go(pad.nearestTo(point, all))) pad.commit();
    });
  };

  // --- the address -------------------------------------------------------------------------------

  // `#fig-machine&nu=0.53&xi=0.432`, or nothing if it is the address of no figure.
  const parse = (hash, figures) => {
    const [name, ...pairs] = hash.replace(/^#/, "").split("&");
    const me = figures.find((figure) => figure.name === name);
    if (!me || !pairs.length) return null;
    const asked = new Map();
    for (const pair of pairs) {
      const [key, ...text] = pair.split("=");
      try {
        asked.set(key, decodeURIComponent(text.join("=")));
      } catch { /* not an address of ours: the control keeps its default */ }
    }
    return { me, stops: me.stopsFor(asked) };
  };

  const scrollTo = (me) => {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const whole = me.figure.closest("figure[id]") ?? me.figure;
    whole.scrollIntoView({ behavior: still ? "instant" : "auto", block: "nearest" });
  };

  // One entry of the history for each move that ends; each entry knows where all figures stand.
  const follow = (figures) => {
    if (!figures.length) return;
    const all = () => Object.fromEntries(figures.map((me) => [me.name, me.now()]));
    const remember = (how, address) => {
      try {
        history[how]({ ...history.state, limetutor: all() }, "", address);
      } catch { /* too many moves a second, or a page without an address: the figure moves all the same */ }
    };
    // Where figures stood when the address was last written.
    let written = JSON.stringify(all());
    const commit = (me) => {
      if (JSON.stringify(all()) === written) return;
      written = JSON.stringify(all());
      remember("pushState", me.address());
    };
    for (const me of figures) me.page.commit = () => commit(me);

    // To another entry, or to an address that somebody typed or followed.
    const arrive = () => {
      const known = history.state?.limetutor;
      const asked = parse(location.hash, figures);
      if (known) {
        for (const me of figures) {
          const stops = known[me.name];
          me.go(me.fits(stops) ? stops : me.defaults);
        }
      } else if (asked) {
        asked.me.go(asked.stops);
      }
      written = JSON.stringify(all());
      if (!known) remember("replaceState", location.href);
      if (!asked || known) return;
      scrollTo(asked.me);
      if (document.readyState !== "complete") // what loads above it may push it away
        addEventListener("load", () => scrollTo(asked.me), { once: true });
    };
    addEventListener("popstate", arrive);
    arrive();

    // A link to a state on this page moves its figure, the second time too.
    document.addEventListener("click", (event) => {
      const link = event.target.closest?.("a[href]");
      const plain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.button);
      if (!link || !plain || link.href.split("#")[0] !== location.href.split("#")[0]) return;
      const asked = parse(link.hash, figures);
      if (!asked) return;
      event.preventDefault();
      asked.me.go(asked.stops);
      commit(asked.me);
      scrollTo(asked.me);
    });
  };

  // --- a link to give away -------------------------------------------------------------------------

  const copyLink = async (me) => {
    const said = me.figure.querySelector(".lt-said");
    const link = location.href.split("#")[0] + me.address();
    said.textContent = "";
    const done = await copied(link);
    said.textContent = done ? "Link copied." : `This browser does not let me copy. The link is ${link}`;
  };

  const copied = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch { /* no clipboard here, or it is refused: the old way */ }
    const field = document.createElement("textarea");
    field.value = text;
    field.style.cssText = "position:fixed;opacity:0";
    const focused = document.activeElement;
    document.body.append(field);
    field.select();
    let done = false;
    try {
      done = document.execCommand("copy");
    } catch { /* refused as well: the link is shown */ }
    field.remove();
    focused?.focus({ preventScroll: true });
    return done;
  };

  // Slides have addresses of their own.
  const figures = [...document.querySelectorAll(".lt-explore")].map(start);
  const onSlides = (me) => me.figure.closest(".reveal") !== null;
  for (const me of figures.filter(onSlides)) me.figure.querySelector(".lt-copy").hidden = true;
  follow(figures.filter((me) => !onSlides(me)));
})();
