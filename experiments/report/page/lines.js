// Lines over a common x, with a band or whiskers, and a legend that switches them.

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

/** An arm as a line; what its points are is for the caller to say. */
const armLine = (arm, group, together) => ({ key: together ? arm.label : arm.name, label: nameIn(group, arm),
  colour: armColour(arm), dash: armDash(arm, together), symbol: armSymbol(arm), strong: arm.reference, look: look(arm),
  icon: () => armIcon(arm, together) });

/** Points of means over seeds, {mean, low, high, standard_deviation, texts}; the band is the range, or a deviation. */
function seedPoints(xs, { mean, low, high, standard_deviation: spread, texts }, band, range) {
  return d3.range(xs.length).filter((i) => mean[i] !== null).map((i) => ({ x: xs[i], y: mean[i],
    low: band === "deviation" ? withinRange(range, mean[i] - (spread[i] || 0)) : low[i],
    high: band === "deviation" ? withinRange(range, mean[i] + (spread[i] || 0)) : high[i],
    cells: texts[i] }));
}

function xScale({ kind, values }, range) {
  if (kind === "ordinal") return d3.scalePoint().domain(values).range(range).padding(0.3);
  return (kind === "log" ? d3.scaleLog() : d3.scaleLinear()).domain(values.length ? d3.extent(values) : [0, 1])
    .range(range);
}

/** Symbols need some room that lines don't; bands that are not drawn need none. */
function yScale(lines, { log: logarithmic, range: [lowest, highest] = [null, null] }, marks, bands) {
  const values = lines.flatMap(({ points }) => points.flatMap(({ y, low, high }) => (bands ? [y, low, high] : [y])))
    .filter((value) => !logarithmic || value > 0);
  const scale = (logarithmic ? d3.scaleLog() : d3.scaleLinear()).domain(values.length ? d3.extent(values) : [0.1, 1]);
  const [low, high] = scale.domain();
  if (!logarithmic) {
    const room = marks ? 0.03 * (high - low || Math.abs(high)) : 0;
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

/** Bands that lie over each other add up; where they are many, only that of the arm that is picked is drawn. */
const mostBands = 6;
const bandOpacity = (bands) => 0.16 / (1 + 0.35 * (Math.min(bands, mostBands) - 1));

/** Some six of a line's points, for its symbol, which tells it from others without colour; not where others' are. */
function someOf(points, offset) {
  const every = Math.max(1, Math.round(points.length / 6));
  return points.filter((point, i) => i % every === offset % every);
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
 * edges, and the places of texts, which are all beside the plot: names of lines outside, and that of the mark.
 */
function drawAxes(svg, width, { x: across, y: up, marks }, visible, most) {
  const bands = marks || visible.length <= mostBands || visible.some(({ runs }) => runs);
  const wide = width > 620, y = yScale(most, up, marks, bands), outside = endsOutside(visible, y);
  const above = outside.filter(([, last]) => last.y > y.domain()[1]);
  const under = outside.filter(([, last]) => last.y < y.domain()[0]);
  const level = up.level && onAxis(y, up.level[0]) ? up.level : null;
  const namesAt = (up.label ? 20 : 0) + 10, top = namesAt + 16 * above.length + (across.mark ? 18 : 4);
  const margin = { right: level ? 18 + widthOf([level[1]]) : 14, bottom: axisRoom + 16 * under.length };
  const height = (onPaper ? 270 : wide ? 400 : 300) + 16 * outside.length, ticks = wide ? 7 : 5, right = width - margin.right;
  svg.attr("height", height);
  y.range([height - margin.bottom, top]);
  const yTicks = up.ticks ? up.ticks(y, ticks, up.log) : up.log ? logTicks(y, wide ? 10 : 7) : y.ticks(ticks);
  const yText = up.text || (up.log ? d3.format("~g") : null);
  margin.left = Math.max(wide ? 56 : 40, 16 + widthOf(yTicks.map(yText || y.tickFormat(ticks))));
  const room = marks && across.kind !== "ordinal"
    ? Math.min(12 + 2.5 * visible.length, 0.12 * (right - margin.left)) : 0;
  const x = xScale(across, [margin.left + room, right - room]);
  const step = marks && visible.length > 1 && across.values.length
    ? sideStep(x, across.values, margin.left, visible.length) : 0;
  const own = across.kind === "ordinal" || marks;
  const xTicks = own ? apart(across.values, x, 14 + widthOf(across.values.map(across.text)))
    : roomyTicks(x, wide ? 8 : 4, across.text).filter(Number.isInteger);

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
 * A section with a figure of lines. `plot()` says what is to be drawn now:
 *   lines  [{key, label, icon(), colour, dash, symbol, look, strong, points: [{x, y, low, high, cells}], runs}];
 *          `cells` are what a tooltip says of a point; where a line has `runs`, lists of [x, y], they take the band's
 *          place
 *   x      {kind: "linear" | "log" | "ordinal", values, label, text(value), mark: [value, name]}; `mark` may be lacking
 *   y      {log, label, text(value), ticks(scale, most, log), level: [value, name]}: all but `log` may be lacking
 *   marks  whether points are few: then they have symbols and whiskers instead of a band
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
    const shape = plot(), { marks } = shape, visible = shape.lines.filter(({ key }) => !hidden.has(key));
    const far = farLines(visible, shape.y.log, shape.y.range), most = visible.filter(({ key }) => !zoomed || !far.has(key));
    zoom.hidden = !far.size;
    const axes = drawAxes(svg, width, shape, visible, most), { x, y, left, right, top, floor } = axes;
    plots += 1;
    const clip = `${id}-plot-${plots}`;
    svg.append("clipPath").attr("id", clip).append("rect").attr("x", left - 8).attr("y", top - 8)
      .attr("width", Math.max(0, right - left + 22)).attr("height", floor - top + 16);
    const low = y.domain()[0], at = (value) => y(shape.y.log ? Math.max(value, low) : value);
    // Whiskers of several lines at one x stand side by side.
    const beside = new Map(visible.map(({ key }, i) => [key, (i - (visible.length - 1) / 2) * axes.step]));

    if (axes.level) {
      const [level, name] = axes.level;
      svg.append("line").attr("class", "chance").attr("x1", left).attr("x2", right).attr("y1", at(level))
        .attr("y2", at(level));
      svg.append("text").attr("class", "soft label").attr("x", right + 12).attr("y", at(level)).attr("dy", "0.35em")
        .text(name);
    }
    if (shape.x.mark && shape.x.kind !== "ordinal" && onAxis(x, shape.x.mark[0])) {
      const at0 = x(shape.x.mark[0]), half = widthOf([shape.x.mark[1]]) / 2;
      svg.append("line").attr("class", "chance mark-x").attr("x1", at0).attr("x2", at0).attr("y1", top - 10)
        .attr("y2", floor);
      svg.append("text").attr("class", "soft label mark-x").attr("x", Math.max(half, Math.min(width - half, at0)))
        .attr("y", top - 14).attr("text-anchor", "middle").text(shape.x.mark[1]);
    }
    const layer = (name) => svg.append("g").selectAll("g").data(visible).join("g").attr("class", name)
      .attr("clip-path", `url(#${clip})`)
      .style("opacity", ({ key }) => (lit !== null && lit !== key ? 0.25 : 1));
    const place = ({ key }, value) => x(value) + beside.get(key);
    const path = (line) => d3.line().x(([value]) => place(line, value)).y(([, value]) => at(value));
    // Bands and single runs beneath the lines of all; the more bands there are, the fainter each is.
    layer("beneath").each(function drawBand(shown) {
      const g = d3.select(this), { colour, points, runs } = shown;
      if (runs) {
        for (const run of runs)
          g.append("path").attr("class", "single").style("stroke", colour).attr("d", path(shown)(run));
      } else if (!marks && (visible.length <= mostBands || lit === shown.key)) {
        g.append("path").attr("class", "area").style("fill", colour).style("opacity", bandOpacity(visible.length))
          .attr("d", d3.area().x((point) => place(shown, point.x)).y0((point) => at(point.low))
            .y1((point) => at(point.high))(points));
      }
    });
    layer("curve").each(function drawLine(shown) {
      const { colour, dash, symbol, strong, points } = shown, g = d3.select(this), px = (value) => place(shown, value);
      g.append("path").attr("class", "line").style("stroke", colour).attr("stroke-dasharray", dash)
        .style("stroke-width", strong ? 2.6 : null).attr("d", path(shown)(points.map((point) => [point.x, point.y])));
      if (!marks) {
        g.selectAll(".symbol").data(someOf(points, shown.look)).join("path").attr("class", "symbol")
          .style("fill", colour).attr("d", symbolPath(symbol, 52))
          .attr("transform", (point) => `translate(${px(point.x)},${at(point.y)})`);
        return;
      }
      for (const point of points.filter(({ low: from, high: to }) => from < to))
        g.append("path").attr("class", "whisker").style("stroke", colour).style("stroke-width", 1.4)
          .attr("d", `M${px(point.x)},${at(point.low)}V${at(point.high)}`);
      g.selectAll(".point").data(points).join("path").attr("class", "point").style("fill", colour)
        .attr("d", symbolPath(symbol, 72)).attr("transform", (point) => `translate(${px(point.x)},${at(point.y)})`);
    });
    nameOutside(svg, axes);
    drawCursor(svg, shape, visible, { x, at, left, right, top, floor, beside });
  }

  /** The cursor: by pointer, or by the arrow keys. */
  function drawCursor(svg, shape, visible, { x, at, left, right, top, floor, beside }) {
    const present = new Set(visible.flatMap(({ points }) => points.map((point) => point.x)));
    const stops = shape.x.values.filter((value) => present.has(value));
    const cursor = svg.append("line").attr("class", "cursor").attr("y1", top).attr("y2", floor)
      .attr("visibility", "hidden");
    const dots = svg.append("g").attr("class", "cursor");
    let place = stops.length - 1;
    function point(stop, clientX, clientY) {
      cursor.attr("x1", x(stop)).attr("x2", x(stop)).attr("visibility", null);
      const there = visible.map((line) => [line, line.points.find((candidate) => candidate.x === stop)])
        .filter(([, found]) => found).sort(([, a], [, b]) => b.y - a.y);
      if (!shape.marks) dots.selectAll("circle").data(there).join("circle").attr("r", 3.4).attr("class", "point")
        .style("fill", ([line]) => line.colour).attr("cx", ([line]) => x(stop) + beside.get(line.key))
        .attr("cy", ([, found]) => at(found.y));
      showTooltip(clientX, clientY, `${shape.x.label} ${shape.x.text(stop)}`,
        there.map(([line, found]) => [line.icon(), line.label, ...found.cells]));
    }
    function leave() {
      cursor.attr("visibility", "hidden");
      dots.selectAll("*").remove();
      hideTooltip();
    }
    svg.append("rect").attr("class", "hit").attr("x", left).attr("y", top).attr("width", Math.max(0, right - left))
      .attr("height", floor - top).attr("tabindex", 0).attr("role", "img")
      .attr("aria-label", `${title}; the arrow keys move along`)
      .on("pointermove", function moved() {
        if (!stops.length) return;
        const here = d3.mouse(this)[0];
        place = d3.scan(stops, (a, b) => Math.abs(x(a) - here) - Math.abs(x(b) - here));
        point(stops[place], d3.event.clientX, d3.event.clientY);
      })
      .on("pointerleave", leave)
      .on("blur", leave)
      .on("keydown", function pressed() {
        const by = { ArrowLeft: -1, ArrowRight: 1 }[d3.event.key];
        if (!by || !stops.length) return;
        d3.event.preventDefault();
        place = Math.max(0, Math.min(stops.length - 1, place + by));
        const box = this.getBoundingClientRect();
        point(stops[place], box.left + x(stops[place]) - left, box.top);
      });
  }

  const legend = element("ul", { class: "legend", "aria-label": "Arms" });
  const shown = figure(id, title, caption, [...tools, zoom], draw);
  function fillLegend() {
    legend.replaceChildren(...plot().lines.map(({ key, label, icon }) => {
      const light = (value) => () => { lit = value; shown.redraw(); };
      return element("li", {}, element("button", { type: "button", class: "toggle",
        "aria-pressed": String(!hidden.has(key)), on: {
          click(event) {
            const hide = !hidden.has(key);
            if (hide) hidden.add(key); else hidden.delete(key);
            event.currentTarget.setAttribute("aria-pressed", String(!hide));
            lit = null;
            shown.redraw();
          },
          pointerenter: light(key), pointerleave: light(null), focus: light(key), blur: light(null),
        } }, icon(), unbroken(label)));
    }));
  }
  function renew() {
    lit = null;
    fillLegend();
    shown.redraw();
  }
  fillLegend();
  shown.node.querySelector(".tools").after(legend);
  section(id, title, shown.node);
  return { redraw: shown.redraw, renew };
}
