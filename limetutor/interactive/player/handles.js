// Handles: what can be dragged in a picture, how it is marked, and how a reader gets to know of it.

// What moves along an axis of the picture, and for two controls along both.
const ALONG = { x: ["x"], y: ["y"], xy: ["x", "y"] };

const handleOf = ({ element, layer, own, data, labels, sizes, where, now, go, move, settle, finish, commit }) => {
  const [across, up] = own;
  const axes = ALONG[element.dataset.way];

  const tell = (at) => {
    const texts = own.map((k) => data.texts[k][at[k]]);
    element.setAttribute("aria-valuenow", data.stops[across][at[across]]);
    element.setAttribute(
      "aria-valuetext",
      own.length === 1 ? texts[0] : own.map((k, i) => `${labels[k]} ${texts[i]}`).join(", "),
    );
  };

  // The coordinate of the handle at each stop of one of its controls, the others staying where they are.
  const line = (i) => {
    const at = now(), k = own[i];
    return Array.from({ length: sizes[k] }, (_, stop) => layer().whereIs(element, at.with(k, stop))[axes[i]]);
  };

  // The place along such a line that is nearest to a coordinate; of several that nearest to `last`.
  const along = (values, goal, last) => {
    let best = { away: Infinity };
    for (let low = 0; low + 1 < values.length; low++) {
      const [a, b] = [values[low], values[low + 1]];
      const t = a === b ? 0 : Math.min(Math.max((goal - a) / (b - a), 0), 1);
      const away = Math.abs(a + t * (b - a) - goal) + 1e-3 * Math.abs(low + t - last);
      if (away < best.away) best = { away, place: low + t };
    }
    return best.place;
  };

  // Where the controls have to be for the handle to be at a point.
  const placesFor = (point, lines) => {
    const places = where();
    own.forEach((k, i) => { places[k] = along(lines[i], point[axes[i]], places[k]); });
    return places;
  };
  const lines = () => own.map((_, i) => line(i));

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
    finish();
    known();
    element.focus({ preventScroll: true });
    element.setPointerCapture(event.pointerId);
    const pointer = inPicture(element.ownerSVGElement, event);
    const centre = layer().whereIs(element, now());
    held = { dx: centre.x - pointer.x, dy: centre.y - pointer.y, lines: lines() };
  });
  const drag = (event) => {
    if (!held) return;
    const { x, y } = inPicture(element.ownerSVGElement, event);
    move(placesFor({ x: x + held.dx, y: y + held.dy }, held.lines));
  };
  element.addEventListener("pointermove", drag);
  element.addEventListener("pointerup", drag); // a quick finger is gone before its last move is told
  for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) {
    element.addEventListener(end, () => {
      if (!held) return;
      held = null;
      settle();
      commit();
    });
  }

  // Straight to the stops nearest to a point, if it is on the map.
  const tap = (point) => {
    const all = lines();
    const inside = axes.every(
      (name, i) => point[name] > Math.min(...all[i]) - 8 && point[name] < Math.max(...all[i]) + 8,
    );
    if (inside && go(placesFor(point, all).map(Math.round))) commit();
  };
  return { element, own, axes, tell, tap };
};

const inPicture = (svg, event) =>
  new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());

// Handles are as large as a fingertip on any screen, and a tap on a map takes its point there.
const touchable = (svg, handles, marks) => {
  if (!handles.length) return;
  const fit = () => {
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    if (!scale) return;
    for (const { element } of handles) element.setAttribute("r", +(22.5 / scale).toFixed(1));
    marks.follow(scale);
  };
  new ResizeObserver(fit).observe(svg);
  const pad = handles.find((handle) => handle.own.length > 1);
  if (!pad) return;
  svg.addEventListener("click", (event) => {
    if (!event.target.dataset?.handle) pad.tap(inPicture(svg, event));
  });
};

// --- the mark ----------------------------------------------------------------------------------

// Around what can be dragged, and around nothing else: a ring, a halo, and arrowheads that say which way.
// It is drawn here since without this script nothing can be dragged.
const RING = 10.5, TIP = 19, ARM = 4; // in pixels: radius, the ends of the arrowheads, their half width
const marksOf = (svg, handles) => {
  svg.querySelector(".lt-marks")?.remove(); // of a page saved with it
  const make = (tag, parent, attributes) => {
    const made = document.createElementNS(svg.namespaceURI, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    parent.append(made);
    return made;
  };
  if (!handles.length) return { follow: () => {} };
  const group = make("g", svg, { class: "lt-marks", "aria-hidden": "true" });
  const drawn = handles.map(({ axes }) => {
    const ring = `M${RING} 0A${RING} ${RING} 0 1 0 ${-RING} 0A${RING} ${RING} 0 1 0 ${RING} 0`;
    const heads = axes.flatMap((axis) =>
      [-1, 1].map((side) => {
        const points = [[TIP - ARM, -ARM], [TIP, 0], [TIP - ARM, ARM]];
        return "M" + points.map(([out, off]) => (axis === "x" ? [side * out, off] : [off, side * out])).join("L");
      }),
    );
    const mark = make("g", group, {});
    make("circle", mark, { class: "lt-halo", r: RING });
    for (const name of ["lt-under", "lt-ring"]) make("path", mark, { class: name, d: ring + heads.join("") });
    return mark;
  });
  let size = 1; // pixels for one unit of the picture
  const follow = (scale = size) => {
    size = scale;
    drawn.forEach((mark, k) => {
      const { element } = handles[k];
      const place = `translate(${element.getAttribute("cx")} ${element.getAttribute("cy")})`;
      mark.setAttribute("transform", `${place} scale(${+(1 / size).toFixed(3)})`);
    });
  };
  follow();
  return { follow };
};

// --- the first time ----------------------------------------------------------------------------

// The first handle that a reader ever sees moves a little by itself, once. Whoever has dragged one knows.
const KNOWN = "limetutor.dragged";
const known = (say = true) => {
  try {
    if (say) localStorage.setItem(KNOWN, "yes");
    return localStorage.getItem(KNOWN) !== null;
  } catch {
    return true; // nothing can be kept here: better no motion than one on every page
  }
};

const NUDGE = 1400, WAIT = 500, REACH = 0.45; // milliseconds, and less than half a stop: no word changes
const nudge = (svg, handles, by) => {
  if (!handles.length || still() || known(false)) return;
  const watch = new IntersectionObserver((seen) => {
    if (!seen.some((entry) => entry.isIntersecting)) return;
    watch.disconnect();
    setTimeout(() => {
      if (known(false)) return;
      known();
      let over = false;
      const [{ own }] = handles;
      const shift = (way) => { over ||= !by({ [own[0]]: way }); };
      animate(NUDGE, (t) => {
        if (!over) shift(REACH * Math.sin(4 * Math.PI * t) * (1 - t));
      }, () => { if (!over) shift(0); });
    }, WAIT);
  }, { threshold: 0.8 });
  watch.observe(svg);
};
