// What the probes share: how a reader looks and points, and where the probe writes down what it saw.
const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
/** Figures are drawn when the browser has laid the page out, which takes a busy machine a while. */
const drawn = async () => {
  await wait(300);
  const empty = (chart) => !chart.firstChild || [...chart.querySelectorAll("svg")].some((svg) => !svg.firstChild);
  for (let i = 0; i < 150 && all("figure .chart").some(empty); i += 1) await wait(i < 40 ? 100 : 300);
};
const all = (selector) => [...document.querySelectorAll(selector)];
const count = (selector) => all(selector).length;
/** What a reader sees of it: of pictures for several widths, that which fits. */
const seen = (selector) => all(selector).filter((node) => node.getClientRects().length > 0);
const colourOfLine = (curve) => getComputedStyle(curve.firstElementChild).stroke;
const errors = [];
addEventListener("error", (event) => errors.push(String(event.message)));
addEventListener("securitypolicyviolation", (event) => errors.push(`refused: ${event.blockedURI}`));

const pointer = (node, x, y) => node.dispatchEvent(
  new PointerEvent("pointermove", { clientX: x, clientY: y, bubbles: true }));
const tip = () => (document.getElementById("tooltip").hidden ? "" : document.getElementById("tooltip").textContent);
/** What the tooltip says at a point of a node: its middle, unless told. */
const hover = (node, across = 0.5, down = 0.5) => {
  const box = node.getBoundingClientRect();
  pointer(node, box.left + across * box.width, box.top + down * box.height);
  return tip();
};

/** A mark by all that can be seen of it. */
const markOf = (path) => ["fill", "stroke", "stroke-width"].map((name) => getComputedStyle(path)[name])
  .concat(path.getAttribute("d")).join();

/** How a figure saved as an SVG stands by itself: it parses, and has its colours within. */
const savedFigure = (figure, mark) => {
  const saved = standalone(seen(`${figure} .chart svg`)[0]);
  const parsed = new DOMParser().parseFromString(saved, "image/svg+xml");
  return { root: parsed.documentElement.nodeName, marks: parsed.querySelectorAll(mark).length,
    variables: saved.includes("var(--"), styled: parsed.querySelector(mark).getAttribute("style").includes("rgb(") };
};

/** Texts as they stand in these sections, each apart from its neighbours. */
const textsIn = (ids) => ids.flatMap((id) => {
  const texts = [], walker = document.createTreeWalker(document.getElementById(id) || new Text(), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) texts.push(walker.currentNode.data);
  return texts;
}).join(" ");

/** Copies a table by its buttons: what goes to the clipboard; without one, to the selection; else is shown. */
const copies = async (tools) => {
  const [tsv, markdown] = tools.querySelectorAll("button[aria-label^=Copy]"), found = {};
  const clipboard = (value) => Object.defineProperty(navigator, "clipboard", { configurable: true, value });
  const press = async (button) => { button.click(); await wait(30); };
  clipboard({ writeText: async (text) => { found.clipboard = text; } });
  await press(tsv);
  found.tsv = found.clipboard;
  await press(markdown);
  found.markdown = found.clipboard;
  found.said = tools.querySelector("[role=status]").textContent;
  clipboard(undefined);
  document.execCommand = () => { found.selected = document.activeElement.value; return true; };
  await press(tsv);
  found.focus = document.activeElement.tagName;
  document.execCommand = () => false;
  await press(tsv);
  found.shown = document.querySelector("dialog[open] textarea").value;
  document.querySelector("dialog[open]").close();
  found.dialogs = count("dialog[open]");
  return found;
};

/** The least contrast of a cell's text with its colour (WCAG 2). */
const leastContrast = (cells) => {
  const channels = (colour) => colour.match(/[\d.]+/g).slice(0, 3).map((c) => Number(c) / 255);
  const light = (rgb) => rgb.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const paper = channels(getComputedStyle(document.body).backgroundColor);
  return Math.min(...cells.flatMap((cell) => {
    const box = getComputedStyle(cell.querySelector("rect")), share = Number(box.fillOpacity);
    const behind = box.fill === "none" ? paper
      : channels(box.fill).map((c, i) => share * c + (1 - share) * paper[i]);
    return [...cell.querySelectorAll("text")].map((text) => {
      const two = [light(behind), light(channels(getComputedStyle(text).fill))].sort((a, b) => b - a);
      return (two[0] + 0.05) / (two[1] + 0.05);
    });
  }));
};

/** What every page should be, also where its details are open: as wide as the screen, with a name for each button. */
const lookAround = async () => {
  const closed = all("details:not([open])");
  for (const details of closed) details.open = true;
  await wait(100);
  for (let i = 0; i < 30 && all(".fitted > table:not([data-layout])").length; i += 1) await wait(100);
  const scrolls = (node) => node.scrollWidth > node.clientWidth + 1 && node.tagName !== "TEXTAREA"
    && ["auto", "scroll"].includes(getComputedStyle(node).overflowX);
  const beyond = (node) => {
    const box = node.getBoundingClientRect();
    return box.width > 0 && box.right > document.documentElement.clientWidth + 0.5;
  };
  const called = (node) => `${node.tagName} ${node.id || node.getAttribute("class") || node.parentNode.className}`;
  const found = {
    width: innerWidth,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    boxes: all("main *, header *").filter(scrolls).map(called),
    wide: all("main :is(table, figure, pre, svg, p, li, h2, h3, .tools), header *").filter(beyond).map(called),
    layouts: Object.fromEntries(all("table[data-layout]").map((table) => [table.id, table.dataset.layout])),
    unnamed: all("button").filter((button) => !(button.textContent || button.getAttribute("aria-label"))).length,
  };
  for (const details of closed) details.open = false;
  return found;
};

const writeDown = (found) => {
  found.resources = performance.getEntriesByType("resource").map((entry) => entry.name)
    .filter((name) => !name.startsWith("data:"));
  found.errors = errors;
  const probe = document.createElement("pre");
  probe.id = "probe";
  probe.textContent = JSON.stringify(found);
  document.body.append(probe);
};
