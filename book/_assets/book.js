// Formulas and tables: one too wide for the page scrolls in its own box, which the keyboard must be able to reach and
// which fades where it goes on. What is copied of a formula has its TeX.
(() => {
  "use strict";
  const fade = (box) => {
    const hidden = box.scrollWidth - box.clientWidth - box.scrollLeft;
    box.dataset.more = `${box.scrollLeft > 1 ? "left" : ""} ${hidden > 1 ? "right" : ""}`.trim();
  };
  const reach = (box) => {
    if (box.scrollWidth > box.clientWidth + 1) {
      box.tabIndex = 0;
      if (box.tagName !== "TABLE") { // which says what it is
        box.role = "group";
        box.ariaLabel = "Formula, scrolls sideways";
      }
      fade(box);
    } else {
      for (const name of ["tabindex", "role", "aria-label", "data-more"]) box.removeAttribute(name);
    }
  };
  // Asked again whenever a box gets another width: the page turns, a fold opens, a font comes.
  const sizes = new ResizeObserver((changes) => changes.forEach((change) => reach(change.target)));
  const boxes = [...document.querySelectorAll("div.math, .bd-article table")];
  for (const box of boxes) {
    sizes.observe(box);
    box.addEventListener("scroll", () => fade(box), {passive: true});
  }
  document.fonts?.ready.then(() => boxes.forEach(reach));

  const mathOf = (node) => (node.nodeType === 1 ? node : node.parentElement)?.closest("math");
  addEventListener("copy", (event) => {
    const selection = getSelection();
    if (selection.isCollapsed || !event.clipboardData) return;
    const range = selection.getRangeAt(0).cloneRange();
    const [first, last] = [mathOf(range.startContainer), mathOf(range.endContainer)];
    if (first) range.setStartBefore(first); // half a formula is none
    if (last) range.setEndAfter(last);
    const copied = document.createElement("div");
    copied.append(range.cloneContents());
    const formulas = copied.querySelectorAll("math");
    if (!formulas.length) return;
    const html = copied.innerHTML;
    for (const math of formulas) {
      const tex = math.querySelector("annotation").textContent;
      math.replaceWith(math.getAttribute("display") === "block" ? `\n$$\n${tex}\n$$\n` : `$${tex}$`);
    }
    for (const hidden of copied.querySelectorAll("[hidden], script, style")) hidden.remove();
    copied.style.cssText = "position: fixed; left: -200vw; white-space: pre-line";
    document.body.append(copied); // innerText knows about lines only on the page
    event.clipboardData.setData("text/plain", copied.innerText.replace(/\n{3,}/g, "\n\n").trim());
    copied.remove();
    event.clipboardData.setData("text/html", html);
    event.preventDefault();
  });
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

// Words of the glossary: their explanation appears on hover and focus, and on a phone at the first tap.
// Escape puts it away, and so does leaving the word and the explanation.
(() => {
  "use strict";
  const noteOf = (term) => document.getElementById(term.getAttribute("aria-describedby"));
  let open = null; // the word whose explanation is shown
  let leaving = 0;

  const show = (term) => {
    clearTimeout(leaving);
    if (open === term) return;
    hide();
    const note = noteOf(term);
    note.hidden = false;
    const word = term.getClientRects()[0];
    const size = note.getBoundingClientRect();
    const left = Math.min(word.left, document.documentElement.clientWidth - size.width - 8);
    const above = word.bottom + size.height + 8 > innerHeight && word.top > size.height + 8;
    note.style.left = `${Math.max(8, left)}px`;
    note.style.top = `${above ? word.top - size.height - 4 : word.bottom + 4}px`;
    open = term;
  };
  const hide = () => {
    clearTimeout(leaving);
    if (open) noteOf(open).hidden = true;
    open = null;
  };
  const leave = () => {
    clearTimeout(leaving);
    leaving = setTimeout(hide, 200); // time to reach the explanation with the pointer
  };

  let tapped = false; // whether the finger that is down has just opened an explanation
  for (const term of document.querySelectorAll("a.lt-term")) {
    const note = noteOf(term);
    for (const part of [term, note]) {
      part.addEventListener("pointerenter", (e) => e.pointerType === "mouse" && show(term));
      part.addEventListener("pointerleave", (e) => e.pointerType === "mouse" && leave());
    }
    term.addEventListener("pointerdown", (e) => {
      tapped = e.pointerType !== "mouse" && open !== term;
    });
    term.addEventListener("click", (e) => {
      if (!tapped) return;
      tapped = false;
      e.preventDefault();
      show(term);
    });
    term.addEventListener("focus", () => tapped || show(term));
    term.addEventListener("blur", hide);
  }
  addEventListener("keydown", (e) => e.key === "Escape" && hide());
  addEventListener("scroll", hide, {passive: true});
  addEventListener("pointerdown", (e) => e.target.closest(".lt-term, .lt-note") || hide());
})();

// Code that draws figures, and solutions in Python, are folded. One switch opens and folds all of them, on this page
// and on those to come; without a script each has its own fold.
(() => {
  "use strict";
  const folds = document.querySelectorAll("article details.hide, article details.lt-python");
  const button = document.querySelector(".lt-code-switch");
  if (!button) return;
  const key = "limetutor:code";
  const turn = (open) => {
    button.ariaPressed = String(open);
    for (const fold of folds) fold.open = open;
  };
  button.addEventListener("click", () => {
    const open = button.ariaPressed !== "true";
    turn(open);
    if (open) localStorage.setItem(key, "shown");
    else localStorage.removeItem(key);
  });
  if (localStorage.getItem(key) === "shown") turn(true);
})();
