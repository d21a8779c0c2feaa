// Learning curves, and accuracy at each length: the mean over an arm's seeds with a band, or each run by itself.

function drawCurves() {
  const has = (arm) => arm.curve.step.length > 1;
  if (!arms.some(has)) return;
  let band = "range", log = false, group = 0;
  const positive = arms.every((arm) => arm.curve.low.every((value) => value === null || value > 0));

  // Where the metric is how fast a run gets somewhere, curves are of what it gets there in.
  const of = report.curve_metric, own = of.name === report.metric.name;
  const curveName = of.name + (of.unit ? ` (${of.unit})` : "");
  const curveText = own ? valueText : (value) => fixed(value, 4);

  function plot() {
    const together = groups.length > 1 && group === null, shownArms = armsOf(group).filter(has);
    const steps = [...new Set(shownArms.flatMap((arm) => arm.curve.step))].sort((a, b) => a - b);
    return {
      lines: shownArms.map((arm) => ({ ...armLine(arm, group, together),
        points: seedPoints(arm.curve.step, arm.curve, band, curveText),
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
  const has = (arm) => arm.by_length !== null && arm.by_length.length.length > 1;
  if (!arms.some(has)) return;
  let band = "range", group = 0;
  const share = (value) => fixed(value, 3);

  function plot() {
    const together = groups.length > 1 && group === null, shownArms = armsOf(group).filter(has);
    const lengths = [...new Set(shownArms.flatMap((arm) => arm.by_length.length))].sort((a, b) => a - b);
    return {
      lines: shownArms.map((arm) => ({ ...armLine(arm, group, together),
        points: seedPoints(arm.by_length.length, arm.by_length, band, share) })),
      x: { kind: "linear", values: lengths, label: "length", text: withCommas },
      y: { log: false },
    };
  }

  const metric = arms.find(has).by_length.metric.replace(/_by_length$/, "");
  const tools = [...groupChoice((value) => { group = value; shown.renew(); }),
    choice("band", [["range", "range"], ["deviation", "± sd"]], band, (value) => { band = value; shown.redraw(); })];
  const shown = lineSection("lengths", "Accuracy at each length", `${metric} of the rows of each length, in the last ` +
    "evaluation. Lines are means over an arm's seeds; the band spans the lowest to the highest seed, or a standard " +
    "deviation to either side.", tools, plot);
}
