// The figures that the program drew: differences from the reference, and lines over steps or lengths. The page shows the
// pictures that fit, and adds tooltips, a legend and switches.

const pictures = [...document.getElementById("pictures").content.children];
/** A figure's pictures that have all of these names, for wide and for narrow pages. */
const picturesOf = (figure, ...names) => pictures.filter((svg) => report.figures[svg.dataset.figure] === figure
  && names.every((name) => svg.classList.contains(name)));
/** Where a figure's pictures stand; CSS shows that which fits. */
const place = () => element("div", { class: "chart drawn" });

/** Of a comparison that asks for not worse: the p values of its other answers. */
const notWorseTexts = ({ texts }) => [["better, p", texts.p_better],
  ...(texts.p_worse ? [["worse by more than the margin, p", texts.p_worse]] : [])];

function drawForest() {
  const shown = report.figures.find(({ kind }) => kind === "differences"), chart = place();
  if (!shown) return;
  for (const svg of picturesOf(shown)) {
    const rows = d3.select(svg).selectAll(".row").data(compared).attr("role", "img")
      .attr("aria-label", (arm) => arm.sentence);
    explain(rows, (arm) => arm.label, (arm) => {
      const c = arm.comparison, { texts } = c;
      return [["difference", comparisonTexts(arm).join(" ")],
        ["pairs of runs", `${c.pairs}${texts.correlation && `, correlation ${texts.correlation}`}`],
        ...(c.interval_flips === null ? [] : [["this arm only, by flips", texts.flips]]),
        ...(c.interval_student === null ? [] : [["this arm only, Student's t", texts.student]]),
        ...(c.p === null ? [] : [["p", c.p_text]]),
        ...(c.interquartile === null || c.answer === "equal" ? [] : [["interquartile mean (BCa, approximate)",
          texts.interquartile]]),
        ...(c.noninferiority ? notWorseTexts(c) : []),
        ...(c.p_equivalence_flips === null ? [] : [["equivalence, p", c.p_equivalence_flips_text]])];
    });
  }
  const show = (most) => chart.replaceChildren(...picturesOf(shown, most ? "most" : "all"));
  show(true);
  section("differences", "Differences from the reference", frame("forest",
    shown.caption + withoutResults((arm) => arm.reference || arm.comparison),
    shown.is_cut ? [mostOrAll("arms", true, show)] : [], chart));
}

/** A line of a picture, for the cursor: what the figure says of its points, and where they are drawn. */
function lineOf(curve, { series }) {
  const { name, look, at, value, texts } = series[curve.dataset.series];
  const places = curve.firstElementChild.getAttribute("d").slice(1).split("L").map((pair) => pair.split(" ").map(Number));
  return { key: name, label: name, colour: colourOf(look), icon: () => iconOf(look),
    points: places.map((to, i) => ({ at: at[i], y: value[i], cells: texts[i], place: to })) };
}

/**
 * A section of figures of lines: those that `called` gives one name, of a group or of all groups beneath each other.
 * Returns it.
 */
function drawLines(id, title, figures, called, caption) {
  const names = [...new Set(figures.map(called))], chart = place(), hidden = new Set();
  const legend = element("ul", { class: "legend", "aria-label": "Arms" });
  const state = { of: called(figures.find(({ second, x }) => !second && x.ticks.length) || figures[0]), group: 0,
    scale: "linear", most: true };
  const set = (name) => (value) => { state[name] = value; renew(); };
  const tool = { scale: choice("scale", [["linear", "linear"], ["log", "log"]], state.scale, set("scale")),
    most: mostOrAll("arms", state.most, set("most")) };

  for (const figure of figures) {
    for (const svg of picturesOf(figure)) {
      const lines = [...svg.querySelectorAll(".curve")].map((curve) => lineOf(curve, figure));
      addCursor(d3.select(svg), d3.select(svg.querySelector(".hit")), { title, axis: figure.x.label, dots: true,
        lines: () => lines.filter(({ key }) => !hidden.has(key)) });
    }
  }
  /** Shows what is not hidden, and one arm of it before the others. */
  function light(lit) {
    const parts = [...chart.querySelectorAll("[data-series]")].map((part) =>
      [part.classList, report.figures[part.ownerSVGElement.dataset.figure].series[part.dataset.series].name]);
    for (const [classes, name] of parts) {
      classes.toggle("off", hidden.has(name));
      classes.toggle("lit", name === lit);
      classes.toggle("faint", lit !== null && name !== lit);
    }
    // Bands that lie over each other add up; where they are many, only that of the arm that is picked is drawn.
    chart.classList.toggle("many", new Set(parts.map(([, name]) => name).filter((name) => !hidden.has(name))).size > 6);
  }
  function renew() {
    const shown = figures.filter((figure) => called(figure) === state.of
      && (state.group === null || figure.group === groups[state.group].title));
    tool.scale.hidden = !shown.some((figure) => picturesOf(figure, "log").length);
    tool.most.hidden = !shown.some((figure) => figure.is_cut);
    chart.replaceChildren(...shown.flatMap((figure) => [shown.length > 1 ? element("h3", {}, figure.group) : "",
      ...picturesOf(figure, tool.scale.hidden ? "linear" : state.scale, state.most || !figure.is_cut ? "most" : "all")]));
    const series = new Map(shown.flatMap((figure) => figure.series.map((one) => [one.name, one])));
    fillLegend(legend, [...series.values()].map(({ name, look, outside, text }) => ({ key: name, icon: () => iconOf(look),
      label: name + (outside && state.most ? `: ${minus(text)}, outside` : "") })), hidden, light);
    light(null);
  }
  const node = frame(id, `${caption} Lines are means over an arm's seeds; the band spans the lowest to the highest ` +
    "seed, or a standard deviation to either side." +
    (figures.some(({ series }) => series.length > 6) ? " Of many arms, bands show for the one that the legend picks." : ""),
  [...(names.length < 2 ? [] : [choice("of", names.map((name) => [name, name]), state.of, set("of"))]),
    ...groupChoice(set("group")),
    choice("band", [["range", "range"], ["deviation", "± sd"]], "range", (band) => { chart.dataset.band = band; }),
    tool.scale, tool.most], chart);
  node.querySelector(".tools").after(legend);
  renew();
  return section(id, title, node);
}

const linesAcross = (axis) => report.figures.filter(({ kind, x }) => kind === "lines" && x.label === axis);

function drawCurves() {
  const all = linesAcross("step"), losses = all.some(({ metric }) => metric === "losses");  // of a single arm
  const figures = all.filter(({ metric }) => !losses || !["val_loss", "train_loss"].includes(metric));
  if (!figures.length) return;
  const titles = [...new Set(figures.map(({ title }) => title))].join("; ");
  drawLines("curves", "Learning curves", figures, ({ metric }) => report.labels[metric] || metric,
    `${titles}.${report.thinned ? ` ${report.thinned}` : ""}` +
    withoutResults((arm) => figures.some(({ group, series }) => (!grouped || group === groups[arm.place].title)
      && (series.some(({ name }) => name === arm.name) || losses))));
}

function drawLengths() {
  const figures = linesAcross("length");
  if (!figures.length) return;
  const plain = (of) => report.labels[of] || of;
  const called = ({ metric, x }) => plain(metric) + (x.ticks.length ? "" : ", by the sequences' own lengths");
  const node = drawLines("lengths", figures.every(({ metric }) => /accuracy/.test(metric)) ? "Accuracy at each length"
    : "At each length", figures, called, "The sequences of each length, in the last evaluation." +
    withoutResults((arm) => arm.by_length || arm.at_lengths.length));
  // The same as a table: an arm a row, a length a column, of each metric.
  const all = (arm) => [...(arm.by_length ? [arm.by_length] : []), ...arm.at_lengths].filter(({ length }) => length.length > 1);
  for (const of of new Set(arms.flatMap((arm) => all(arm).map(({ metric }) => metric)))) {
    const found = arms.map((arm) => all(arm).find(({ metric }) => metric === of));
    const name = plain(of.replace(/(_by_length|_at)$/, "")) +
      (/_at$/.test(of) ? "" : ", by the sequences' own lengths");
    const lengths = [...new Set(found.flatMap((each) => (each ? each.length : [])))].sort((a, b) => a - b);
    const cell = (each, length) => {
      const i = each ? each.length.indexOf(length) : -1;
      return element("td", { "data-tsv": i < 0 ? "" : each.mean[i] }, ...(i < 0 ? ["–"] : [each.texts[i][0],
        element("span", { class: "with" }, each.texts[i][1] && ` ${each.texts[i][1]}`)]));
    };
    const table = tableOf({ class: "by-length" }, ["arm", ...lengths.map(withCommas)],
      arms.map((arm, a) => armRow(arm, ...lengths.map((length) => cell(found[a], length)))));
    node.append(element("details", {}, element("summary", {}, `${name}, as a table`), fitted(table, `${name} by length`)));
  }
}
