// What all figures of lines have: a legend that switches them, and a cursor; and lines over a common x with whiskers.

/** Ticks of a logarithmic axis, as many as can be read. */
function logTicks(scale, most) {
  let ticks = scale.ticks(most);
  if (ticks.length < 3) return d3.ticks(...scale.domain(), most);
  for (const digits of ["125", "1"])
    if (ticks.length > most) ticks = ticks.filter((value) => digits.includes(value.toExponential()[0]));
  return ticks;
}

/** The next of 1, 2, 5, 10, 20, ... below (or `above`) a value. */
function roundTo125(value, above) {
  const power = 10 ** Math.floor(Math.log10(value)), share = value / power;
  return power * (above ? [1, 2, 5, 10].find((step) => step >= share - 1e-9)
    : [5, 2, 1].find((step) => step <= share + 1e-9));
}

/** The values that have `room` pixels from the one before, as they stand on a scale. */
function apart(values, scale, room) {
  const kept = [];
  for (const value of values) if (!kept.length || scale(value) - scale(kept[kept.length - 1]) >= room) kept.push(value);
  return kept;
}

/** Fills a legend of [{key, label, icon}]: a click hides one or shows it again, and a pointer lights it. */
function fillLegend(legend, entries, hidden, changed) {
  legend.replaceChildren(...entries.map(({ key, label, icon }) => {
    const light = (value) => () => changed(value);
    return element("li", {}, element("button", { type: "button", class: "toggle", "aria-pressed": String(!hidden.has(key)),
      on: {
        click({ currentTarget }) {
          const hide = !hidden.has(key);
          if (hide) hidden.add(key); else hidden.delete(key);
          currentTarget.setAttribute("aria-pressed", String(!hide));
          changed(null);
        },
        pointerenter: light(key), pointerleave: light(null), focus: light(key), blur: light(null),
      } }, icon(), unbroken(label)));
  }));
}

/**
 * A cursor over a plot, whose place is `hit`: by pointer, or by the arrow keys. `lines()` are those that it meets:
 * [{label, icon, colour, points: [{at, y, cells, place: [x, y]}]}]; `cells` are what it says of a point. With `dots`, it
 * marks the points.
 */
function addCursor(svg, hit, { title, axis, dots, lines }) {
  const [top, height] = ["y", "height"].map((name) => Number(hit.attr(name)));
  const cursor = svg.append("g").attr("class", "cursor");
  let last = null;
  /** The points at each x, from the left: [[[line, point], ...], ...]. */
  function stops() {
    const found = new Map();
    for (const line of lines()) {
      for (const point of line.points) {
        if (!found.has(point.at)) found.set(point.at, []);
        found.get(point.at).push([line, point]);
      }
    }
    return [...found.values()].sort(([[, a]], [[, b]]) => a.place[0] - b.place[0]);
  }
  const middle = (there) => d3.mean(there, ([, { place: [x] }]) => x);
  function point(there, clientX, clientY) {
    const { at } = there[0][1], x = middle(there);
    leave();
    cursor.append("line").attr("x1", x).attr("x2", x).attr("y1", top).attr("y2", top + height);
    if (dots) cursor.selectAll("circle").data(there).join("circle").attr("r", 3.4).attr("class", "point")
      .style("fill", ([line]) => line.colour).attr("cx", ([, { place }]) => place[0]).attr("cy", ([, { place }]) => place[1]);
    there.sort(([, a], [, b]) => b.y - a.y);
    showTooltip(clientX ?? cursor.node().getBoundingClientRect().left, clientY,
      `${axis} ${typeof at === "number" ? withCommas(at) : at}`,
      there.map(([line, { cells }]) => [line.icon(), line.label, ...cells]));
  }
  function leave() {
    cursor.selectAll("*").remove();
    hideTooltip();
  }
  hit.attr("tabindex", 0).attr("role", "img").attr("aria-label", `${title}; the arrow keys move along`)
    .on("pointermove", () => {
      const all = stops(), here = d3.mouse(hit.node())[0];
      if (!all.length) return;
      last = d3.scan(all, (a, b) => Math.abs(middle(a) - here) - Math.abs(middle(b) - here));
      point(all[last], d3.event.clientX, d3.event.clientY);
    })
    .on("pointerleave", leave)
    .on("blur", leave)
    .on("keydown", () => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[d3.event.key], all = stops();
      if (!by || !all.length) return;
      d3.event.preventDefault();
      last = Math.max(0, Math.min(all.length - 1, (last ?? all.length - 1) + by));
      point(all[last], undefined, hit.node().getBoundingClientRect().top);
    });
}

/** An arm as a line; what its points are is for the caller to say. */
const armLine = (arm) => ({ key: arm.name, label: nameIn(0, arm), colour: armColour(arm), dash: dashOf(look(arm)),
  symbol: armSymbol(arm), strong: arm.reference, icon: () => iconOf(look(arm)) });

function xScale({ kind, values }, range) {
  if (kind === "ordinal") return d3.scalePoint().domain(values).range(range).padding(0.3);
  return (kind === "log" ? d3.scaleLog() : d3.scaleLinear()).domain(values.length ? d3.extent(values) : [0, 1])
    .range(range);
}

function yScale(lines, { log: logarithmic, range: [lowest, highest] = [null, null] }) {
  const values = lines.flatMap(({ points }) => points.flatMap(({ y, low, high }) => [y, low, high]))
    .filter((value) => !logarithmic || value > 0);
  const scale = (logarithmic ? d3.scaleLog() : d3.scaleLinear()).domain(values.length ? d3.extent(values) : [0.1, 1]);
  const [low, high] = scale.domain();
  if (!logarithmic) {
    const room = 0.03 * (high - low || Math.abs(high));
    const [from, to] = scale.domain([low - room, high + room]).nice().domain();
    // An axis has no values that the metric cannot have.
    return scale.domain([lowest !== null && low >= lowest ? Math.max(lowest, from) : from,
      highest !== null && high <= highest ? Math.min(highest, to) : to]);
  }
  if (high / low >= 5) return scale.domain([roundTo125(low, false), roundTo125(high, true)]);
  const room = low < high ? (high / low) ** 0.04 : 1.05;
  return scale.domain([low / room, high * room]);
}

/**
 * The lines that would leave the others no room: their greatest or their least value is far from those of the others,
 * on a logarithmic axis by its logarithm. A side on which the metric has a bound takes no room from the others, and a
 * reference is always shown.
 */
function farLines(lines, logarithmic, [lowest, highest] = [null, null]) {
  const on = (value) => (logarithmic ? Math.log(Math.max(value, Number.MIN_VALUE)) : value);
  const drawn = lines.filter(({ points }) => points.length);
  const ends = [...(highest === null ? [d3.max] : []), ...(lowest === null ? [d3.min] : [])];
  const far = ends.map((most) => outlying(drawn.map(({ points }) => on(most(points, ({ y }) => y)))));
  return new Set(drawn.filter((line, i) => !line.strong && far.some((which) => which[i])).map(({ key }) => key));
}

/** The lines that end outside of the axis, with their last points. */
function endsOutside(visible, y) {
  const [low, high] = y.domain();
  return visible.map((line) => [line, line.points[line.points.length - 1]])
    .filter(([, last]) => last && (last.y > high || last.y < low));
}

/** Names of lines that end outside of the axis, above or below the plot: an arrowhead, and the last value. */
function nameOutside(svg, { above, under, left, right, namesAt, floor }) {
  const write = (outside, from, turn) => outside.forEach(([{ colour, label }, last], i) => {
    const at = from + 16 * i, g = svg.append("g").attr("class", turn < 0 ? "outside above" : "outside under");
    g.append("path").attr("d", arrowhead(1, 6)).style("fill", colour)
      .attr("transform", `translate(${right - 7},${at}) rotate(${turn})`);
    fitText(g.append("text").attr("class", "soft label").attr("x", right - 18).attr("y", at).attr("dy", "0.35em")
      .attr("text-anchor", "end"), `${label}: ${last.cells[0]}`, right - left - 20);
  });
  write(above, namesAt, -90);
  write(under, floor + axisRoom + 8, 90);
}

/** The room of an axis' ticks and its label below a plot. */
const axisRoom = 42;

/** Within the axis' limits: a value that has its place on it. */
const onAxis = (scale, value) => value >= scale.domain()[0] && value <= scale.domain()[1];

/** How far lines of which each has a symbol at every x may stand beside each other: no symbol beyond the plot's edge. */
function sideStep(x, values, edge, lines) {
  const places = values.map(x).sort(d3.ascending), gap = d3.min(d3.pairs(places), ([one, next]) => next - one) || Infinity;
  return Math.max(0, Math.min(5, 0.75 * gap / (lines - 1), 2 * (places[0] - edge - 6) / (lines - 1)));
}

/**
 * Axes with their rules. `visible` lines are drawn, `most` of them lie within the axis. Returns the scales, the plot's
 * edges, and the places of names of lines outside, which are beside the plot.
 */
function drawAxes(svg, width, { x: across, y: up }, visible, most) {
  const wide = width > 620, y = yScale(most, up), outside = endsOutside(visible, y);
  const above = outside.filter(([, last]) => last.y > y.domain()[1]);
  const under = outside.filter(([, last]) => last.y < y.domain()[0]);
  const level = up.level && onAxis(y, up.level[0]) ? up.level : null;
  const namesAt = (up.label ? 20 : 0) + 10, top = namesAt + 16 * above.length + 4;
  const margin = { right: level ? 18 + widthOf([level[1]]) : 14, bottom: axisRoom + 16 * under.length };
  const height = (onPaper ? 270 : wide ? 400 : 300) + 16 * outside.length, ticks = wide ? 7 : 5, right = width - margin.right;
  svg.attr("height", height);
  y.range([height - margin.bottom, top]);
  const yTicks = up.ticks ? up.ticks(y, ticks, up.log) : up.log ? logTicks(y, wide ? 10 : 7) : y.ticks(ticks);
  const yText = up.text || (up.log ? d3.format("~g") : null);
  margin.left = Math.max(wide ? 56 : 40, 16 + widthOf(yTicks.map(yText || y.tickFormat(ticks))));
  const room = across.kind !== "ordinal"
    ? Math.min(12 + 2.5 * visible.length, 0.12 * (right - margin.left)) : 0;
  const x = xScale(across, [margin.left + room, right - room]);
  const step = visible.length > 1 && across.values.length
    ? sideStep(x, across.values, margin.left, visible.length) : 0;
  const xTicks = apart(across.values, x, 14 + widthOf(across.values.map(across.text)));

  svg.append("g").selectAll("line").data(yTicks).join("line").attr("class", "rule").attr("x1", margin.left)
    .attr("x2", right).attr("y1", y).attr("y2", y);
  svg.append("g").attr("class", "axis").attr("transform", `translate(${margin.left},0)`)
    .call(d3.axisLeft(y).tickValues(yTicks).tickSize(0).tickPadding(8).tickFormat(yText));
  svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height - margin.bottom})`)
    .call(d3.axisBottom(x).tickValues(xTicks).tickSize(5).tickFormat(across.text));
  svg.append("text").attr("class", "soft").attr("x", right).attr("y", height - margin.bottom + 36).attr("text-anchor", "end")
    .text(across.label);
  if (up.label) fitText(svg.append("text").attr("class", "soft").attr("x", 0).attr("y", 12), up.label, width - 4);
  return { x, y, left: margin.left, right, top, floor: height - margin.bottom, step, level, above, under, namesAt };
}

/**
 * A section with a figure of lines, whose points have symbols and whiskers. `plot()` says what is to be drawn now:
 *   lines  [{key, label, icon(), colour, dash, symbol, strong, points: [{x, y, low, high, cells}]}]; `cells` are what a
 *          tooltip says of a point
 *   x      {kind: "linear" | "log" | "ordinal", values, label, text(value)}
 *   y      {log, label, text(value), ticks(scale, most, log), level: [value, name]}: all but `log` may be lacking
 * Returns {redraw, renew}: the latter has a new legend, too, for where `plot()` has other lines than before.
 */
function lineSection(id, title, caption, tools, plot) {
  const hidden = new Set();
  let lit = null, zoomed = true, plots = 0;
  const zoom = mostOrAll("arms", true, (value) => {
    zoomed = value;
    shown.redraw();
  });

  function draw(svg, width) {
    const shape = plot(), visible = shape.lines.filter(({ key }) => !hidden.has(key));
    const far = farLines(visible, shape.y.log, shape.y.range), most = visible.filter(({ key }) => !zoomed || !far.has(key));
    zoom.hidden = !far.size;
    const axes = drawAxes(svg, width, shape, visible, most), { x, y, left, right, top, floor } = axes;
    plots += 1;
    const clip = `${id}-plot-${plots}`;
    svg.append("clipPath").attr("id", clip).append("rect").attr("x", left - 8).attr("y", top - 8)
      .attr("width", Math.max(0, right - left + 22)).attr("height", floor - top + 16);
    const low = y.domain()[0], at = (value) => y(shape.y.log ? Math.max(value, low) : value);

    if (axes.level) {
      const [level, name] = axes.level;
      svg.append("line").attr("class", "chance").attr("x1", left).attr("x2", right).attr("y1", at(level))
        .attr("y2", at(level));
      svg.append("text").attr("class", "soft label").attr("x", right + 12).attr("y", at(level)).attr("dy", "0.35em")
        .text(name);
    }
    // Whiskers of several lines at one x stand side by side.
    const lines = visible.map((line, i) => ({ ...line, points: line.points.map((point) => ({ ...point, at: point.x,
      place: [x(point.x) + (i - (visible.length - 1) / 2) * axes.step, at(point.y)] })) }));
    svg.append("g").selectAll("g").data(lines).join("g").attr("class", "curve").attr("clip-path", `url(#${clip})`)
      .style("opacity", ({ key }) => (lit !== null && lit !== key ? 0.25 : 1))
      .each(function drawLine({ colour, dash, symbol, strong, points }) {
        const g = d3.select(this);
        g.append("path").attr("class", "line").style("stroke", colour).attr("stroke-dasharray", dash)
          .style("stroke-width", strong ? 2.6 : null).attr("d", d3.line()(points.map(({ place }) => place)));
        for (const { low: from, high: to, place: [px] } of points.filter((point) => point.low < point.high))
          g.append("path").attr("class", "whisker").style("stroke", colour).style("stroke-width", 1.4)
            .attr("d", `M${px},${at(from)}V${at(to)}`);
        g.selectAll(".point").data(points).join("path").attr("class", "point").style("fill", colour)
          .attr("d", symbolPath(symbol, 72)).attr("transform", ({ place }) => `translate(${place})`);
      });
    nameOutside(svg, axes);
    const hit = svg.append("rect").attr("class", "hit").attr("x", left).attr("y", top)
      .attr("width", Math.max(0, right - left)).attr("height", floor - top);
    addCursor(svg, hit, { title, axis: shape.x.label, lines: () => lines });
  }

  const legend = element("ul", { class: "legend", "aria-label": "Arms" });
  const shown = figure(id, title, caption, [...tools, zoom], draw);
  function light(value) {
    lit = value;
    shown.redraw();
  }
  function renew() {
    fillLegend(legend, plot().lines, hidden, light);
    light(null);
  }
  fillLegend(legend, plot().lines, hidden, light);
  shown.node.querySelector(".tools").after(legend);
  section(id, title, shown.node);
  return { redraw: shown.redraw, renew };
}
