// What tests ask a page: functions that they evaluate in it, by name (site_visits.JS).

// Types each text into its box and submits the form; before an attempt k the box has seen k - 1 others.
const TYPE = (rows) => rows.map(([name, text, attempt]) => {
    limetutor.progress.forget();
    if (attempt > 1) limetutor.progress.set(name, { tries: attempt - 1, last: "other" });
    const input = document.querySelector(`input[data-exercise="${name}"]`);
    input.value = text;
    input.form.requestSubmit();
    const status = input.form.querySelector('[role="status"]');
    return [status.dataset.verdict, status.textContent];
});

const AXE_BOXES = () => axe.run(
    {include: [["form.lt-answer"], [".lt-own"], [".lt-progress"], [".quiz"], [".lt-python"]]},
    {preload: false, resultTypes: ["violations"]},
).then(result => result.violations);

// Where a handle is on the screen, and where it is at both ends of each of its controls; what these hold.
const ROOM = (handle) => {
    handle.scrollIntoView({block: "center", behavior: "instant"});
    const figure = handle.closest(".lt-explore"), names = handle.dataset.handle.split(" ");
    const sliders = names.map((name) => figure.querySelector(`input[id$="-${name}"]`));
    const was = sliders.map((slider) => +slider.value);
    const at = (k, stop) => {
        sliders[k].value = stop;
        sliders[k].dispatchEvent(new Event("input", {bubbles: true}));
        const box = handle.getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2];
    };
    const ends = sliders.map((slider, k) => [at(k, 0), at(k, slider.max), at(k, was[k])]);
    return {ends, stops: sliders.map((slider) => +slider.max + 1)};
};

// What an icon is: an element that is seen, and whose mask is a picture.
const ICONS = () => [...document.querySelectorAll('[class*="fa-"]')].filter((e) => e.checkVisibility()).map((e) => {
    const style = getComputedStyle(e, "::before");
    return [e.className, style.maskImage.startsWith("url(\"data:") && parseFloat(style.width) > 5];
});

// Formulas that reach beyond the screen, and are in no box that scrolls.
const TOO_WIDE = () => [...document.querySelectorAll("article span.math")].filter((e) => e.checkVisibility()
    && !e.closest("table, div.math, pre")
    && e.querySelector("semantics > *").getBoundingClientRect().right > innerWidth + 1)
    .map((e) => e.querySelector("annotation").textContent);

// Formulas on lines of their own whose end cannot be scrolled to; folds are open.
const CUT = () => [...document.querySelectorAll("article div.math")].filter((box) => {
    box.scrollLeft = 9999;
    const formula = box.querySelector("semantics > *").getBoundingClientRect();
    const around = box.getBoundingClientRect();
    box.scrollLeft = 0;
    return box.checkVisibility() && formula.right > around.right + 1;
}).map((box) => box.querySelector("annotation").textContent);

// Formulas and tables that go on beyond their box and do not fade there, at the beginning and when scrolled to the end.
const NO_SIGN = async () => {
    const wide = [...document.querySelectorAll("article div.math, article table")]
        .filter((box) => box.checkVisibility() && box.scrollWidth > box.clientWidth + 1);
    const settled = () => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
    const plain = (side) => wide.filter((box) => box.dataset.more !== side
        || !getComputedStyle(box).maskImage.includes("gradient"));
    const found = await settled().then(() => plain("right"));
    for (const box of wide) box.scrollLeft = 9999;
    return [...found, ...await settled().then(() => plain("left"))].map((box) => box.textContent);
};

// Commas and the like that begin a line, parted from the formula before them.
const PARTED = () => [...document.querySelectorAll("article span.math")].filter((formula) => {
    const behind = formula.nextSibling;
    if (!/^[,.;:!?)\]”’]/.test(behind?.data ?? "") || !formula.checkVisibility()) return false;
    const sign = document.createRange();
    sign.setStart(behind, 0);
    sign.setEnd(behind, 1);
    const [there, here] = [formula, sign].map((e) => e.getBoundingClientRect());
    return here.top > there.bottom - 4 && here.left < there.left;
}).map((formula) => formula.querySelector("annotation").textContent);

// What the clipboard gets when an element is selected.
const COPIED = (element) => {
    getSelection().selectAllChildren(element);
    const event = new ClipboardEvent("copy", {clipboardData: new DataTransfer(), bubbles: true, cancelable: true});
    document.dispatchEvent(event);
    return [event.clipboardData.getData("text/plain"), event.clipboardData.getData("text/html")];
};

// The insides of formulas and drawings have nothing for axe and thousands of elements; handles are
// looked at. With preload it would ask for style sheets a second time, at wrong addresses; half of its
// time goes into words about what is right.
const AXE_RUN = (rules) => axe.run(
    {include: ["article.bd-article"], exclude: ["math > *", ".lt-svg > g:not(.lt-handles)"]},
    {preload: false, resultTypes: ["violations"], rules},
).then(result => result.violations);

// Blocks of code, and at a laptop's width what they print, whose lines are cut off; folds are opened first.
const CUT_OFF = (blocks) => {
    for (const fold of document.querySelectorAll("article details")) fold.open = true;
    return [...document.querySelectorAll(blocks)]
        .filter((pre) => pre.scrollWidth > pre.clientWidth + 1)
        .map((pre) => pre.textContent.trim().split("\n").sort((a, b) => b.length - a.length)[0]);
};

// Formulas on lines of their own that must be scrolled.
const WIDE_FORMULAS = () => [...document.querySelectorAll("article div.math")]
    .filter((box) => box.checkVisibility() && box.scrollWidth > box.clientWidth + 1)
    .map((box) => box.querySelector("annotation").textContent);

// Words of the glossary whose explanation is missing, is not its own, or can be seen already.
const UNEXPLAINED = () => [...document.querySelectorAll("a.lt-term")].filter((term) => {
    const notes = document.querySelectorAll(`[id="${term.getAttribute("aria-describedby")}"]`);
    return notes.length !== 1 || !notes[0].textContent.trim() || notes[0].checkVisibility();
}).map((term) => term.textContent);

// Figures that cannot move, and all pictures of some size: can they be seen, and what do they say?
const AT_REST = () => {
    const all = (selector, where = document) => [...where.querySelectorAll(selector)];
    const seen = (e) => e.checkVisibility({visibilityProperty: true}) && e.getBoundingClientRect().height > 0;
    const found = [];
    for (const figure of all(".lt-figure")) {
        const picture = figure.querySelector("svg.lt-svg");
        if (!picture || !seen(picture) || !picture.getAttribute("aria-label"))
            found.push("a figure without picture or description");
        if (all(".lt-controls", figure).some(seen)) found.push("controls that cannot work are shown");
    }
    if (all(".lt-sentence").some((e) => !seen(e) || !e.textContent.trim()))
        found.push("a figure without its sentence");
    const bare = all("article img, article svg").filter((e) =>
        e.getBoundingClientRect().width > 120 && !(e.alt || "").trim()
        && !e.getAttribute("aria-label") && !e.querySelector("title, desc"));
    if (bare.length) found.push(`${bare.length} figures without a description`);
    return found;
};

// Letters that reach more than 4 px beyond the picture they belong to.
const BEYOND = () => [...document.querySelectorAll(".lt-svg text")].filter((text) => {
    const around = text.ownerSVGElement.getBoundingClientRect(), box = text.getBoundingClientRect();
    return box.width && Math.max(around.left - box.left, box.right - around.right,
        around.top - box.top, box.bottom - around.bottom) > 4;
}).map((text) => text.textContent);

// Pairs of level texts that stand over each other in one picture.
const OVER = () => [...document.querySelectorAll(".lt-svg")].flatMap((picture) =>
    [...picture.querySelectorAll("text")].filter((text) => text.textContent.trim() && !text.getCTM().b)
    .map((text) => [text.textContent, text.getBoundingClientRect()]).flatMap(([name, one], k, all) =>
        all.slice(k + 1).filter(([, other]) => one.width && other.width
            && Math.min(one.right, other.right) - Math.max(one.left, other.left) > 2
            && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > one.height / 3)
            .map(([other]) => name + other)));

// What reaches furthest beyond the right edge, and is not in a box that scrolls by itself.
const WIDEST = () => {
    const scrolls = (e) => e !== document.body
        && (getComputedStyle(e).overflowX !== "visible" || scrolls(e.parentElement));
    let widest = null, right = document.documentElement.clientWidth;
    for (const e of document.querySelectorAll("article.bd-article *")) {
        const edge = e.getBoundingClientRect().right;
        if (edge > right + 0.5 && !scrolls(e.parentElement)) [widest, right] = [e, edge];
    }
    return widest?.outerHTML.slice(0, 200);
};

// On the slide that is shown: letters below 24 px, indices included, whether a formula or a font makes them small,
// and what reaches beyond the slide. Letters in a picture are as large as the picture makes them.
const AMISS = () => {
    const slide = document.querySelector(".reveal .slides > section.present");
    const found = new Set();
    for (const e of slide.querySelectorAll("*")) {
        const box = e.getBoundingClientRect();
        if (e.closest("aside.notes, script, annotation") || !box.width) continue;
        const words = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
        if (!words && !["svg", "INPUT", "SELECT", "BUTTON"].includes(e.tagName)) continue;
        const named = `${e.tagName} "${e.textContent.trim().slice(0, 30)}"`;
        if (box.right > 1281 || box.bottom > 721 || box.left < -1 || box.top < -1) found.add(`out: ${named}`);
        const svg = e.ownerSVGElement;
        const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
        const size = parseFloat(getComputedStyle(e).fontSize) * scale;
        if (words && size < 24) {
            found.add(`${size.toFixed(1)} px: ${named}`);
        }
        if (words && size < 36 && /[²³¹⁰-ₜ]/.test(e.textContent)) {
            found.add(`a small letter: ${named}`);
        }
    }
    return [...found];
};

// Where a slide's sentence is longest depends on its controls: go to both ends of each.
const ENDS = (end) => {
    const slide = document.querySelector(".reveal .slides > section.present");
    for (const control of slide.querySelectorAll(".lt-control input, .lt-control select")) {
        if (control.tagName === "SELECT") control.selectedIndex = end ? control.options.length - 1 : 0;
        else control.value = end ? control.max : 0;
        control.dispatchEvent(new Event("input", { bubbles: true }));
    }
};

// For every element with text of its own: what it is, if its colour is too near to the one behind it,
// by the rule of WCAG 2 that axe goes by: 4.5, or 3 where letters are large. On paper all is light.
const FAINT = (paperOnly) => {
    const luminance = ([r, g, b]) => [r, g, b].map((v) => v / 255)
        .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
    const rgba = (text) => {
        const [r, g, b, a = 1] = (text.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
        return [r, g, b, a];
    };
    const behind = (element) => {
        for (let e = element; e; e = e.parentElement) {
            const ground = rgba(getComputedStyle(e).backgroundColor);
            if (ground[3] > 0.5) return ground;
        }
        return [255, 255, 255, 1];
    };
    const found = new Set();
    for (const e of document.querySelectorAll("article.bd-article, article.bd-article *")) {
        const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
        const seen = e.checkVisibility({opacityProperty: true, visibilityProperty: true});
        if (!own || !seen || e.closest("script, style, annotation")) continue;
        const style = getComputedStyle(e);
        const ink = luminance(rgba(e.ownerSVGElement ? style.fill : style.color));
        const paper = luminance(behind(e));
        const contrast = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
        const size = parseFloat(style.fontSize), bold = parseInt(style.fontWeight) >= 700;
        const large = size >= 24 || (bold && size >= 18.66) || Boolean(e.ownerSVGElement);
        if (contrast < (paperOnly || large ? 3 : 4.5) || (paperOnly && paper < 0.5)) {
            const text = e.textContent.trim().slice(0, 20);
            found.add(`${e.tagName} ${e.getAttribute("class")} "${text}": ${contrast.toFixed(1)}`);
        }
    }
    return [...found].slice(0, 5);
};

// Formulas that are not seen, and markup that is.
const UNRENDERED = () => {
    const found = [];
    const article = document.querySelector("article.bd-article");
    if (!article) return ["no article"];
    for (const e of article.querySelectorAll(".math")) {
        const shown = e.querySelector("math > semantics > :first-child");
        if (!shown) found.push("no formula: " + e.textContent.slice(0, 60));
        else if (e.checkVisibility() && !shown.getBoundingClientRect().width)
            found.push("nothing to be seen of " + e.querySelector("annotation").textContent);
    }
    const copy = article.cloneNode(true);
    for (const e of copy.querySelectorAll("pre, code, script, math")) e.remove();
    const raw = copy.textContent.match(/.{0,30}(\\\(|\\\[|\$\$|\$\\|`|\{(numref|cite|prf:ref|ref)).{0,30}/);
    if (raw) found.push("raw markup: " + raw[0]);
    return found;
};

const STATE = () => [
    limetutor.progress.code(), document.querySelector(".lt-progress").hidden,
    ...[...document.querySelectorAll("form.lt-answer")].map((form) => [
        form.querySelector("input").value, form.querySelector('[role="status"]').textContent,
        form.querySelector(".lt-offer").hidden, form.hidden]),
];

const TYPED = ([name, text, tries]) => {
    limetutor.progress.forget();
    if (tries) limetutor.progress.set(name, { tries, last: "other" });
    const input = document.querySelector(`input[data-exercise="${name}"]`);
    input.value = text;
    input.form.requestSubmit();
    return input.form.querySelector('[role="status"]').textContent;
};

const ALL_STOPS = () => [...document.querySelectorAll(".lt-explore")].map((figure) =>
    [...figure.querySelectorAll("input, select")].map((c) =>
        c.tagName === "SELECT" ? c.selectedIndex : +c.value));
