// Frames: what the picture is at any stops of the controls, and between them. The format is described
// in limetutor/interactive/frames.py.

// The number of a combination of stops of some controls, the first of which varies fastest.
const placeOf = (controls, at, sizes) =>
  controls.reduceRight((number, k) => number * sizes[k] + at[k], 0);

// What says where something is; nothing else is shown between two stops.
const PLACES = new Set(["d", "x", "y", "cx", "cy", "width", "height", "transform"]);

// The value of one varying attribute: at a place, or the mean of what it is at some with their weights.
const reader = (scale, parts, data) => {
  if (scale === 0) return { at: (place) => parts[data[place]] };
  const width = parts.length - 1;
  const sums = Int32Array.from(data);
  for (let k = width; k < sums.length; k++) sums[k] += sums[k - width];
  const at = (place) => {
    let text = parts[0];
    for (let k = 0; k < width; k++) text += sums[place * width + k] / scale + parts[k + 1];
    return text;
  };
  const mean = (places) => {
    let text = parts[0];
    for (let k = 0; k < width; k++) {
      let sum = 0;
      for (const [place, weight] of places) sum += weight * sums[place * width + k];
      text += Math.round((sum / scale) * 100) / 100 + parts[k + 1];
    }
    return text;
  };
  return { at, mean };
};

// A part of the picture with the controls it depends on: show(at) puts in what differs there.
const layerOf = (root, { groups, controls, which }, sizes) => {
  let shown = groups.find((group) => group.base === null);
  if (groups.length > 1) shown.base = root.innerHTML;
  let elements = [root, ...root.querySelectorAll("*")];
  let last = null;

  const columnsOf = (group) =>
    (group.unpacked ??= group.columns.map(
      ([element, attribute, along, scale, parts, data, jumps = []]) => ({
        element, attribute, along, last: null, ...reader(scale, parts, data),
        glides: scale > 0 && PLACES.has(attribute),
        jumps: new Map(jumps.map(([control, ...places]) => [control, new Set(places)])),
      }),
    ));

  const groupAt = (at) => groups[which.length ? which[placeOf(controls, at, sizes)] : 0];

  // The stops around a point between stops, with the weight of each: two, or four if two controls move.
  const around = (at, near, open) =>
    open.reduce(
      (corners, k) => {
        const low = Math.floor(at[k]), t = at[k] - low;
        return corners.flatMap(([stops, weight]) => [
          [stops.with(k, low), weight * (1 - t)],
          [stops.with(k, low + 1), weight * t],
        ]);
      },
      [[near, 1]],
    );

  // Each control is at a stop, or between two: there what cannot be interpolated is at the nearest.
  const show = (at) => {
    const key = controls.map((k) => at[k]).join();
    if (key === last) return;
    last = key;
    const near = at.map(Math.round);
    const group = groupAt(near);
    if (group !== shown) {
      root.innerHTML = group.base;
      elements = [root, ...root.querySelectorAll("*")];
      shown = group;
      for (const column of columnsOf(group)) column.last = null;
    }
    let between = controls.filter((k) => at[k] !== near[k]);
    if (!around(at, near, between).every(([stops]) => groupAt(stops) === group)) between = [];
    for (const column of columnsOf(group)) {
      const placed = (stops) => placeOf(column.along, stops, sizes);
      const jumps = (k) => column.jumps.get(k)?.has(placed(near.with(k, Math.floor(at[k]))));
      const open = column.glides
        ? column.along.filter((k) => between.includes(k) && !jumps(k))
        : [];
      let value;
      if (open.length) {
        value = column.mean(around(at, near, open).map(([stops, weight]) => [placed(stops), weight]));
        column.last = null;
      } else {
        const there = placed(near);
        if (there === column.last) continue;
        column.last = there;
        value = column.at(there);
      }
      const node = elements[column.element];
      if (column.attribute) node.setAttribute(column.attribute, value);
      else node.firstChild.data = value;
    }
  };

  // Where an element stands with the controls at some stops; only handles are asked.
  const whereIs = (element, at) => {
    const place = ["cx", "cy"].map((name) => {
      const index = elements.indexOf(element);
      const column = columnsOf(shown).find((c) => c.element === index && c.attribute === name);
      return +(column ? column.at(placeOf(column.along, at, sizes)) : element.getAttribute(name));
    });
    return { x: place[0], y: place[1] };
  };
  return { show, whereIs };
};
