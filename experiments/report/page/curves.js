// Learning curves: the mean over an arm's seeds with a band, or each run by itself.

function drawCurves() {
  const drawn = arms.filter((arm) => arm.curve.step.length > 1);
  if (!drawn.length) return;
  const hidden = new Set();
  let band = "range", logarithmic = false, lit = null;
  const shownArms = () => drawn.filter((arm) => !hidden.has(arm.index));

  /** What the band spans at a point: [low, high]. */
  const span = (arm, i) => {
    const { mean, low, high, standard_deviation: spread } = arm.curve;
    return band === "range" ? [low[i], high[i]] : [mean[i] - (spread[i] || 0), mean[i] + (spread[i] || 0)];
  };
  const points = (arm) => d3.range(arm.curve.step.length).filter((i) => arm.curve.mean[i] !== null);
  const positive = drawn.every((arm) => arm.curve.low.every((value) => value === null || value > 0));

  function draw(svg, width) {
    const wide = width > 620, height = wide ? 400 : 300;
    const margin = { left: 56, right: 14, top: 12, bottom: 42 };
    svg.attr("height", height);
    const visible = shownArms();
    const values = visible.flatMap((arm) => points(arm).flatMap((i) => (band === "runs"
      ? [arm.curve.low[i], arm.curve.high[i]] : span(arm, i)))).filter((v) => !logarithmic || v > 0);
    const x = d3.scaleLinear().domain(d3.extent(drawn.flatMap((arm) => arm.curve.step)))
      .range([margin.left, width - margin.right]);
    const y = (logarithmic ? d3.scaleLog() : d3.scaleLinear())
      .domain(values.length ? d3.extent(values) : [0, 1]).nice().range([height - margin.bottom, margin.top]);
    const low = y.domain()[0], clamp = (v) => (logarithmic ? Math.max(v, low) : v);

    const ticks = y.ticks(wide ? 7 : 5);
    svg.append("g").selectAll("line").data(ticks).join("line").attr("class", "rule").attr("x1", margin.left)
      .attr("x2", width - margin.right).attr("y1", y).attr("y2", y);
    svg.append("g").attr("class", "axis").attr("transform", `translate(${margin.left},0)`)
      .call(d3.axisLeft(y).tickValues(ticks).tickSize(0).tickPadding(8)
        .tickFormat(logarithmic ? d3.format("~g") : null));
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height - margin.bottom})`)
      .call(d3.axisBottom(x).ticks(wide ? 8 : 4).tickSize(5).tickFormat(withCommas));
    svg.append("text").attr("class", "soft").attr("x", width - margin.right).attr("y", height - 6)
      .attr("text-anchor", "end").text("step");
    if (report.chance && report.chance.accuracy >= y.domain()[0]) {
      const at = y(report.chance.accuracy);
      svg.append("line").attr("class", "chance").attr("x1", margin.left).attr("x2", width - margin.right)
        .attr("y1", at).attr("y2", at);
      svg.append("text").attr("class", "soft label").attr("x", width - margin.right).attr("y", at - 5)
        .attr("text-anchor", "end").text("chance");
    }

    const faded = (arm) => (lit !== null && lit !== arm.index ? 0.25 : 1);
    const groups = svg.append("g").selectAll("g").data(visible).join("g").attr("class", "curve")
      .style("opacity", faded);
    const line = d3.line().x(([step]) => x(step)).y(([, value]) => y(clamp(value)));
    groups.each(function drawArm(arm) {
      const g = d3.select(this), at = points(arm), step = arm.curve.step;
      if (band === "runs") {
        for (const run of arm.runs)
          if (run.curve.step.length > 1)
            g.append("path").attr("class", "single").style("stroke", armColour(arm))
              .attr("d", line(run.curve.step.map((s, i) => [s, run.curve.value[i]])));
      } else {
        g.append("path").attr("class", "area").style("fill", armColour(arm))
          .attr("d", d3.area().x((i) => x(step[i])).y0((i) => y(clamp(span(arm, i)[0])))
            .y1((i) => y(clamp(span(arm, i)[1])))(at));
      }
      g.append("path").attr("class", "line").style("stroke", armColour(arm)).attr("stroke-dasharray", armDash(arm))
        .style("stroke-width", arm.reference ? 2.6 : null)
        .attr("d", line(at.map((i) => [step[i], arm.curve.mean[i]])));
    });

    svg.select(".label").raise();  // "chance", which the lines would cover

    // The cursor: by pointer, or by the arrow keys.
    const steps = [...new Set(visible.flatMap((arm) => arm.curve.step))].sort((a, b) => a - b);
    const cursor = svg.append("line").attr("class", "cursor").attr("y1", margin.top).attr("y2", height - margin.bottom)
      .attr("visibility", "hidden");
    const dots = svg.append("g").attr("class", "cursor");
    let place = steps.length - 1;
    function point(step, clientX, clientY) {
      cursor.attr("x1", x(step)).attr("x2", x(step)).attr("visibility", null);
      const there = visible.map((arm) => [arm, arm.curve.step.indexOf(step)])
        .filter(([arm, i]) => i >= 0 && arm.curve.mean[i] !== null)
        .sort(([a, i], [b, j]) => b.curve.mean[j] - a.curve.mean[i]);
      dots.selectAll("circle").data(there).join("circle").attr("r", 3.4).attr("class", "point")
        .style("fill", ([arm]) => armColour(arm)).attr("cx", x(step))
        .attr("cy", ([arm, i]) => y(clamp(arm.curve.mean[i])));
      showTooltip(clientX, clientY, `step ${withCommas(step)}`, there.map(([arm, i]) => [armIcon(arm), arm.label,
        valueText(arm.curve.mean[i]), arm.curve.standard_deviation[i] === null ? ""
          : `± ${valueText(arm.curve.standard_deviation[i])}`]));
    }
    function leave() {
      cursor.attr("visibility", "hidden");
      dots.selectAll("*").remove();
      hideTooltip();
    }
    svg.append("rect").attr("class", "hit").attr("x", margin.left).attr("y", margin.top)
      .attr("width", Math.max(0, width - margin.left - margin.right))
      .attr("height", height - margin.top - margin.bottom).attr("tabindex", 0).attr("role", "img")
      .attr("aria-label", "Learning curves; the arrow keys move through the steps")
      .on("pointermove", function moved() {
        if (!steps.length) return;
        const at = x.invert(d3.mouse(this)[0]);
        place = d3.scan(steps, (a, b) => Math.abs(a - at) - Math.abs(b - at));
        point(steps[place], d3.event.clientX, d3.event.clientY);
      })
      .on("pointerleave", leave)
      .on("blur", leave)
      .on("keydown", function pressed() {
        const by = { ArrowLeft: -1, ArrowRight: 1 }[d3.event.key];
        if (!by || !steps.length) return;
        d3.event.preventDefault();
        place = Math.max(0, Math.min(steps.length - 1, place + by));
        const box = this.getBoundingClientRect();
        point(steps[place], box.left + x(steps[place]) - margin.left, box.top);
      });
  }

  const kinds = [["range", "range"], ["deviation", "± sd"], ["runs", "each run"]];
  const tools = [choice("band", kinds, band, (value) => { band = value; shown.redraw(); })];
  if (positive) tools.push(choice("scale", [[false, "linear"], [true, "log"]], false,
    (value) => { logarithmic = value; shown.redraw(); }));
  const shown = figure("curves", "Learning curves", `${report.metric.name}${unit} of the evaluations while training. ` +
    "Lines are means over an arm's seeds; the band spans the lowest to the highest seed, or a standard deviation to " +
    "either side.", tools, draw);

  const legend = element("ul", { class: "legend", "aria-label": "Arms" });
  for (const arm of drawn) {
    const light = (index) => () => { lit = index; shown.redraw(); };
    legend.append(element("li", {}, element("button", { type: "button", class: "toggle", "aria-pressed": "true",
      on: {
        click(event) {
          const button = event.currentTarget, hide = !hidden.has(arm.index);
          if (hide) hidden.add(arm.index); else hidden.delete(arm.index);
          button.setAttribute("aria-pressed", String(!hide));
          lit = null;
          shown.redraw();
        },
        pointerenter: light(arm.index), pointerleave: light(null),
      } }, armIcon(arm), arm.label)));
  }
  shown.node.querySelector(".tools").after(legend);
  section("curves", "Learning curves", shown.node);
}
