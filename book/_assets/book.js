// A formula too wide for the page scrolls in its own box; the keyboard must be able to reach it.
(() => {
  "use strict";
  const reach = () => {
    for (const box of document.querySelectorAll("div.math, mjx-container")) {
      if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  addEventListener("load", () => Promise.resolve(window.MathJax?.startup?.promise).then(reach));
  addEventListener("resize", reach);
})();
