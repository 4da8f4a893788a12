// Slides at 1280 by 720, scaled to the window. Keys, touch, overview (O), full screen (F) and the speaker's
// view (S) are reveal.js's own; while a slider has the focus, the arrow keys are the slider's.
(() => {
  "use strict";

  // reveal.js takes its settings from the address, and calls of its functions from any window, with HTML for
  // an overlay. Here the address may ask for paper or for the speaker's view, and only this site may call.
  const asked = "autoSlide|backgroundTransition|controls|history|postMessageEvents|progress|transition";
  const setting = `(?:${asked}|scrollActivationWidth)=(?:true|false|none|0)(?=&|$)`;
  const known = new RegExp(`^\\??(?:&?(?:print-pdf|receiver|${setting}))*$`);
  if (!known.test(location.search)) history.replaceState(null, "", location.pathname + location.hash);
  // From disk every origin is "null", a stranger's too: there only the speaker's view may call, which the
  // deck has opened, and which has decks in frames.
  const framed = parent !== window && new URLSearchParams(location.search).has("receiver");
  const speaker = (source) => source?.opener === window || (framed && source === parent);
  const trusted = (event) => event.origin === origin && (origin !== "null" || speaker(event.source));
  const refuse = (event) => trusted(event) || event.stopImmediatePropagation();
  addEventListener("message", refuse, { capture: true });

  for (const figure of document.querySelectorAll(".lt-figure")) {
    figure.dataset.preventSwipe = ""; // a finger on a slider moves the slider
    figure.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation(); // or it would open the overview
      document.activeElement.blur();
    });
  }
  Reveal.initialize({
    width: 1280,
    height: 720,
    margin: 0,
    center: false,
    hash: true,
    transition: "none",
    slideNumber: "c/t",
    controlsTutorial: false,
    scrollLayout: "compact", // on a phone
    pdfSeparateFragments: false,
    plugins: [RevealNotes],
  });
  Reveal.on("slidechanged", () => document.activeElement?.blur());
})();
