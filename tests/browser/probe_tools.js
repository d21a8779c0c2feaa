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
  const saved = standalone(document.querySelector(`${figure} .chart svg`));
  const parsed = new DOMParser().parseFromString(saved, "image/svg+xml");
  return { root: parsed.documentElement.nodeName, marks: parsed.querySelectorAll(mark).length,
    variables: saved.includes("var(--"), styled: parsed.querySelector(mark).getAttribute("style").includes("rgb(") };
};

/** What every page should be: as wide as the screen, with a name for each button. */
const lookAround = () => ({
  width: innerWidth,
  overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  unnamed: all("button").filter((button) => !(button.textContent || button.getAttribute("aria-label"))).length,
});

const writeDown = (found) => {
  found.resources = performance.getEntriesByType("resource").map((entry) => entry.name)
    .filter((name) => !name.startsWith("data:"));
  found.errors = errors;
  const probe = document.createElement("pre");
  probe.id = "probe";
  probe.textContent = JSON.stringify(found);
  document.body.append(probe);
};
