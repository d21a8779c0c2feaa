// Learning curves, and accuracy at each length: the mean over an arm's seeds with a band, or each run by itself.

function drawCurves() {
  const has = (arm) => arm.curve.step.length > 1;
  if (!arms.some(has)) return;
  let band = "range", log = false, group = 0;
  const positive = arms.every((arm) => arm.curve.low.every((value) => value === null || value > 0));

  // Where the metric is how fast a run gets somewhere, curves are of what it gets there in.
  const of = report.curve_metric, own = of.name === report.metric.name;
  const curveName = of.name + (of.unit ? ` (${of.unit})` : "");

  function plot() {
    const together = groups.length > 1 && group === null, shownArms = armsOf(group).filter(has);
    const steps = [...new Set(shownArms.flatMap((arm) => arm.curve.step))].sort((a, b) => a - b);
    return {
      lines: shownArms.map((arm) => ({ ...armLine(arm, group, together),
        points: seedPoints(arm.curve.step, arm.curve, band),
        runs: band !== "runs" ? null : arm.runs.filter((run) => run.curve.step.length > 1)
          .map(({ curve }) => curve.step.map((step, i) => [step, curve.value[i]])) })),
      x: { kind: "linear", values: steps, label: "step", text: withCommas },
      // Chance is known of the first group's task.
      y: { log, level: own && report.chance && group === 0 ? [report.chance.value, "chance"] : null },
    };
  }

  const kinds = [["range", "range"], ["deviation", "± sd"], ["runs", "each run"]];
  const tools = [...groupChoice((value) => { group = value; shown.renew(); }),
    choice("band", kinds, band, (value) => { band = value; shown.redraw(); })];
  if (positive)
    tools.push(choice("scale", [[false, "linear"], [true, "log"]], false, (value) => { log = value; shown.redraw(); }));
  const shown = lineSection("curves", "Learning curves", `${curveName} of the evaluations while ` +
    "training. Lines are means over an arm's seeds; the band spans the lowest to the highest seed, or a standard " +
    `deviation to either side.${report.thinned ? ` ${report.thinned}` : ""}`, tools, plot);
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
  const made = () => metric !== "val_accuracy_by_length";

  function plot() {
    const together = groups.length > 1 && group === null, shownArms = armsOf(group).filter(lengthsOf);
    const lengths = [...new Set(shownArms.flatMap((arm) => lengthsOf(arm).length))].sort((a, b) => a - b);
    const wide = made() && lengths[lengths.length - 1] >= 8 * lengths[0];
    return {
      lines: shownArms.map((arm) => ({ ...armLine(arm, group, together),
        points: seedPoints(lengthsOf(arm).length, lengthsOf(arm), band) })),
      x: { kind: wide ? "log" : "linear", values: lengths, label: "length", text: withCommas },
      y: { log }, marks: made(),
    };
  }

  const name = (of) => of.replace(/_by_length$/, ", by the rows' own lengths").replace(/_at$/, "");
  const tools = [...groupChoice((value) => { group = value; shown.renew(); }),
    choice("band", [["range", "range"], ["deviation", "± sd"]], band, (value) => { band = value; shown.redraw(); })];
  if (metrics.length > 1)
    tools.unshift(choice("of", metrics.map((each) => [each, name(each)]), metric, (value) => {
      metric = value;
      shown.renew();
    }));
  if (metrics.some((each) => /_(loss|perplexity)_at$/.test(each)))
    tools.push(choice("scale", [[false, "linear"], [true, "log"]], false, (value) => { log = value; shown.redraw(); }));
  const what = metrics.length > 1 ? "What a metric comes to on" : `${name(metric).split(",")[0]} of`;
  const title = metrics.every((each) => /accuracy/.test(each)) ? "Accuracy at each length" : "At each length";
  const shown = lineSection("lengths", title, `${what} the rows of each length, in the last evaluation. Lines are ` +
    "means over an arm's seeds; the band spans the lowest to the highest seed, or a standard deviation to either side.",
    tools, plot);
}
