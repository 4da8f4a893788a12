// What the reader has done: kept in this browser, shown in the table of contents and in a panel at the
// end of each chapter, handed in as a code (limetutor/course/progress.py reads it). Nothing is sent.
limetutor.progress = (() => {
  "use strict";
  const KEY = "limetutor";
  const VERSION = 1;
  const LETTERS = "0123456789abcdefghijklmnopqrstuv"; // 2 * tries + done
  const LONGEST = 20000; // letters of a text that is kept
  const watchers = [];
  let kept = localStorage.refused !== true; // whether this browser keeps anything for this page
  let items = {};

  const load = () => {
    items = {};
    try {
      const stored = JSON.parse(localStorage.getItem(KEY));
      if (stored?.version === VERSION) items = sound(stored.items);
    } catch {
      items = {}; // not ours, or spoilt
    }
  };

  // Whoever can write to this browser's storage may have: only what has the form of a result is kept.
  const sound = (found) =>
    Object.fromEntries(
      Object.entries(found && typeof found === "object" ? found : {})
        .filter(([name, item]) => /^[a-z][a-z-]*\/(?:quiz-)?\d+$/.test(name) && item && typeof item === "object")
        .map(([name, { tries, done, last }]) => [
          name,
          {
            tries: Number.isInteger(tries) && tries > 0 ? Math.min(tries, 1000) : 0,
            done: done === true,
            last: typeof last === "string" ? last.slice(0, LONGEST) : "",
          },
        ]),
    );

  const save = () => {
    try {
      localStorage.setItem(KEY, JSON.stringify({ version: VERSION, items }));
    } catch {
      kept = false;
    }
    for (const watcher of watchers) watcher();
  };

  load();
  try {
    localStorage.setItem(`${KEY}.kept`, "yes"); // not what was read: where storage comes late, that would be lost
  } catch {
    kept = false;
  }
  addEventListener("storage", (event) => {
    if (event.key !== KEY && event.key !== null) return;
    load();
    for (const watcher of watchers) watcher();
  });

  const get = (name) => ({ tries: 0, done: false, last: "", ...items[name] });

  const names = ({ chapter, exercises, quiz }) => [
    Array.from({ length: exercises }, (_, k) => `${chapter}/${k + 1}`),
    Array.from({ length: quiz }, (_, k) => `${chapter}/quiz-${k + 1}`),
  ];

  const letter = (name) => LETTERS[2 * Math.min(get(name).tries, 15) + Number(get(name).done)];

  const checksum = (text) => {
    let value = 0x811c9dc5;
    for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193);
    return (value >>> 0).toString(16).padStart(8, "0");
  };

  return {
    get,
    set(name, change) {
      if (kept) load(); // what came since: from another tab, or from a storage that was not there yet
      items[name] = { ...get(name), ...change };
      save();
    },
    forget() {
      items = {};
      save();
    },
    watch(watcher) {
      watchers.push(watcher);
      watcher();
    },
    kept: () => kept,
    count(page) {
      const all = names(page).flat();
      return [all.filter((name) => get(name).done).length, all.length];
    },
    code() {
      const parts = limetutor.pages.map((page) => [
        page.chapter,
        ...names(page).map((part) => part.map(letter).join("").replace(/0+$/, "")),
      ]);
      const tried = parts.filter(([, exercises, quiz]) => exercises || quiz);
      const body = ["LT1", ...tried.map((part) => part.join("."))].join("~");
      return `${body}~${checksum(body)}`;
    },
  };
})();

// The boxes.
(() => {
  "use strict";
  const { progress } = limetutor;
  const TRIES = 2; // before the solution is offered

  const solutionOf = (label) => document.querySelector(`.solution-of-${label}`);

  // A solution waits out of sight until it is offered; an address that leads to it shows it at once.
  const wait = (solution, waiting) =>
    solution?.classList.toggle("lt-waiting", waiting && location.hash !== `#${solution.id}`);

  const open = (solution) => {
    wait(solution, false);
    if (solution.classList.contains("toggle-hidden")) solution.querySelector(".toggle-button").click();
    solution.querySelector(".toggle-button")?.focus();
  };

  const box = (form) => {
    const input = form.querySelector("input[data-exercise]");
    const status = form.querySelector('[role="status"]');
    const offer = form.querySelector(".lt-offer");
    const name = input.dataset.exercise;
    const solution = solutionOf(form.dataset.label);
    const bytes = Uint8Array.from(atob(form.dataset.table), (letter) => letter.charCodeAt(0));
    const table = JSON.parse(new TextDecoder().decode(bytes));

    const show = (verdict) => {
      if (verdict) status.dataset.verdict = verdict.kind;
      else delete status.dataset.verdict;
      status.replaceChildren(verdict?.words ?? "");
    };

    const answer = (event) => {
      event.preventDefault();
      const text = input.value.trim();
      const before = progress.get(name);
      const attempt = Math.max(1, before.tries + (text === before.last ? 0 : 1));
      const verdict = limetutor.judge(table, text, attempt);
      show(verdict);
      if (verdict.kind === "unread") return;
      const done = before.done || verdict.kind === "right";
      progress.set(name, { tries: before.done ? before.tries : attempt, done, last: text });
    };

    form.addEventListener("submit", answer);
    offer.querySelector("button").addEventListener("click", () => open(solution));
    progress.watch(() => {
      const { tries, done, last } = progress.get(name);
      const offered = done || tries >= TRIES;
      wait(solution, !offered);
      offer.hidden = !offered || !solution;
      if (!tries) {
        if (status.dataset.verdict) input.value = "";
        show(null);
      } else if (!status.dataset.verdict) {
        input.value = last; // after a reload
        show(limetutor.judge(table, last, tries));
      }
    });
    form.hidden = false;
  };

  // Functions and paragraphs: the reader says when it is done.
  const own = (part) => {
    const done = part.querySelector("input[data-done]");
    const text = part.querySelector("textarea");
    const points = part.querySelector("details");
    const solution = solutionOf(part.dataset.label);
    const name = done.dataset.done;
    const seen = () => progress.set(name, { tries: Math.max(1, progress.get(name).tries) });
    done.addEventListener("change", () => progress.set(name, { tries: 1, done: done.checked }));
    points?.addEventListener("toggle", () => points.open && seen());
    text?.addEventListener("change", () => progress.set(name, { last: text.value }));
    progress.watch(() => {
      const now = progress.get(name);
      done.checked = now.done;
      if (text && document.activeElement !== text) text.value = now.last;
      wait(solution, Boolean(points) && !now.done && !now.tries);
    });
    for (const hidden of part.querySelectorAll("[hidden]")) hidden.hidden = false;
  };

  document.querySelectorAll("form.lt-answer").forEach(box);
  document.querySelectorAll(".lt-own").forEach(own);
})();

// Quizzes: an option that is opened is a pick, and the first pick counts.
(() => {
  "use strict";
  const { progress } = limetutor;
  let number = 0;
  for (const part of document.querySelectorAll(".quiz > *")) {
    if (part.matches("p") && /^\d+\. /.test(part.textContent)) number += 1;
    if (!part.matches("details") || !limetutor.here) continue;
    const name = `${limetutor.here.chapter}/quiz-${number}`;
    const explanation = part.textContent.replace(part.querySelector("summary").textContent, "");
    const right = explanation.trim().startsWith("✓");
    part.classList.add(right ? "lt-right" : "lt-wrong");
    part.addEventListener("toggle", () => {
      const { tries, done } = progress.get(name);
      if (part.open && !done) progress.set(name, { tries: tries + 1, done: right && tries === 0 });
    });
  }
})();

// The table of contents, and the panel at the end of a chapter.
(() => {
  "use strict";
  const { progress } = limetutor;

  const pageOf = (link) =>
    limetutor.pages.find(({ page }) => new URL(link.href).pathname.endsWith(`/${page}.html`));

  for (const link of document.querySelectorAll(".bd-sidebar-primary nav a.reference.internal")) {
    const page = link.getAttribute("href") === "#" ? limetutor.here : pageOf(link);
    if (!page || !progress.count(page)[1]) continue;
    const badge = document.createElement("span");
    badge.className = "lt-badge";
    link.append(badge);
    progress.watch(() => {
      const [done, all] = progress.count(page);
      badge.hidden = !done;
      badge.textContent = `${done}/${all}`;
      badge.setAttribute("aria-label", `, ${done} of ${all} done`);
      badge.setAttribute("role", "img");
      badge.classList.toggle("lt-all", done === all);
    });
  }

  const panel = document.querySelector(".lt-progress");
  if (!panel) return;
  const [words, copied] = panel.querySelectorAll("p");
  const [copy, forget] = panel.querySelectorAll("button");
  const code = panel.querySelector("input");

  progress.watch(() => {
    const [done, all] = limetutor.here ? progress.count(limetutor.here) : [0, 0];
    const sums = limetutor.pages.map(progress.count);
    const total = sums.reduce(([d, a], [one, other]) => [d + one, a + other], [0, 0]);
    const chapter = all ? `In this chapter you have solved ${done} of ${all}, in` : "In";
    const lost = progress.kept()
      ? "This is kept in this browser only; nothing is sent."
      : "This browser keeps nothing for this page: copy the code before you leave.";
    words.textContent = `${chapter} the whole book ${total[0]} of ${total[1]} exercises and quiz questions. ${lost}`;
    code.value = progress.code();
    copied.textContent = "";
  });

  copy.addEventListener("click", async () => {
    code.select();
    try {
      await navigator.clipboard.writeText(code.value);
      copied.textContent = "The code is copied.";
    } catch {
      copied.textContent = "The code is selected: copy it by hand.";
    }
  });

  // Pressed twice, since nothing brings the results back.
  forget.addEventListener("click", () => {
    if (forget.dataset.asked) {
      progress.forget();
      copied.textContent = "All results in this browser are forgotten.";
    } else {
      copied.textContent = "This cannot be undone: press once more to forget all results.";
    }
    forget.dataset.asked = forget.dataset.asked ? "" : "yes";
  });
  forget.addEventListener("blur", () => (forget.dataset.asked = ""));
  panel.hidden = false;
})();
