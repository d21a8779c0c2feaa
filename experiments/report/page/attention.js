// Attention weights: for an input, every layer and head of each arm; or how they differ from the reference's.

const layerName = (module) => module.replace(/\.attention$/, "").replace(/cross_attention$/, "cross")
  .replace(/^blocks\.(\d+)/, "block $1").replace(/blocks\.(\d+)/, "$1").replace(/\./g, " ");

/** A colour as [r, g, b], for the pixels of a map. */
function rgbOf(name) {
  const colour = d3.rgb(getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return [colour.r, colour.g, colour.b];
}

/** Small weights are what one wants to tell apart in long rows, so that colour goes with the root of the weight. */
const strength = (share) => Math.sqrt(Math.min(1, Math.abs(share)));

/** The weights [queries][keys] as an image, a pixel a weight. `most`: what has the full colour, of both signs or of one. */
function pixelImage(weights, most, bothSigns) {
  const canvas = document.createElement("canvas");
  canvas.width = weights[0].length;
  canvas.height = weights.length;
  const context = canvas.getContext("2d"), image = context.createImageData(canvas.width, canvas.height);
  const paper = rgbOf("--paper"), up = rgbOf(bothSigns ? "--more" : "--heat"), down = rgbOf("--less");
  weights.flat().forEach((weight, i) => {
    const share = strength((weight || 0) / most), towards = weight < 0 ? down : up;
    for (let c = 0; c < 3; c += 1) image.data[4 * i + c] = paper[c] + share * (towards[c] - paper[c]);
    image.data[4 * i + 3] = 255;
  });
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

/** A token as it can be seen: blanks and line ends have signs of their own. */
const tokenText = (token) => token.replace(/ /g, "␣").replace(/\n/g, "⏎").replace(/\t/g, "⇥") || "∅";

/**
 * Draws a map into an SVG, its longer side about `size` pixels; where it has few rows or columns, these are wider than
 * its weights are square. Tokens stand where they have room. Returns a function from a pointer's event to [query, key],
 * or null beside the map.
 */
function drawMap(svg, map, size, font, most = Infinity) {
  const rows = map.queries.length, columns = map.keys.length, square = Math.min(most, size / Math.max(rows, columns));
  const across = Math.max(square, Math.min(14, size / columns)), down = Math.max(square, Math.min(14, size / rows));
  const signs = (tokens) => Math.min(12, d3.max(tokens, (token) => tokenText(token).length));
  const longest = (tokens, cell) => (cell >= font ? signs(tokens) * font * 0.62 + 5 : 0);
  const left = longest(map.queries, down), top = longest(map.keys, across), width = columns * across;
  const height = rows * down, short = (token) => tokenText(token).slice(0, 12);
  svg.attr("width", left + width + 1).attr("height", top + height + 1)
    .attr("viewBox", `0 0 ${left + width + 1} ${top + height + 1}`);
  svg.append("image").attr("x", left).attr("y", top).attr("width", width).attr("height", height)
    .attr("preserveAspectRatio", "none").attr("href", pixelImage(map.weights, map.most, map.bothSigns));
  svg.append("rect").attr("class", "frame").attr("x", left + 0.5).attr("y", top + 0.5).attr("width", width)
    .attr("height", height);
  if (left) {
    svg.append("g").selectAll("text").data(map.queries).join("text").attr("x", left - 3).attr("dy", "0.35em")
      .attr("y", (token, i) => top + (i + 0.5) * down).attr("text-anchor", "end").text(short);
  }
  if (top) {
    svg.append("g").selectAll("text").data(map.keys).join("text").attr("dy", "0.35em")
      .attr("transform", (token, i) => `translate(${left + (i + 0.5) * across},${top - 3}) rotate(-90)`).text(short);
  }
  return (event) => {
    const box = svg.node().getBoundingClientRect();
    const key = Math.floor((event.clientX - box.left - left) / across);
    const query = Math.floor((event.clientY - box.top - top) / down);
    return key >= 0 && key < columns && query >= 0 && query < rows ? [query, key] : null;
  };
}

function explainMap(svg, map, pairAt, title) {
  svg.on("pointermove", () => {
    const pair = pairAt(d3.event);
    if (!pair) { hideTooltip(); return; }
    const [query, key] = pair, weight = map.weights[query][key];
    showTooltip(d3.event.clientX, d3.event.clientY, title, [
      ["query", element("code", {}, `${tokenText(map.queries[query])}`), `position ${query}`],
      ["key", element("code", {}, `${tokenText(map.keys[key])}`), `position ${key}`],
      [map.signed ? "difference" : "weight", map.signed ? signed(weight, 4) : fixed(weight, 4), ""]]);
  }).on("pointerleave", hideTooltip);
}

const headTitle = (map) => `${layerName(map.module)}, head ${map.head}`;

function headFacts(map) {
  const parts = [];
  if (map.entropy !== null) parts.push(`H ${fixed(map.entropy, 2)}`);
  if (map.distance !== null) parts.push(`d ${fixed(map.distance, 1)}`);
  return parts.join(" · ");
}

/** A map large enough to read, in a dialog that Escape closes. */
function enlarge(arm, map) {
  const chart = element("div", { class: "chart" });
  const save = element("button", { type: "button", class: "save",
    on: { click: () => saveSvg(chart.querySelector("svg"), `attention-${arm.label}-${headTitle(map)}`) } }, "Save SVG");
  const close = element("button", { type: "button", on: { click: () => dialog.close() } }, "Close");
  const dialog = element("dialog", { "aria-label": `${arm.label}: ${headTitle(map)}`, on: { close() {
    hideTooltip();
    dialog.remove();
  } } }, element("h3", {}, `${arm.label}: ${headTitle(map)}`),
  element("p", { class: "note" }, `Queries from top to bottom, keys from left to right. ${headFacts(map)}`),
  element("div", { class: "tools" }, save, close), chart);
  document.body.append(dialog);
  dialog.showModal();
  dialog.append(tooltip);  // which would be beneath the dialog elsewhere
  dialog.addEventListener("close", () => document.body.append(tooltip), { once: true });
  const svg = d3.select(chart).append("svg").attr("role", "img").attr("aria-label", headTitle(map));
  const room = Math.min(640, window.innerWidth - 140, window.innerHeight - 240);
  const side = Math.max(room, 2 * map.queries.length, 2 * map.keys.length);
  explainMap(svg, map, drawMap(svg, map, side, 11, 30), headTitle(map));
}

/** The runs of an arm that have weights, by seed. */
const attending = (arm) => arm.runs.filter((run) => run.attention.length);

/** `map` less the reference's map of the same module and head, where its shape and tokens are the same. */
function lessReference(map, heads) {
  const other = heads.find((head) => head.module === map.module && head.head === map.head);
  const same = (a, b) => a.length === b.length && a.every((token, i) => token === b[i]);
  if (!other || !same(other.keys, map.keys) || !same(other.queries, map.queries)) return null;
  const weights = map.weights.map((row, q) => row.map((weight, k) => (weight === null || other.weights[q][k] === null ? null
    : weight - other.weights[q][k])));
  return { ...map, signed: true, weights };
}

function drawAttention() {
  const shownArms = arms.filter((arm) => attending(arm).length);
  const reasons = d3.nest().key((entry) => entry.reason).entries(arms.flatMap((arm) => arm.runs
    .filter((run) => run.attention_problem).map((run) => ({ arm: arm.label, reason: run.attention_problem }))));
  const lacking = reasons.map(({ key, values }) =>
    element("li", {}, element("strong", {}, values.map((entry) => entry.arm).join(", ")), `: ${key}`));
  const problems = lacking.length ? element("div", { class: "note", id: "attention-problems" },
    element("p", {}, "Not all attention weights that were asked for could be made:"),
    element("ul", {}, ...lacking)) : "";
  if (!shownArms.length) {
    if (lacking.length) section("attention", "Attention", problems);
    return;
  }
  const inputs = [...new Set(shownArms.flatMap((arm) => attending(arm).flatMap((run) =>
    run.attention.map((example) => example.input))))];
  const seeds = [...new Set(shownArms.flatMap((arm) => attending(arm).map((run) => run.seed)))].sort((a, b) => a - b);
  const state = { input: inputs[0], seed: seeds[0], differing: false, group: 0 };
  const panels = element("div", { class: "arms" }), ramp = element("p", { class: "note" });

  const exampleOf = (arm) => {
    const run = attending(arm).find((candidate) => candidate.seed === state.seed);
    return run && run.attention.find((candidate) => candidate.input === state.input);
  };
  const headsOf = (arm) => (exampleOf(arm) || { heads: [] }).heads;

  /** What the arm's decoder read, and of which checkpoint its weights are. */
  function madeOf(arm) {
    const example = exampleOf(arm), parts = [];
    if (example && example.output !== undefined)
      parts.push(`${example.forced ? "given the output" : "outputs"} “${example.output}”`);
    if (example && example.average > 1) parts.push(`the mean of ${example.average} checkpoints`);
    return parts.length ? element("p", { class: "note made", title: parts.join("; ") }, parts.join("; ")) : "";
  }

  function panel(arm, maps, size) {
    const node = element("div", { class: "arm-maps" }, element("h3", {}, nameIn(state.group, arm)), madeOf(arm));
    for (const module of [...new Set(maps.map((map) => map.module))]) {
      const layer = element("div", { class: "layer" }, element("span", {}, layerName(module)));
      for (const map of maps.filter((candidate) => candidate.module === module)) {
        const button = element("button", { type: "button", class: "map",
          "aria-label": `${arm.label}, ${headTitle(map)}: enlarge`, on: { click: () => enlarge(arm, map) } });
        const svg = d3.select(button).append("svg").attr("class", "attention-map").attr("aria-hidden", "true");
        explainMap(svg, map, drawMap(svg, map, size, 7.5), `${arm.label}: ${headTitle(map)}`);
        button.append(element("small", {}, `head ${map.head}`), element("small", {}, headFacts(map)));
        layer.append(button);
      }
      node.append(layer);
    }
    return node;
  }

  function fill() {
    const { differing, group } = state;
    const inGroup = shownArms.filter((arm) => group === null || arm.place === group);
    const all = inGroup.filter((arm) => !differing || !arm.reference).map((arm) => [arm, headsOf(arm)
      .filter((map) => map.queries.length && map.keys.length)
      .map((map) => (differing ? lessReference(map, headsOf(arms[arm.against])) : { ...map, signed: false }))
      .filter(Boolean)])
      .filter(([, maps]) => maps.length);
    // Weights of recurrences may be negative, or above 1.
    const numbers = all.flatMap(([, maps]) => maps.flatMap((map) => map.weights.flat()));
    const largest = d3.max(numbers, Math.abs) || 1, bothSigns = differing || d3.min(numbers) < 0;
    const most = bothSigns || largest > 1.001 ? largest : 1;
    // Two arms side by side, where that leaves maps large enough to see.
    const heads = d3.max(all, ([, maps]) => d3.max(maps, (map) => map.head + 1)) || 1;
    const size = Math.max(84, Math.min(128, (document.getElementById("main").clientWidth / 2 - 90) / heads - 22));
    panels.style.setProperty("--map", `${size}px`);
    panels.replaceChildren(...all.map(([arm, maps]) => panel(arm, maps.map((map) => ({ ...map, most, bothSigns })), size)));
    if (!all.length) panels.append(element("p", { class: "note" }, differing
      ? "No other arm has the same heads and tokens as the reference." : "No arm has weights for this input."));
    const stops = d3.range(11).map((i) => {
      const share = bothSigns ? (i - 5) / 5 : i / 10;
      const name = share < 0 ? "--less" : bothSigns ? "--more" : "--heat";
      return `color-mix(in srgb, var(${name}) ${(100 * strength(share)).toFixed(0)}%, var(--paper))`;
    });
    const bar = element("span", { class: "ramp", "aria-hidden": "true" });
    bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
    ramp.replaceChildren(bothSigns ? signed(-most, 2) : "0", bar, bothSigns ? signed(most, 2) : most === 1 ? "1" : fixed(most, 2),
      differing ? "   arm less reference" : "   weight");
  }

  const set = (name) => (value) => { state[name] = value; fill(); };
  const tools = groupChoice(set("group"));
  if (inputs.length > 1)
    tools.push(pick("input", inputs.map((text) => [text, text.slice(0, 60)]), state.input, set("input")));
  if (seeds.length > 1)
    tools.push(pick("seed", seeds.map((value) => [value, String(value)]), state.seed, set("seed")));
  if (shownArms.some((arm) => !arm.reference && attending(arms[arm.against]).length))
    tools.push(choice("show", [[false, "weights"], [true, "difference from the reference"]], false, set("differing")));
  section("attention", "Attention",
    element("p", { class: "note" }, inputs.length > 1 ? "What each head looks at in the chosen input."
      : `What each head looks at in “${inputs[0]}”.`, " Queries from top to bottom, keys from left to right; a click ",
    "enlarges. H is the weights' entropy in nats, d the mean distance in positions from a query to what it attends ",
    "to."),
    element("div", { class: "tools" }, ...tools), ramp, panels, problems);
  fill();
  // The pixels' colours are those of the page's theme.
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", fill);
}
