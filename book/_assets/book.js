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

// Paper is white: a dark page is printed in the colours of the light theme, code and tables included.
(() => {
  "use strict";
  const root = document.documentElement;
  let onScreen = null; // the theme to come back to
  const print = (printing) => {
    if (printing && onScreen === null && root.dataset.theme === "dark") {
      onScreen = root.dataset.theme;
      root.dataset.theme = "light";
    } else if (!printing && onScreen !== null) {
      root.dataset.theme = onScreen;
      onScreen = null;
    }
  };
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  matchMedia("print").addEventListener("change", (event) => print(event.matches));
})();
