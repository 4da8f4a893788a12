// The answer boxes: reads a text and finds its row in the table of the exercise. The same two steps as
// limetutor/course/judging/grammar.py and tables.py, with their patterns and words, exported at build.
limetutor.judge = (() => {
  "use strict";
  const { grammar, begins } = limetutor;

  class Unreadable extends Error {}

  const replace = ([pattern, by], text) => text.replace(new RegExp(pattern, "g"), by);

  const allowed = (value) => {
    if (!Number.isFinite(value)) throw new Unreadable("finite");
    if (Math.abs(value) > grammar.largest) throw new Unreadable("huge");
    return value;
  };

  const number = (cell) => {
    const match = cell.match(new RegExp(grammar.cell));
    if (!match) throw new Unreadable("text");
    let value = Number(match[1].replace(",", "."));
    if (match[2] !== undefined) value /= Number(match[2].replace(",", "."));
    if (match[3] !== undefined) value /= 100;
    const shown = match[2] === undefined ? digits(match[1]) : grammar.exact;
    return { value: allowed(value), shown };
  };

  // The significant digits of a number; zeros that may only hold a place, as in 20, are none.
  const digits = (text) => {
    const [mantissa] = text.split(/e/i);
    const kept = /[.,]/.test(mantissa) ? mantissa : mantissa.replace(/0+$/, "");
    return kept.replace(/[^0-9]/g, "").replace(/^0+/, "").length;
  };

  const numbers = (row) => row.split(new RegExp(grammar.separator)).map(number);

  const arranged = (rows) => {
    if (rows.some((row) => row.length !== rows[0].length)) throw new Unreadable("ragged");
    return checked({ given: rows.flat(), shape: [rows.length, rows[0].length] });
  };

  const checked = (reading) => {
    if (reading.given.length > grammar.most) throw new Unreadable("many");
    return reading;
  };

  const readingOf = (text) => {
    const brackets = new RegExp(grammar.brackets);
    const listed = text.match(brackets);
    const inner = listed ? listed[1] : text;
    const nested = listed && inner.match(brackets);
    if (nested) return arranged(nested[1].split(new RegExp(grammar.betweenRows)).map(numbers));
    const rows = inner.split(new RegExp(grammar.rowEnd)).map(numbers);
    if (rows.length > 1 && rows.some((row) => row.length > 1)) return arranged(rows);
    const given = rows.flat();
    if (given.length === 1 && !listed) return { given, shape: [] };
    return checked({ given, shape: [given.length] });
  };

  const tidied = (given) => {
    if ([...given].length > grammar.longest) throw new Unreadable("long");
    return grammar.tidy.reduce((text, rule) => replace(rule, text), given);
  };

  const readings = (given) => {
    const text = tidied(given);
    if (!text) throw new Unreadable("empty");
    const found = [];
    let problem = new Unreadable("text");
    for (const meaning of grammar.commas) {
      const rewritten = meaning ? replace(meaning, text) : text;
      if (meaning && rewritten === text) continue;
      try {
        found.push(readingOf(rewritten));
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
        if (error.message !== "text") problem = error;
      }
    }
    if (!found.length) throw problem;
    return found;
  };

  const verdict = (kind, ...sentences) => ({
    kind,
    words: [begins[kind], ...sentences.filter(Boolean)].join(" "),
  });

  // How an answer was read, where another reader might read it otherwise.
  const readAs = (text, { given }) => {
    const shown = given.map(({ value }) => Math.abs(value)).filter(Boolean);
    if (!new RegExp(grammar.ambiguous).test(tidied(text))) return "";
    if (!shown.every((value) => 1e-4 <= value && value < 1e12)) return "";
    const numbers = given.map(({ value }) => String(Number(value.toPrecision(12))));
    return `(Your answer was read as ${numbers.join(", ")}.)`;
  };

  const within = (value, [lo, hi]) => lo <= value && value <= hi;

  const fits = ([, , box, anywhere, , most], given) =>
    anywhere
      ? given.some(({ value }) => box.some((interval) => within(value, interval)))
      : given.length === box.length &&
        given.every(({ value }, k) => within(value, box[k])) &&
        most.every((digits, k) => given[k].shown <= digits);

  // What came of a text, at an attempt; a text that is no answer counts for none.
  return (table, text, attempt) => {
    let found;
    try {
      found = readings(text);
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      return verdict("unread", grammar.form[error.message]);
    }
    const step = table.ladder[Math.min(attempt, 3) - 1];
    const known = found.flatMap((reading) => {
      const { given } = reading;
      const sorted = table.ordered ? given : [...given].sort((a, b) => a.value - b.value || a.shown - b.shown);
      const row = table.rows.find((candidate) => fits(candidate, sorted));
      return row ? [{ reading, row }] : [];
    });
    if (known.length) {
      const { reading, row } = known.find(({ row: [kind] }) => kind === "right") ?? known[0];
      const [kind, words, , , whole] = row;
      const said = kind === "right" && reading === found[0] ? "" : readAs(text, reading);
      const more = kind === "wrong" && attempt > 1 && !whole;
      if (kind !== "right") return verdict(kind, words, more && step, said);
      const anyList = table.shape[0] === -1 && reading.shape.length === 1;
      if (anyList || String(reading.shape) === String(table.shape)) return verdict(kind, words, said);
      const { arrange } = table;
      return verdict("close", `in another form: ${arrange[0].toLowerCase()}${arrange.slice(1)}`, said);
    }
    const said = readAs(text, found[0]);
    const asked = table.shape.reduce((product, length) => product * length, 1);
    const enough = found.some(({ given }) => asked < 0 || given.length === asked);
    return enough ? verdict("wrong", step, said) : verdict("wrong", table.arrange, attempt > 1 && step, said);
  };
})();
