// Score against cost.

/**
 * An arm's mark: its colour and its shape are no other arm's. Where groups stand `together`, the shape is the group's,
 * and names that share a colour differ by their outline. A reference is a ring, which hides nothing.
 */
function costMark(selection, kind, together, size) {
  const outline = (arm) => (arm.reference || (together && round(arm) > 1) ? " hollow"
    : together && round(arm) ? " edged" : "");
  const symbol = (arm) => (together ? symbols[arm.place % symbols.length] : armSymbol(arm));
  return selection.attr("class", (arm) => kind + outline(arm)).attr("d", (arm) =>
    symbolPath(symbol(arm), arm.reference ? 2.2 * size : size)).style("color", armColour);
}

function costIcon(arm, together) {
  const svg = d3.create("svg").attr("width", 18).attr("height", 16).attr("viewBox", "-9 -8 18 16")
    .attr("aria-hidden", "true");
  costMark(svg.append("path").datum(arm), "key-mark", together, 50);
  return svg.node();
}

function drawScatter() {
  const costs = [
    ["parameters", "parameters", (arm) => arm.cost && arm.cost.parameters, withCommas],
    ["flops", "FLOPs", (arm) => arm.cost && arm.cost.flops_per_step, d3.format("~s")],
    ...(stateDiffers ? [["state_size", "state", stateSize, d3.format("~s")]] : []),
    ["time", "time", (arm) => arm.seconds, timeTick],
    ...(memoryDiffers ? [["memory", "memory", memory, bytesTick]] : []),
  ].filter(([, , of]) => arms.some((arm) => arm.mean !== null && of(arm) !== null));
  if (arms.length < 2 || !costs.length) return;
  // The first cost that tells arms apart.
  const varies = ([, , of]) => new Set(arms.map(of).filter((value) => value !== null)).size > 1;
  let cost = costs.find(varies) || costs[0], group = 0;
  const valued = arms.filter((arm) => arm.mean !== null), far = outlying(valued.map((arm) => arm.mean));
  const outer = new Set(valued.filter((arm, i) => far[i]));
  let zoomed = outer.size > 0;
  const towards = { better: "Higher and further", worse: "Lower and further" };
  const titles = { parameters: "parameters", flops: "FLOPs of a training step", time: "training time of a run",
    state_size: stateTitle, memory: "peak memory of a run on one thread" };

  const shownPoints = () => armsOf(group).filter((arm) => arm.mean !== null && cost[2](arm) !== null);

  function draw(svg, width) {
    const [name, , of, tick] = cost, points = shownPoints();
    const together = groups.length > 1 && group === null, wide = width > 620;
    legend.hidden = wide;
    const names = points.map((arm) => (zoomed && outer.has(arm) ? `${arm.texts.mean}: ` : "") + nameIn(group, arm));
    const margin = { left: 56, right: wide ? Math.min(46 + 1.06 * widthOf(names), (onPaper ? 0.46 : 0.36) * width) : 16, top: 14,
      bottom: 46 };
    const used = margin.right - 28, lines = points.map((arm, i) => linesOf(names[i], used / 1.06, 2 * mostNameLines));
    // At the side, labels need room beneath each other.
    const room = ({ length }) => 1 + 15 * length;
    const height = wide ? Math.max(onPaper ? 250 : 340, 60 + d3.sum(lines, room)) : 300;
    svg.attr("height", height);
    const around = (values, share) => {
      const [low, high] = d3.extent(values), pad = share * (high - low || Math.abs(high) || 1);
      return [low - pad, high + pad];
    };
    const x = d3.scaleLinear().domain(around(points.map(of), 0.08)).range([margin.left, width - margin.right]);
    const whisker = (arm) => [-1, 1].map((side) => withinRange(report.metric.range,
      arm.mean + side * (arm.standard_deviation || 0)));
    const most = points.filter((arm) => !zoomed || !outer.has(arm));
    const scale = d3.scaleLinear().domain(around((most.length ? most : points).flatMap(whisker), 0.05))
      .range([height - margin.bottom, margin.top]);
    const y = (value) => Math.max(margin.top, Math.min(height - margin.bottom, scale(value)));
    const outside = (arm) => (scale(arm.mean) < margin.top ? -1 : scale(arm.mean) > height - margin.bottom ? 1 : 0);
    const ticks = scale.ticks(wide ? 6 : 5);
    svg.append("g").selectAll("line").data(ticks).join("line").attr("class", "rule").attr("x1", margin.left)
      .attr("x2", width - margin.right).attr("y1", y).attr("y2", y);
    svg.append("g").attr("class", "axis").attr("transform", `translate(${margin.left},0)`)
      .call(d3.axisLeft(scale).tickValues(ticks).tickSize(0).tickPadding(8));
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height - margin.bottom})`)
      .call(d3.axisBottom(x).tickValues(roomyTicks(x, wide ? 5 : 3, tick)).tickSize(5).tickFormat(tick));
    svg.append("text").attr("class", "soft").attr("x", width - margin.right).attr("y", height - 6)
      .attr("text-anchor", "end").text(titles[name]);

    if (wide) {
      // Labels at the side, as near to their points' height as they have room.
      const placed = points.map((arm, i) => ({ arm, lines: lines[i], at: y(arm.mean) })).sort((a, b) => a.at - b.at);
      let first = margin.top - 8, last = height - margin.bottom + 8;
      for (const label of placed) {
        label.at = Math.max(label.at, first + room(label.lines) / 2);
        first = label.at + room(label.lines) / 2;
      }
      for (const label of [...placed].reverse()) {
        label.at = Math.min(label.at, last - room(label.lines) / 2);
        last = label.at - room(label.lines) / 2;
      }
      const side = width - margin.right + 14;
      svg.append("g").selectAll("path").data(placed).join("path").attr("class", "leader")
        .attr("d", ({ arm, at }) => `M${x(of(arm)) + 6},${y(arm.mean)}L${side - 8},${at}L${side - 2},${at}`);
      svg.append("g").selectAll("text").data(placed).join("text").attr("x", side + 12)
        .attr("y", ({ at }) => at).each(function label({ arm, lines: own }) {
          writeLines(d3.select(this).classed("strong", arm.reference), own, used);
        });
      costMark(svg.append("g").selectAll("path").data(placed.map(({ arm }) => arm)).join("path")
        .attr("transform", (arm, i) => `translate(${side + 4},${placed[i].at})`), "key-mark", together, 32);
    }
    // References last, so that they lie on top.
    const inOrder = [...points].sort((a, b) => a.reference - b.reference);
    const marks = svg.append("g").selectAll("g").data(inOrder).join("g").attr("class", "scatter-point")
      .attr("role", "img")
      .attr("aria-label", (arm) => `${arm.label}: ${arm.texts.mean}, ${titles[name]} ${arm.texts[name]}`);
    marks.append("line").attr("x1", (arm) => x(of(arm))).attr("x2", (arm) => x(of(arm)))
      .attr("y1", (arm) => y(whisker(arm)[0])).attr("y2", (arm) => y(whisker(arm)[1]))
      .style("stroke", armColour).style("stroke-width", 1.4);
    costMark(marks.append("path"), "point", together, 84)
      .attr("transform", (arm) => `translate(${x(of(arm))},${y(arm.mean)})`);
    // An arrowhead in place of the mark of an arm outside the axis.
    marks.selectAll(".point").filter(outside).attr("d", arrowhead(1))
      .attr("transform", (arm) => `translate(${x(of(arm))},${y(arm.mean)}) rotate(${90 * outside(arm)})`);
    fillLegend(points, names, together);
    marks.append("circle").attr("class", "hit").attr("r", 13).attr("cx", (arm) => x(of(arm)))
      .attr("cy", (arm) => y(arm.mean));
    explain(marks, (arm) => arm.label, (arm) => [
      [report.metric.name, meanText(arm)],
      ...costs.map(([key]) => [titles[key], arm.texts[key] || "–"])]);
  }

  // On a narrow page, names stand above the figure, of the arms that have a point in it.
  const legend = element("ul", { class: "legend", "aria-label": "Arms" });
  const fillLegend = (points, names, together) => legend.replaceChildren(...points.map((arm, i) =>
    element("li", { class: "toggle" }, costIcon(arm, together), unbroken(names[i]))));

  const drawnAnew = (set) => (value) => { set(value); shown.redraw(); };
  const tools = groupChoice(drawnAnew((value) => { group = value; }));
  if (costs.length > 1) tools.push(choice("cost", costs.map(([key, label]) => [key, label]), cost[0],
    drawnAnew((value) => { cost = costs.find(([key]) => key === value); })));
  if (zoomed) tools.push(mostOrAll("arms", zoomed, drawnAnew((value) => { zoomed = value; })));
  const shown = figure("cost", "Score against cost",
    `${report.metric.name}${unit} of each arm against what it costs; whiskers are a standard deviation over seeds. ` +
    `${towards[sides[1]] || "Further"} to the left is better. ` +
    `${grouped ? "References are hollow." : "The ring is the reference."}` +
    (zoomed ? " Arrowheads point to arms outside the axis." : "") + withoutResults((arm) => arm.mean !== null), tools, draw);
  shown.node.querySelector(".tools").after(legend);
  section("cost", "Score against cost", shown.node);
}
