// Each run by itself, an arm a row: what a mean and a spread leave out.

/** Upright lines at some x, each in all bands, [[top, height], ...]. */
const uprights = (xs, bands) => xs.flatMap((x) => bands.map(([y, height]) => `M${x},${y}v${height}`)).join("");

function drawSingle() {
  const valued = (arm) => arm.runs.filter((run) => run.value !== null);
  const lost = (arm) => arm.runs.filter((run) => run.value === null && ["failed", "left out", "gone", "finished"].includes(run.state));
  const shown = arms.filter((arm) => valued(arm).length || lost(arm).length);
  if (report.seeds.length < 2 || !shown.some((arm) => valued(arm).length)) return;
  // Thresholds are found for an arm and its reference; one that the configuration gives is the same for all.
  const thresholds = [...new Set(shown.filter((arm) => arm.learned).map((arm) => arm.learned.from))];

  // Where a few runs would leave the others no room, these are shown first.
  const bulk = bulkOf(shown.flatMap((arm) => valued(arm).map((run) => run.value)));
  let zoomed = bulk !== null;

  function draw(svg, width) {
    const wide = width > 620, top = 6, bottom = 52;
    const left = wide ? nameRoom(shown.map(({ label }) => label), width) : 12;
    const values = [...shown.flatMap((arm) => valued(arm).map((run) => run.value)), ...thresholds,
      ...(report.chance ? [report.chance.value] : [])];
    const [low, high] = zoomed ? bulk : d3.extent(values), pad = 0.05 * (high - low || Math.abs(high) || 1);
    const outside = (value) => (value < low - pad ? -1 : value > high + pad ? 1 : 0);
    const beyond = (arm) => valued(arm).filter((run) => outside(run.value));
    /** What is said of an arm's runs at the right. */
    const remark = (arm) => {
      const share = arm.learned ? arm.learned.arm : null, out = beyond(arm);
      const first = share ? [`${share.seeds} of ${share.of} learned`]
        : lost(arm).length ? [`${lost(arm).length} failed or left out`] : [];
      if (out.length) first.push(`${out.length} outside${first.length ? "" : `, farthest ${farthest(out).texts.value}`}`);
      return first.join(", ");
    };
    // Runs that failed stand beside the axis, at no value on it.
    const crosses = Math.min(6, d3.max(shown, (arm) => lost(arm).length)), room = crosses ? 10 + 9 * crosses : 0;
    const right = (wide ? Math.max(150, 12 + widthOf(shown.map(remark))) : 12) + room;
    const x = d3.scaleLinear().domain([low - pad, high + pad]).range([left + 14, width - right - 14]);
    const used = (arm) => (wide ? left - 14 : width - 12 - widthOf([remark(arm)]));
    const later = wide ? left - 14 : width - 12;  // the remark stands beside the first line only
    const nameLines = new Map(shown.map((arm) => [arm, linesOf(arm.label, used(arm), mostNameLines, { later })]));
    const nameHeight = (arm) => 5 + 15 * nameLines.get(arm).length;
    const rowHeight = (arm) => (wide ? Math.max(onPaper ? 20 : 26, 4 + 15 * nameLines.get(arm).length) : 24 + nameHeight(arm));
    let below = top;
    const starts = shown.map((arm) => (below += rowHeight(arm)) - rowHeight(arm)), floor = below;
    const ticks = roomyTicks(x, wide ? 7 : 4);
    svg.attr("height", floor + bottom);
    const rows = svg.append("g").selectAll("g").data(shown).join("g").attr("class", "row")
      .attr("transform", (arm, i) => `translate(0,${starts[i]})`).attr("role", "img")
      .attr("aria-label", (arm) => `${arm.label}: ${valued(arm).map((run) => run.texts.value).join(", ")}` +
        `${lost(arm).length ? `; ${lost(arm).length} failed or left out` : ""}`);
    rows.append("rect").attr("class", "hit").attr("width", width).attr("height", rowHeight);
    const grid = svg.insert("g", "g");
    // Where names stand above their points, the rules are only at the points.
    const bands = wide ? [[top, floor - top]]
      : shown.map((arm, i) => [starts[i] + nameHeight(arm), rowHeight(arm) - nameHeight(arm)]);
    grid.append("path").attr("class", "rule").attr("d", uprights(ticks.map(x), bands));
    if (report.chance && !outside(report.chance.value))
      grid.append("path").attr("class", "chance").attr("d", uprights([x(report.chance.value)], bands));
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${floor})`)
      .call(d3.axisBottom(x).tickValues(ticks).tickSize(5));
    rows.each(function drawRow(arm) {
      const g = d3.select(this), line = wide ? rowHeight(arm) / 2 : rowHeight(arm) - 12;
      if (arm.learned && !outside(arm.learned.from)) g.append("line").attr("class", "threshold").attr("x1", x(arm.learned.from))
        .attr("x2", x(arm.learned.from)).attr("y1", line - 9).attr("y2", line + 9);
      const within = valued(arm).filter((run) => !outside(run.value)), out = beyond(arm);
      g.selectAll("circle").data(within).join("circle").attr("class", "dot").attr("r", 4.2).attr("cy", line)
        .attr("cx", (run) => x(run.value)).style("fill", armColour(arm));
      // Arrowheads at the axis' end for runs outside of it, and the farthest value.
      g.selectAll(".out").data(out).join("path").attr("class", "dot out").style("fill", armColour(arm))
        .attr("d", (run) => arrowhead(outside(run.value), 6))
        .attr("transform", (run) => `translate(${x.range()[outside(run.value) > 0 ? 1 : 0] + 6 * outside(run.value)},${line})`);
      g.selectAll(".lost").data(lost(arm).slice(0, crosses)).join("path").attr("class", "lost")
        .attr("d", "M-3,-3L3,3M-3,3L3,-3")
        .attr("transform", (run, i) => `translate(${width - right + 10 + 9 * i},${line})`);
      g.append("text").attr("class", "soft label").attr("x", width).attr("text-anchor", "end")
        .attr("y", wide ? line : 15).attr("dy", wide ? "0.35em" : 0).text(remark(arm));
      writeLines(g.append("text").attr("class", "label").attr("x", 0).attr("y", wide ? line : 15), nameLines.get(arm),
        used(arm), { around: wide, later });
    });
    const seedOf = ({ seed_text: text }) => (report.table && !report.table.paired_by ? text : `seed ${text}`);
    explain(rows, (arm) => arm.label, (arm) => arm.runs.map((run) => [seedOf(run),
      run.value === null ? run.state : run.texts.value]));
    svg.append("text").attr("class", "soft").attr("x", (left + width - right) / 2).attr("y", floor + 40)
      .attr("text-anchor", "middle").text(`${report.metric.name}${unit}`);
  }

  /** The run whose value is farthest from the others. */
  function farthest(runs) {
    return runs.reduce((one, run) => (Math.abs(run.value - bulk[0]) > Math.abs(one.value - bulk[0]) ? run : one));
  }

  const caption = [`Each point is the ${report.metric.name} of a run.`,
    ...(report.chance ? ["The dotted line is chance."] : []),
    ...(thresholds.length ? ["Upright marks part the seeds that learned from those that did not."] : []),
    ...(shown.some((arm) => lost(arm).length)
      ? ["Crosses next to the axis are runs that failed or are left out; they have no value."] : []),
    ...(bulk ? ["Arrowheads point to runs outside the axis."] : [])].join(" ");
  const figureOfRuns = figure("single", "The metric of each run", caption,
    bulk ? [mostOrAll("runs", zoomed, (value) => {
      zoomed = value;
      figureOfRuns.redraw();
    })] : [], draw);
  section("single", "Single runs", figureOfRuns.node);
}
