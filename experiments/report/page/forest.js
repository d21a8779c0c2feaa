// Differences from the reference with their intervals, an arm a row.

const differenceEnds = (arm) => [arm.comparison.difference, ...(arm.comparison.interval || [])];

/** The limits of an axis that has all differences of some arms, with 0 and the margin. */
const allDifferences = (which) => d3.extent([0, ...which.flatMap(differenceEnds),
  ...(report.margin ? [-report.margin, report.margin] : [])]);

/** Where a few arms dwarf the others: the distance from 0 that the others need; else null. */
function nearDifferences() {
  const reach = (arm) => Math.max(...differenceEnds(arm).map(Math.abs));
  const largest = Math.max(...compared.map(reach), report.margin || 0) || 1;
  const near = 1.5 * Math.max(d3.median(compared, reach) || 0, report.margin || 0);
  return compared.length > 2 && near > 0 && near * 4 < largest ? near : null;
}

/** An arrowhead at an axis' end, to the right (1) or to the left (-1). */
const arrowhead = (side, size = 7) => `M${size * side},0L${-size / 2 * side},${-size}L${-size / 2 * side},${size}Z`;

/** A mark at an axis' end, to the right (1) or to the left (-1), for an interval that continues beyond it. */
const continues = (side, size = 5) => `M${-size * side},${-size}L0,0L${-size * side},${size}`;

/** Whether some of these arms have an interval, which takes six seeds. */
const haveIntervals = (which) => which.some(({ comparison }) => comparison && comparison.interval);

/** Upright lines at some x, each in all bands, [[top, height], ...]. */
const uprights = (xs, bands) => xs.flatMap((x) => bands.map(([y, height]) => `M${x},${y}v${height}`)).join("");

function drawForest() {
  if (!compared.length) return;
  const near = nearDifferences();
  let zoomed = near !== null;

  function draw(svg, width) {
    const wide = width > 620, top = 6, bottom = 52;
    const numbersOf = (arm) => comparisonTexts(arm).join(" ");
    const left = wide ? nameRoom(compared.map(({ name }) => name), width) : 12;
    const right = wide ? Math.min(0.36 * width, 30 + widthOf(compared.map(numbersOf))) : 12;
    const used = (arm) => (wide ? left - 14 : width - 14 - widthOf([numbersOf(arm)]));
    const later = wide ? left - 14 : width - 14;  // the numbers stand beside the first line only
    const nameLines = new Map(compared.map((arm) => [arm, linesOf(arm.name, used(arm), mostNameLines, { later })]));
    const nameHeight = (arm) => 6 + 15 * nameLines.get(arm).length;
    const rowHeight = (arm) => (wide ? Math.max(onPaper ? 22 : 30, 4 + 15 * nameLines.get(arm).length) : 25 + nameHeight(arm));
    const heading = wide ? 34 : 38, starts = new Map();
    const shownGroups = groups.map((group) => ({ ...group, arms: group.arms.filter((arm) => arm.comparison) }))
      .filter((group) => group.arms.length);
    let below = top;
    for (const group of shownGroups) {
      group.at = below;
      if (grouped) below += heading;
      for (const arm of group.arms) {
        starts.set(arm, below);
        below += rowHeight(arm);
      }
    }
    const height = below + bottom;
    svg.attr("height", height);
    const limits = zoomed ? [-near, near] : allDifferences(compared);
    const pad = 0.04 * (limits[1] - limits[0] || 1);
    const x = d3.scaleLinear().domain([limits[0] - pad, limits[1] + pad]).range([left, width - right]);
    const inside = (value) => Math.max(x.range()[0], Math.min(x.range()[1], x(value)));
    const beyond = (value) => (x(value) < x.range()[0] - 0.5 ? -1 : x(value) > x.range()[1] + 0.5 ? 1 : 0);
    const floor = height - bottom;

    const rows = svg.append("g").selectAll("g").data([...starts.keys()]).join("g").attr("class", "row")
      .attr("transform", (arm) => `translate(0,${starts.get(arm)})`).attr("role", "img")
      .attr("aria-label", (arm) => arm.sentence);
    rows.append("rect").attr("class", "hit").attr("width", width).attr("height", rowHeight);

    const grid = svg.insert("g", "g");
    // Where names stand above their lines, the band and the rules are only at the lines.
    const bands = wide ? [[top, floor - top]]
      : [...starts].map(([arm, start]) => [start + nameHeight(arm), rowHeight(arm) - nameHeight(arm)]);
    if (report.margin)
      grid.selectAll("rect").data(bands).join("rect").attr("class", "margin").attr("x", inside(-report.margin))
        .attr("width", inside(report.margin) - inside(-report.margin)).attr("y", ([y]) => y)
        .attr("height", ([, height]) => height);
    const ticks = roomyTicks(x, wide ? 7 : 4);
    grid.append("path").attr("class", "rule").attr("d", uprights(ticks.map(x), bands));
    grid.append("path").attr("class", "zero").attr("d", uprights([inside(0)], bands));
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${floor})`)
      .call(d3.axisBottom(x).tickValues(ticks).tickSize(5));

    rows.each(function drawRow(arm) {
      const g = d3.select(this), { difference, interval } = arm.comparison, name = verdict(arm);
      // The row's line is below the label where there is no room at its side.
      const line = wide ? rowHeight(arm) / 2 : rowHeight(arm) - 13;
      if (interval) {
        g.append("line").attr("class", `whisker ${name}`).attr("x1", inside(interval[0]))
          .attr("x2", inside(interval[1])).attr("y1", line).attr("y2", line);
        for (const end of interval) {
          if (!beyond(end)) g.append("line").attr("class", `whisker ${name}`).attr("x1", x(end)).attr("x2", x(end))
            .attr("y1", line - 4).attr("y2", line + 4);
          else if (beyond(end) !== beyond(difference)) g.append("path").attr("class", `whisker continues ${name}`)
            .attr("d", continues(beyond(end))).attr("transform", `translate(${inside(end)},${line})`);
        }
      }
      const out = beyond(difference);
      const mark = g.append("path").attr("class", `mark ${name}`)
        .attr("transform", `translate(${inside(difference)},${line})`);
      if (out) mark.attr("d", arrowhead(out));
      else mark.attr("d", symbolPath(verdicts[name][1], 72)).call(outlined, name);
      const place = (text) => text.attr("y", wide ? line : 15);
      place(g.append("text")).attr("class", "soft label").attr("x", width).attr("dy", wide ? "0.35em" : 0)
        .attr("text-anchor", "end").text(numbersOf(arm));
      writeLines(place(g.append("text")).attr("class", "label").attr("x", 0), nameLines.get(arm), used(arm), { around: wide, later });
    });
    explain(rows, (arm) => arm.label, (arm) => {
      const c = arm.comparison, { texts } = c;
      return [["difference", comparisonTexts(arm).join(" ")],
        ["pairs of runs", `${c.pairs}${texts.correlation && `, correlation ${texts.correlation}`}`],
        ...(c.interval_flips === null ? [] : [["this arm only, by flips", texts.flips]]),
        ...(c.interval_student === null ? [] : [["this arm only, Student's t", texts.student]]),
        ...(c.p === null ? [] : [["p", c.p_text]]),
        ...(c.interquartile === null || c.answer === "equal" ? [] : [["interquartile mean (BCa, approximate)",
          texts.interquartile]]),
        ...(c.p_equivalence_flips === null ? [] : [["equivalence, p", c.p_equivalence_flips_text]]),
        ...(c.interval_equivalence === null ? [] : [["equivalence interval", texts.equivalence]])];
    });

    if (grouped)
      svg.append("g").selectAll("text").data(shownGroups).join("text").attr("class", "strong label").attr("x", 0)
        .attr("y", (group) => group.at + heading - 9).text((group) => group.title);

    const zero = inside(0), note = floor + 40, soft = () => svg.append("text").attr("class", "soft").attr("y", note);
    const ends = [];
    if (zero - left > 60) ends.push(soft().attr("x", left).text(`◂ ${sides[0]}`));
    if (width - right - zero > 60)
      ends.push(soft().attr("x", width - right).attr("text-anchor", "end").text(`${sides[1]} ▸`));
    // What the axis measures, in fewer words where the ends leave no room for more.
    const endWidth = d3.max(ends, (text) => text.node().getComputedTextLength()) || 0;
    const label = soft().attr("x", (left + width - right) / 2).attr("text-anchor", "middle")
      .text(`difference in ${report.metric.name}${unit}`);
    if (label.node().getComputedTextLength() + 2 * endWidth + 20 > width - right - left) label.text(report.metric.name);
  }

  const margin = report.margin ? ` The band is the margin, ±${report.margin}: what counts as the same.` : "";
  const intervals = haveIntervals(compared);
  const shown = figure("forest", `Differences from the reference${intervals ? ", with intervals" : ""}`,
    `Each arm's difference from the reference${grouped ? " of its group" : ""} in ${report.metric.name}, ${report.test === "unpaired"
      ? "runs not paired" : `runs paired by ${report.table && report.table.paired_by ? report.table.paired_by : "seed"}`}` +
    `${intervals ? `, with ${confidence} intervals by ${report.test === "unpaired" ? "permutations" : "sign flips"} ` +
      "that hold for all arms at once" : ""}.${margin} ` +
    `${marksMean}, open circles undecided.` +
    (zoomed ? " Arrowheads point to arms outside the axis; open ones end intervals that continue." : "") +
    withoutResults((arm) => arm.reference || arm.comparison),
    zoomed ? [mostOrAll("arms", zoomed, (value) => {
      zoomed = value;
      shown.redraw();
    })] : [], draw);
  section("differences", "Differences from the reference", shown.node);
}
