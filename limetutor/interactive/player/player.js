// Brings the static figures of limetutor to life: a control chooses a frame, and the few attributes
// that differ are put into the picture. The format is described in limetutor/interactive/frames.py.
(() => {
  "use strict";

  // All values of one varying attribute, frame by frame.
  const unpack = ([element, attribute, scale, parts, data]) => {
    let values;
    if (scale === 0) {
      values = data.map((k) => parts[k]);
    } else {
      const width = parts.length - 1;
      const now = new Array(width).fill(0);
      values = [];
      for (let start = 0; start < data.length; start += width) {
        let text = parts[0];
        for (let k = 0; k < width; k++) {
          now[k] += data[start + k];
          text += now[k] / scale + parts[k + 1];
        }
        values.push(text);
      }
    }
    return { element, attribute, values };
  };

  // A page saved to disk is the page as it stands: the picture moved, the controls at their default.
  // So before the first move the picture is kept beside the moving one, as text that nothing
  // displays and every browser saves; a page that opens with it was saved, and starts from it.
  const keptIn = (figure) => figure.querySelector("script.lt-first");

  const keep = (figure) => {
    const kept = document.createElement("script");
    kept.type = "application/json";
    kept.className = "lt-first";
    kept.textContent = JSON.stringify(figure.querySelector("svg").outerHTML).replaceAll("<", "\\u003c");
    figure.append(kept);
  };

  const restore = (figure) => {
    const holder = document.createElement("template");
    holder.innerHTML = JSON.parse(keptIn(figure).textContent);
    figure.querySelector("svg").replaceWith(holder.content);
  };

  const start = (figure) => {
    const reopened = keptIn(figure);
    if (reopened) restore(figure);
    const data = JSON.parse(figure.querySelector("script").textContent);
    const svg = figure.querySelector("svg");
    const sentence = figure.querySelector(".lt-sentence");
    const controls = [...figure.querySelectorAll("input, select")];
    let shown = data.groups.find((group) => group.base === null);
    if (data.groups.length > 1) shown.base = svg.innerHTML;
    let elements = [svg, ...svg.querySelectorAll("*")];

    const draw = (number) => {
      if (!keptIn(figure)) keep(figure);
      const [index, position] = data.frames[number];
      const group = data.groups[index];
      if (group !== shown) {
        svg.innerHTML = group.base;
        elements = [svg, ...svg.querySelectorAll("*")];
        shown = group;
      }
      group.unpacked ??= group.columns.map(unpack);
      for (const { element, attribute, values } of group.unpacked) {
        const node = elements[element];
        if (attribute) node.setAttribute(attribute, values[position]);
        else node.firstChild.data = values[position];
      }
      if (sentence.textContent !== data.sentences[number]) {
        sentence.textContent = data.sentences[number];
      }
    };

    const place = (control) => (control.tagName === "SELECT" ? control.selectedIndex : +control.value);

    const update = () => {
      let number = 0;
      let stride = 1;
      controls.forEach((control, k) => {
        number += stride * place(control);
        stride *= data.texts[k].length;
        if (control.type === "range") {
          const text = data.texts[k][place(control)];
          control.setAttribute("aria-valuetext", text);
          control.nextElementSibling.value = text;
        }
      });
      draw(number);
    };

    const reset = () => {
      for (const control of controls) {
        if (control.tagName === "SELECT") control.selectedIndex = +control.dataset.default;
        else control.value = control.dataset.default;
      }
      update();
    };

    figure.addEventListener("input", update);
    figure.querySelector(".lt-reset").addEventListener("click", reset);
    if (reopened) reset();
    figure.querySelector(".lt-controls").hidden = false;
  };

  document.querySelectorAll(".lt-explore").forEach(start);
})();
