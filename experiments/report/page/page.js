"use strict";
// What the parts of the page share: the data, numbers as people read them, marks, figures, the tooltip.

const minus = (text) => text.replace(/-/g, "\u2212");
/** Texts of numbers with typographic signs: a list or an object of them, and of such. */
const withSigns = (texts) => (typeof texts === "string" ? (texts === "-" ? "\u2013" : minus(texts))
  : Array.isArray(texts) ? texts.map(withSigns)
    : Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, withSigns(text)])));

/** The report as people read it: the names that [report.label] gives, and signs in the texts of numbers. */
function asShown(key, value) {
  if (key === "texts" || key === "difference_texts") return withSigns(value);
  if (!value || value.report_label === undefined) return value;
  const shown = value.report_label;
  if (value.arm) return { ...value, arm: shown || value.arm, seeds: value.seed_texts };               // a problem
  if (!value.label) return { ...value, true_name: value.name, name: shown || value.name };            // a metric
  return { ...value, label: shown || value.label, ...(value.report_name ? { name: value.report_name } : {}) };
}

const report = JSON.parse(document.getElementById("report-data").textContent, asShown);
const { within } = report;
const confidence = report.confidence_text.replaceAll(" ", "\u00a0");  // of the intervals, "95 %"
/** An arm is compared with arms[arm.against]; a reference stands for itself. `place` is its group's index. */
const arms = report.arms
  .map((arm, index, all) => ({ ...arm, index, reference: arm.against === index,
    place: [...new Set(all.map(groupKey))].indexOf(groupKey(arm)) }));
const compared = arms.filter((arm) => arm.comparison);
/** Arms that are compared with each other: {text: "64", title: "length = 64", arms}; without groups, one of all. */
const groups = d3.range(arms.length ? 1 + d3.max(arms, (arm) => arm.place) : 0).map((place) => {
  const members = arms.filter((arm) => arm.place === place), values = members[0].group;
  return { arms: members, text: values.join(", "),
    title: within.map(({ name }, i) => `${name} = ${values[i]}`).join(", ") };
});
const grouped = within.length > 0;
const withinNames = within.map(({ name }) => name);
function groupKey(arm) { return JSON.stringify(arm.group); }
const sections = [];  // [id, title], for the navigation

let onPaper = false;  // while the page is printed

// ---- elements -------------------------------------------------------------------------------------------------------

/** element("p", {class: "note"}, "text", child, ...): texts are never read as HTML. */
function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "on") for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
    else if (value !== null && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** A table of rows; its headings are texts or cells. */
function tableOf(attributes, headings, rows) {
  const cells = headings.map((what) => (typeof what === "string" ? element("th", { scope: "col" }, what) : what));
  return element("table", attributes, element("thead", {}, element("tr", {}, ...cells)),
    element("tbody", {}, ...rows));
}

const armRow = (arm, ...cells) => element("tr", { class: arm.reference ? "reference" : null },
  element("th", { scope: "row" }, unbroken(arm.label)), ...cells);

function section(id, title, ...children) {
  sections.push([id, title]);
  const node = element("section", { id, "aria-labelledby": `${id}-title` },
    element("h2", { id: `${id}-title` }, title), ...children);
  document.getElementById("main").append(node);
  return node;
}

/** Buttons of which one is pressed. */
function choice(label, options, chosen, choose) {
  const buttons = element("span", { role: "group", "aria-label": label });
  for (const [value, text] of options)
    buttons.append(element("button", { type: "button", "aria-pressed": String(value === chosen), on: { click(event) {
      for (const other of buttons.children) other.setAttribute("aria-pressed", String(other === event.target));
      choose(value);
    } } }, text));
  return element("span", { class: "choice" }, element("span", { "aria-hidden": "true" }, label), buttons);
}

/** The same as a list that opens, where there are many. */
function pick(label, options, chosen, choose) {
  const select = element("select", { "aria-label": label, on: { change() {
    choose(options[select.selectedIndex][0]);
  } } }, ...options.map(([value, text]) => element("option", { selected: value === chosen ? "" : null }, text)));
  return element("label", { class: "choice" }, label, select);
}

/** A choice of one of the groups, by its index, or of `all`, null; none where there is nothing to choose from. */
function groupChoice(choose, all = true) {
  if (groups.length < 2) return [];
  const options = [...groups.map(({ text }, i) => [i, text]), ...(all ? [[null, "all"]] : [])];
  const long = options.length > 7 || d3.sum(options, ([, text]) => text.length + 2) > 34;
  return [(long ? pick : choice)(withinNames.join(", "), options, 0, choose)];
}
const armsOf = (group) => (group === null ? arms : groups[group].arms);
/** What an arm is called where only `group` is shown. */
const nameIn = (group, arm) => (group === null ? arm.label : arm.name);

/** A name or a sentence for the page: "name = value" stays on one line. */
const unbroken = (text) => text.replace(/ = /g, "\u00a0=\u00a0");

// ---- numbers --------------------------------------------------------------------------------------------------------

// What the page says of arms and runs comes as text (`texts`). Formatted here: ticks, and the cells of attention maps.
const fixed = (value, digits) => minus(Number(value.toFixed(digits)) === 0 ? (0).toFixed(digits) : value.toFixed(digits));
const signed = (value, digits) => (Number(value.toFixed(digits)) > 0 ? "+" : "") + fixed(value, digits);
/** An arm's mean and its spread over the seeds. */
const meanText = ({ texts }) => `${texts.mean} ${texts.spread}`.trim();
const comparisonTexts = (arm) => arm.difference_texts;
const withCommas = (count) => count.toLocaleString("en-US");
const unit = report.metric.unit ? ` (${report.metric.unit})` : "";

/** Bytes on an axis: "20 MB". */
const bytesTick = (bytes) => d3.format("~s")(bytes).replace(/([a-zA-Z]?)$/, " $1B");

/** Seconds on an axis: "200 ms", "12.5 s", "5 min", "1 h 30 min". */
function timeTick(seconds) {
  if (seconds < 59.95) return seconds === 0 ? "0 s" : d3.format(".3~s")(seconds).replace(/([a-zµ]?)$/, " $1s");
  const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]], parts = [];
  let rest = Math.round(seconds);
  for (const [size, name] of units) {
    if (rest >= size && parts.length < 2) parts.push(`${Math.floor(rest / size)} ${name}`);
    rest %= size;
  }
  return parts.join(" ");
}

/** Peak memory of a run on one thread, in bytes, or null. */
const memory = (arm) => arm.cost && arm.cost.bytes;
/** Whether arms differ by more than a hundredth of it: less says nothing. */
const memoryDiffers = (() => {
  const [least, most] = d3.extent(arms.map(memory).filter((bytes) => bytes > 0));
  return most > 1.01 * least;
})();

/** Numbers that decoding stores for the longest sequence, or null. */
const stateSize = (arm) => arm.cost && arm.cost.state_size;
const stateDiffers = new Set(arms.filter((arm) => arm.cost).map(stateSize)).size > 1;
const stateTitle = "numbers that decoding stores for the longest sequence";

/** A font of the page as CSS has it, in pixels. */
const fontOf = (size, family = "--sans") => `${size}px ${getComputedStyle(document.body).getPropertyValue(family)}`;
const ruler = document.createElement("canvas").getContext("2d");
/** The width in pixels of the widest of these texts in a figure, in its font or another. */
function widthOf(texts, font = fontOf(12)) {
  ruler.font = font;
  return d3.max(texts, (text) => ruler.measureText(text).width) || 0;
}
/** The room for these names of arms at the side of a wide figure. */
const nameRoom = (names, width) => Math.min(16 + widthOf(names), (onPaper ? 0.43 : 0.36) * width);
/** How many lines a name may have in a figure. */
const mostNameLines = 3;

/**
 * A text as lines of at most `width` pixels, the later ones of `later`, at most `most` of them: the last holds the rest.
 * "name = value" is broken only if it is wider than a line.
 */
function linesOf(text, width, most, { font, later = width } = {}) {
  const fits = (line, first) => widthOf([line], font) <= (first ? width : later), whole = unbroken(text).split(" ");
  const words = whole.flatMap((word) => (fits(word, true) ? [word] : word.split("\u00a0"))), lines = [words[0]];
  for (const word of words.slice(1)) {
    const longer = `${lines[lines.length - 1]} ${word}`;
    if (lines.length === most || fits(longer, lines.length === 1)) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.map((line) => line.replace(/\u00a0/g, " "));
}

/** Ticks of a horizontal axis, about `most` or fewer, so that their numbers do not touch. */
function roomyTicks(scale, most, text = scale.tickFormat()) {
  let ticks = [];
  for (let count = most; count > 0; count -= 1) {
    ticks = scale.ticks(count);
    const room = 14 + widthOf(ticks.map(text)), at = ticks.map(scale);
    if (at.every((place, i) => !i || place - at[i - 1] >= room)) break;
  }
  return ticks;
}

/** Of few arms, each may be the one that the question is about: an axis leaves one out only if it dwarfs the others. */
const fewArms = arms.length <= 3;

/** The limits of most values, [low, high], if a few others would leave these no room on an axis; else null. */
function bulkOf(values) {
  const middle = d3.median(values), distances = values.map((value) => Math.abs(value - middle)).sort(d3.ascending);
  const near = 3 * (d3.quantile(distances, 0.6) || 0);
  if (!(near > 0) || near * (fewArms ? 100 : 4) > d3.max(distances)) return null;
  return [Math.max(middle - near, d3.min(values)), Math.min(middle + near, d3.max(values))];
}

/**
 * Which of these values are so far from the others that they would leave these no room on an axis: at most a third of
 * them, each more than twelve times (of few arms, a hundred times) as far from the median as the median distance.
 */
function outlying(values) {
  const middle = d3.median(values), distances = values.map((value) => Math.abs(value - middle));
  const scale = Math.max(d3.median(distances) || 0, 0.02 * Math.abs(middle));
  const far = distances.map((distance) => values.length > 2 && scale > 0
    && distance > (fewArms ? 100 : 12) * scale);
  return d3.sum(far) * 3 <= values.length ? far : values.map(() => false);
}

/** A switch between most of something and all of it, for an axis that leaves a few out. */
const mostOrAll = (what, most, choose) => choice("show", [[true, `most ${what}`], [false, "all"]], most, choose);

/** A value within the metric's range: no deviation from a mean goes beyond it. */
const withinRange = ([low, high], value) => Math.max(low === null ? -Infinity : low,
  Math.min(high === null ? Infinity : high, value));

// ---- what an arm looks like -----------------------------------------------------------------------------------------

// References have the ink's colour; the others one by their name, which is the same in every group. After six, the same
// colours come again with other dashes and symbols: six colours and seven symbols make 42 pairs, since 6 and 7 have no
// common factor.
const names = [...new Set(arms.filter((arm) => !arm.reference).map((arm) => arm.name))];
const look = (arm) => (arm.reference ? 0 : 1 + names.indexOf(arm.name));
const round = (arm) => (arm.reference ? 0 : Math.floor((look(arm) - 1) / 6));
const colourOf = (at) => `var(--arm-${at && 1 + ((at - 1) % 6)})`;
const armColour = (arm) => colourOf(look(arm));
const dashOf = (at) => ["", "7 3", "2 3", "8 3 2 3"][at && Math.floor((at - 1) / 6) % 4];
const symbols = [d3.symbolCircle, d3.symbolSquare, d3.symbolTriangle, d3.symbolDiamond, d3.symbolCross, d3.symbolStar,
  d3.symbolWye];
const armSymbol = (arm) => symbols[look(arm) % symbols.length];
const symbolPath = (type, size) => d3.symbol().type(type).size(size)();

/** What a difference below 0 and one above it are called: "better", "worse"; where neither is, "lower", "higher". */
const { sides } = report.metric;
const neutral = sides[0] === "lower";
/** The colour of each side. */
const sideColours = { better: "--better", worse: "--worse", higher: "--better", lower: "--worse" };
/** The notes of some kinds, and a note as people read it. */
const notesOf = (...kinds) => report.notes.filter(({ kind }) => kinds.includes(kind));
const noteText = ({ name, text }) => `${name}: ${text}`;

/** The mark of an arm's answer: better | worse | differs | same | undecided. */
const markOf = (answer) => ({ equal: "same", "not worse": "same", underpowered: "undecided" })[answer] ?? answer;
/** Whether arms are asked to be not worse by more than the margin. Intervals are then open on the better side. */
const asksNotWorse = report.asked === "not worse";
const verdict = (arm) => markOf(arm.comparison.answer);
const verdicts = {
  better: ["better than the reference", d3.symbolTriangle],
  worse: [asksNotWorse ? "worse by more than the margin" : "worse", d3.symbolSquare],
  differs: ["other than the reference", d3.symbolTriangle],
  same: [asksNotWorse ? "not worse by more than the margin" : report.margin ? "the same, within the margin" : "the same",
    d3.symbolDiamond],
  undecided: ["undecided", d3.symbolCircle],
};
/** What the marks of arms that differ say, for captions. */
const marksMean = (neutral ? "Triangles differ" : "Triangles are better, squares worse") +
  (arms.some((arm) => arm.comparison && verdict(arm) === "same") ? `, diamonds ${asksNotWorse ? "not worse" : "the same"}` : "");

/** A name for a list: in quotation marks if it has a comma itself, or "and". */
const inList = (name) => (/, | and /.test(name) ? `\u201c${name}\u201d` : name);

/** For captions: the arms that a figure leaves out, since they have no results. */
function withoutResults(has) {
  const missing = arms.filter((arm) => !has(arm));
  if (!missing.length) return "";
  const many = missing.length > 3, which = many ? `${missing.length} arms` : missing.map(({ label }) => inList(label)).join(", ");
  return ` Not in this figure, for lack of results: ${which}.`;
}

/** Arms, those with the clearest answers first. */
const clearestFirst = report.clearest.map((index) => arms[index]);

/** A mark by itself, for lists and tables; its meaning is not `said` where the word stands beside it. */
function markIcon(name, said = true) {
  const svg = d3.create("svg").attr("width", 14).attr("height", 14).attr("viewBox", "-7 -7 14 14");
  if (said) svg.attr("role", "img").attr("aria-label", verdicts[name][0]);
  else svg.attr("aria-hidden", "true");
  svg.append("path").attr("class", `mark ${name}`).attr("d", symbolPath(verdicts[name][1], name === "undecided" ? 52 : 64))
    .call(outlined, name);
  return svg.node();
}
/** What is undecided is hollow. */
function outlined(mark, name) {
  if (name === "undecided") mark.style("fill", "var(--paper)").style("stroke", "var(--undecided)").style("stroke-width", 1.8);
}

/** A line with its symbol, for legends. */
function iconOf(at) {
  const svg = d3.create("svg").attr("width", 26).attr("height", 12).attr("viewBox", "-13 -6 26 12")
    .attr("aria-hidden", "true");
  svg.append("line").attr("x1", -13).attr("x2", 13).style("stroke", colourOf(at)).style("stroke-width", 2)
    .attr("stroke-dasharray", dashOf(at));
  svg.append("path").attr("d", symbolPath(symbols[at % symbols.length], 38)).style("fill", colourOf(at));
  return svg.node();
}

/** An arrowhead at an axis' end, to the right (1) or to the left (-1). */
const arrowhead = (side, size = 7) => `M${size * side},0L${-size / 2 * side},${-size}L${-size / 2 * side},${size}Z`;

/** A mark at an axis' end, to the right (1) or to the left (-1), for an interval that continues beyond it. */
const continues = (side, size = 5) => `M${-size * side},${-size}L0,0L${-size * side},${size}`;

/** The ends of a comparison's interval, beyond every axis where it is open (a scale can't map infinity); null without one. */
const endsOf = ({ interval }) => interval && [interval[0] ?? -1e100, interval[1] ?? 1e100];

/** Whether some of these arms have an interval, which takes six seeds. */
const haveIntervals = (which) => which.some(({ comparison }) => comparison && comparison.interval);

// ---- tooltip --------------------------------------------------------------------------------------------------------

const tooltip = document.getElementById("tooltip");

/** Shows lines of text, or rows of cells, beside a point of the window. */
function showTooltip(x, y, title, rows = []) {
  tooltip.replaceChildren(element("b", {}, title));
  const table = element("table");
  for (const row of rows)
    table.append(element("tr", {}, ...row.map((cell) => element("td", { class: "text" }, cell))));
  if (rows.length) tooltip.append(table);
  tooltip.hidden = false;
  const box = tooltip.getBoundingClientRect(), room = 14;
  const left = x + room + box.width > window.innerWidth ? x - room - box.width : x + room;
  const top = y + room + box.height > window.innerHeight ? y - room - box.height : y + room;
  tooltip.style.left = `${Math.max(4, left)}px`;
  tooltip.style.top = `${Math.max(4, top)}px`;
}
function hideTooltip() { tooltip.hidden = true; }

/** Has an element's tooltip shown where the pointer is, and at its side where the keyboard is. */
function explain(selection, title, rows) {
  selection.attr("tabindex", 0)
    .on("pointermove", (d) => showTooltip(d3.event.clientX, d3.event.clientY, title(d), rows(d)))
    .on("pointerleave", hideTooltip)
    .on("focus", function focused(d) {
      if (!this.matches(":focus-visible")) return;
      const box = this.getBoundingClientRect();
      showTooltip(box.right - 40, box.top, title(d), rows(d));
    })
    .on("blur", hideTooltip);
}

// ---- figures --------------------------------------------------------------------------------------------------------

const copiedStyles = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin",
  "paint-order", "opacity",
  "font-family", "font-size", "font-weight", "font-variant-numeric", "text-anchor", "display", "image-rendering"];

/** An SVG with its styles within, so that it looks the same outside of this page. */
function standalone(svg) {
  const copy = svg.cloneNode(true);
  const from = [svg, ...svg.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((node, i) => {
    const style = getComputedStyle(node);
    to[i].setAttribute("style", copiedStyles.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
    for (const name of ["tabindex", "fill", "stroke"]) to[i].removeAttribute(name);  // colours are in the style
  });
  const width = svg.getAttribute("width"), height = svg.getAttribute("height");
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  paper.setAttribute("width", width);
  paper.setAttribute("height", height);
  paper.setAttribute("fill", getComputedStyle(document.body).backgroundColor);
  copy.prepend(paper);
  for (const hit of copy.querySelectorAll(".hit, .cursor")) hit.remove();
  return new XMLSerializer().serializeToString(copy);
}

function download(blob, name) {
  const link = element("a", { download: `${report.name}-${name}`.replace(/[^\w.-]+/g, "-"),
    href: URL.createObjectURL(blob) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
const saveSvg = (svg, name) => download(new Blob([standalone(svg)], { type: "image/svg+xml" }), `${name}.svg`);

const paperWidth = 900;  // pixels, which are then as wide as the paper between its margins
const figures = [];  // what draws each of them anew

/** A figure; `tools` are what stands above it, beside the button that saves what its chart shows. */
function frame(name, caption, tools, chart) {
  const save = element("button", { type: "button", class: "save", title: "Save this figure as an SVG file", on: { click() {
    for (const svg of chart.querySelectorAll("svg")) if (svg.getClientRects().length) saveSvg(svg, name);
  } } }, "Save SVG");
  return element("figure", { id: `figure-${name}` }, element("div", { class: "tools" }, ...tools, save), chart,
    element("figcaption", {}, caption));
}

/** A figure that is drawn anew when its width changes. `draw(svg, width)` gets an empty SVG and sets its height. */
function figure(name, label, caption, tools, draw) {
  const chart = element("div", { class: "chart" });
  const node = frame(name, caption, tools, chart);
  let drawn = 0;
  const redraw = () => {
    drawn = chart.clientWidth && onPaper ? paperWidth : chart.clientWidth;
    if (!drawn) return;
    chart.replaceChildren();
    const svg = d3.select(chart).append("svg").attr("width", drawn).attr("role", "group").attr("aria-label", label);
    draw(svg, drawn);
    svg.selectAll(".axis text").each(function signed() { this.textContent = this.textContent.replace(/^-/, "\u2212"); });
    svg.attr("viewBox", `0 0 ${svg.attr("width")} ${svg.attr("height")}`);
  };
  // Not within the observer's own round, where a change of height would be an error.
  new ResizeObserver(() => requestAnimationFrame(() => { if (!onPaper && Math.abs(chart.clientWidth - drawn) > 1) redraw(); }))
    .observe(chart);
  figures.push(redraw);
  return { node, redraw };
}

/** `text`, its middle left out so that it takes at most `width` pixels; the whole is its title. */
function fitText(selection, text, width) {
  const node = selection.text(text).node();
  let kept = text.length;
  while (kept > 2 && node.getComputedTextLength() > width) {
    kept -= 1;
    node.textContent = `${text.slice(0, Math.ceil(kept / 2)).trimEnd()}…${text.slice(-Math.floor(kept / 2)).trimStart()}`;
  }
  if (kept < text.length) selection.append("title").text(text);
}

/** Writes lines beneath each other, each fitted to its width: around the text's place, or from there downwards. */
function writeLines(selection, lines, width, { around = true, later = width } = {}) {
  const pitch = 1.25, first = around ? 0.35 - pitch * (lines.length - 1) / 2 : 0;
  lines.forEach((line, i) => {
    const part = selection.append("tspan").attr("x", selection.attr("x")).attr("dy", `${i ? pitch : first}em`);
    fitText(part, line, 1.02 * (i ? later : width) + 1);  // texts in figures are not exactly as wide as the ruler has them
    if (i + 1 < lines.length) part.node().append(" ");  // for who copies the text or has it read
  });
}
