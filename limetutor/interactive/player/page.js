// The page: addresses that say how a figure stands, the history, links to give away.

// `#fig-machine&nu=0.53&xi=0.432`, or nothing if it is the address of no figure.
const parse = (hash, figures) => {
  const [name, ...pairs] = hash.replace(/^#/, "").split("&");
  const me = figures.find((figure) => figure.name === name);
  if (!me || !pairs.length) return null;
  const asked = new Map();
  for (const pair of pairs) {
    const [key, ...text] = pair.split("=");
    try {
      asked.set(key, decodeURIComponent(text.join("=")));
    } catch { /* not an address of ours: the control keeps its default */ }
  }
  return { me, stops: me.stopsFor(asked) };
};

const scrollTo = (me) => {
  const whole = me.figure.closest("figure[id]") ?? me.figure;
  whole.scrollIntoView({ behavior: still() ? "instant" : "auto", block: "nearest" });
};

// One entry of the history for each move that ends; each entry knows where all figures stand.
const follow = (figures) => {
  if (!figures.length) return;
  const all = () => Object.fromEntries(figures.map((me) => [me.name, me.now()]));
  const remember = (how, address) => {
    try {
      history[how]({ ...history.state, limetutor: all() }, "", address);
    } catch { /* too many moves a second, or a page without an address: the figure moves all the same */ }
  };
  // Where figures stood when the address was last written.
  let written = JSON.stringify(all());
  const commit = (me) => {
    if (JSON.stringify(all()) === written) return;
    written = JSON.stringify(all());
    remember("pushState", me.address());
  };
  for (const me of figures) me.page.commit = () => commit(me);

  // To another entry, or to an address that somebody typed or followed.
  const arrive = () => {
    const known = history.state?.limetutor;
    const asked = parse(location.hash, figures);
    if (known) {
      for (const me of figures) {
        const stops = known[me.name];
        me.go(me.fits(stops) ? stops : me.defaults);
      }
    } else if (asked) {
      asked.me.go(asked.stops);
    }
    written = JSON.stringify(all());
    if (!known) remember("replaceState", location.href);
    if (!asked || known) return;
    scrollTo(asked.me);
    if (document.readyState !== "complete") // what loads above it may push it away
      addEventListener("load", () => scrollTo(asked.me), { once: true });
  };
  addEventListener("popstate", arrive);
  arrive();

  // A link to a state on this page moves its figure, the second time too.
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    const plain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.button);
    if (!link || !plain || link.href.split("#")[0] !== location.href.split("#")[0]) return;
    const asked = parse(link.hash, figures);
    if (!asked) return;
    event.preventDefault();
    asked.me.go(asked.stops);
    commit(asked.me);
    scrollTo(asked.me);
  });
};

// --- a link to give away -------------------------------------------------------------------------

const copyLink = async (me) => {
  const said = me.figure.querySelector(".lt-said");
  const link = location.href.split("#")[0] + me.address();
  said.textContent = "";
  const done = await copied(link);
  said.textContent = done ? "Link copied." : `This browser does not let me copy. The link is ${link}`;
};

const copied = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { /* no clipboard here, or it is refused: the old way */ }
  const field = document.createElement("textarea");
  field.value = text;
  field.style.cssText = "position:fixed;opacity:0";
  const focused = document.activeElement;
  document.body.append(field);
  field.select();
  let done = false;
  try {
    done = document.execCommand("copy");
  } catch { /* refused as well: the link is shown */ }
  field.remove();
  focused?.focus({ preventScroll: true });
  return done;
};

// Slides have addresses of their own.
const figures = [...document.querySelectorAll(".lt-explore")].map(start);
const onSlides = (me) => me.figure.closest(".reveal") !== null;
for (const me of figures.filter(onSlides)) me.figure.querySelector(".lt-copy").hidden = true;
follow(figures.filter((me) => !onSlides(me)));
