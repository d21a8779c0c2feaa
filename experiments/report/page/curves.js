// Learning curves, and accuracy at each length: the mean over an arm's seeds with a band, or each run by itself.

/**
 * What the figure of curves can show: [{name, title, range, lines, runs}], where `lines` are what it draws for each arm,
 * and `runs` says whether single runs are known. Of a single arm, both losses stand in one figure.
 */
function curveChoices() {
  const has = (of) => arms.some((arm) => of(arm).step.length > 1);
  // Where the metric is how fast a run gets somewhere, curves are of what it gets there in.
  const metric = report.curve_metric, training = (arm) => arm.training_curve;
  const validation = metric.true_name === "val_loss" ? (arm) => arm.curve : (arm) => arm.validation_curve;
  const out = [];
  if (arms.length === 1 && has(validation) && has(training)) {
    const look = { dash: "7 3", symbol: d3.symbolSquare, colour: "var(--arm-2)", strong: false, look: 1,
      icon: () => lineIcon("var(--arm-2)", "7 3", d3.symbolSquare) };
    out.push({ name: "losses", title: "val_loss of the evaluations and train_loss of the training batches (nats)",
      range: [0, null], lines: [{ of: validation, name: "val_loss" }, { of: training, name: "train_loss", look }] });
    if (metric.true_name === "val_loss") return out;
  }
  const unitOf = metric.unit ? ` (${metric.unit})` : "";
  if (has((arm) => arm.curve)) out.push({ name: metric.name, title: `${metric.name}${unitOf} of the evaluations`,
    range: metric.range, lines: [{ of: (arm) => arm.curve }], runs: true });
  if (arms.length > 1 && has(training)) out.push({ name: "train_loss",
    title: "train_loss (nats) of the training batches", range: [0, null], lines: [{ of: training }] });
  return out;
}

function drawCurves() {
  const curves = curveChoices();
  if (!curves.length) return;
  let band = "range", log = false, group = 0, chosen = curves[0];
  const has = (arm) => chosen.lines.some(({ of }) => of(arm).step.length > 1);
  const positive = arms.every((arm) => curves.every(({ lines }) => lines.every(({ of }) =>
    of(arm).low.every((value) => value === null || value > 0))));

  const own = () => chosen.name === report.metric.name;

  function plot() {
    const together = groups.length > 1 && group === null, shownArms = armsOf(group).filter(has);
    const steps = [...new Set(shownArms.flatMap((arm) => chosen.lines.flatMap(({ of }) => of(arm).step)))]
      .sort((a, b) => a - b);
    const eachRun = (arm) => arm.runs.filter((run) => run.curve.step.length > 1)
      .map(({ curve }) => curve.step.map((step, i) => [step, curve.value[i]]));
    return {
      lines: shownArms.flatMap((arm) => chosen.lines.map(({ of, name, look: change }) => ({
        ...armLine(arm, group, together), ...(name ? { key: name, label: name } : {}), ...change,
        points: seedPoints(of(arm).step, of(arm), band, chosen.range),
        runs: band !== "runs" || !chosen.runs ? null : eachRun(arm) }))),
      x: { kind: "linear", values: steps, label: "step", text: withCommas },
      // Chance is known of the first group's task.
      y: { log, range: chosen.range, level: own() && report.chance && group === 0 ? [report.chance.value, "chance"] : null },
    };
  }

  const kinds = [["range", "range"], ["deviation", "± sd"], ["runs", "each run"]];
  const ofCurves = curves.length < 2 ? [] : [choice("of", curves.map((each) => [each, each.name]), chosen, (value) => {
    chosen = value;
    shown.renew();
  })];
  const tools = [...ofCurves, ...groupChoice((value) => { group = value; shown.renew(); }),
    choice("band", kinds, band, (value) => { band = value; shown.redraw(); })];
  if (positive)
    tools.push(choice("scale", [[false, "linear"], [true, "log"]], false, (value) => { log = value; shown.redraw(); }));
  const many = arms.length > mostBands ? " Of many arms, bands show for the one that the legend picks." : "";
  const shown = lineSection("curves", "Learning curves", `${curves.map(({ title }) => title).join("; ")}. Lines are ` +
    "means over an arm's seeds; the band spans the lowest to the highest seed, or a standard " +
    `deviation to either side.${many}${report.thinned ? ` ${report.thinned}` : ""}` +
    withoutResults((arm) => curves.some(({ lines }) => lines.some(({ of }) => of(arm).step.length > 1))), tools, plot);
}

function drawLengths() {
  // By the rows' own lengths, and of [train] evaluate_lengths.
  const all = (arm) => [...(arm.by_length ? [arm.by_length] : []), ...arm.at_lengths]
    .filter(({ length }) => length.length > 1);
  const metrics = [...new Set(arms.flatMap((arm) => all(arm).map(({ metric }) => metric)))];
  if (!metrics.length) return;
  let metric = metrics.includes(report.metric_at_lengths) ? report.metric_at_lengths : metrics[0];
  let band = "range", group = 0, log = false;
  const lengthsOf = (arm) => all(arm).find((lengths) => lengths.metric === metric);
  const made = (of = metric) => of !== "val_accuracy_by_length";

  function plot() {
    const together = groups.length > 1 && group === null, shownArms = armsOf(group).filter(lengthsOf);
    const lengths = [...new Set(shownArms.flatMap((arm) => lengthsOf(arm).length))].sort((a, b) => a - b);
    const trained = new Set(shownArms.map((arm) => arm.training_length).filter((length) => length !== null));
    const wide = made() && lengths[lengths.length - 1] >= 8 * lengths[0];
    const range = [0, /accuracy/.test(metric) ? 1 : null];
    return {
      lines: shownArms.map((arm) => ({ ...armLine(arm, group, together),
        points: seedPoints(lengthsOf(arm).length, lengthsOf(arm), band, range) })),
      x: { kind: wide ? "log" : "linear", values: lengths, label: "length", text: withCommas,
        mark: made() && trained.size === 1 ? [[...trained][0], "longest in training"] : null },
      y: { log, range }, marks: made(),
    };
  }

  const plain = (of) => of.replace(/(_by_length|_at)$/, "");
  const name = (of) => (report.labels[plain(of)] || plain(of)) + (made(of) ? "" : ", by the rows' own lengths");
  const tools = [...groupChoice((value) => { group = value; shown.renew(); }),
    choice("band", [["range", "range"], ["deviation", "± sd"]], band, (value) => { band = value; shown.redraw(); })];
  if (metrics.length > 1)
    tools.unshift(choice("of", metrics.map((each) => [each, name(each)]), metric, (value) => {
      metric = value;
      shown.renew();
    }));
  if (metrics.some((each) => /_(loss|perplexity)_at$/.test(each)))
    tools.push(choice("scale", [[false, "linear"], [true, "log"]], false, (value) => { log = value; shown.redraw(); }));
  // The same as a table: an arm a row, a length a column, of each metric.
  const tableOf = (of) => {
    const found = arms.map((arm) => all(arm).find((lengths) => lengths.metric === of));
    const lengths = [...new Set(found.flatMap((each) => (each ? each.length : [])))].sort((a, b) => a - b);
    const cell = (each, length) => {
      const i = each ? each.length.indexOf(length) : -1;
      return element("td", { "data-tsv": i < 0 ? "" : each.mean[i] }, ...(i < 0 ? ["–"] : [each.texts[i][0],
        element("span", { class: "with" }, each.texts[i][1] && ` ${each.texts[i][1]}`)]));
    };
    return fitted(element("table", { class: "by-length" },
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "arm"),
        ...lengths.map((length) => element("th", { scope: "col" }, withCommas(length))))),
      element("tbody", {}, ...arms.map((arm, a) => element("tr", { class: arm.reference ? "reference" : null },
        element("th", { scope: "row" }, unbroken(arm.label)), ...lengths.map((length) => cell(found[a], length)))))),
    `${name(of)} by length`);
  };
  const spans = made() ? "whiskers span" : "the band spans";
  const beside = made() ? " Points of one length stand side by side." : "";
  const what = metrics.length > 1 ? "The chosen metric of" : `${name(metric).split(",")[0]} of`;
  const title = metrics.every((each) => /accuracy/.test(each)) ? "Accuracy at each length" : "At each length";
  const shown = lineSection("lengths", title, `${what} the rows of each length, in the last evaluation. Lines are ` +
    `means over an arm's seeds; ${spans} the lowest to the highest seed, or a standard deviation to either side.${beside}` +
    withoutResults((arm) => all(arm).length), tools, plot);
  document.getElementById("lengths").append(...metrics.map((of) => element("details", {},
    element("summary", {}, `${name(of)}, as a table`), tableOf(of))));
}
