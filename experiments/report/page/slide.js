// The answers as one large figure, for a slide.

const mostRows = 9;  // that can be read from the last row of a room

/** The first of these attempts that fits; else the last. */
const firstFit = (attempts) => attempts.find(({ fits }) => fits) || attempts[attempts.length - 1];

/** The title's lines: in large letters, if it is long in smaller ones. */
function slideTitle(text, width) {
  return firstFit([[50, 2], [42, 3], [36, 4]].map(([size, most]) => {
    const font = `600 ${fontOf(size, "--serif")}`, lines = linesOf(text, width, most, { font });
    return { size, lines, fits: widthOf(lines, font) <= width };
  }));
}

/** How many arms the slide has, and in which size their names, so that all names are whole: {count, size, lines}. */
function slideNames(all, height, width) {
  const attempt = (count, size) => {
    // Between the names of two arms is at least a quarter of a line.
    const font = fontOf(size), row = Math.min(100, height / count), most = Math.floor((row / size - 0.3) / 1.2);
    const lines = all.slice(0, count).map(({ label }) => linesOf(label, width, most, { font }));
    return { count, size, lines, row, fits: most > 0 && widthOf(lines.flat(), font) <= width };
  };
  const counts = d3.range(Math.min(mostRows, all.length), 3, -1);
  const found = firstFit((counts.length ? counts : [all.length]).flatMap((count) =>
    [33, 29, 25].map((size) => attempt(count, size))));
  return found.fits ? found : attempt(Math.min(mostRows, all.length), 25);
}

/** An SVG as a PNG of twice its size, to be downloaded. */
function savePng(svg, name) {
  const image = new Image(), width = Number(svg.getAttribute("width")), height = Number(svg.getAttribute("height"));
  image.addEventListener("load", () => {
    const canvas = element("canvas", { width: 2 * width, height: 2 * height });
    canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
    canvas.toBlob((blob) => download(blob, `${name}.png`), "image/png");
  });
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standalone(svg))}`;
}

/** Arms for the slide: those that differ, the clearest first; then the others, the largest difference first. */
function slideOrder() {
  const differs = (arm) => !["same", "undecided"].includes(verdict(arm)), size = (arm) => Math.abs(arm.comparison.difference);
  const all = clearestFirst.filter((arm) => arm.comparison);
  return [...all.filter(differs), ...all.filter((arm) => !differs(arm)).sort((a, b) => size(b) - size(a))];
}

/** Draws the clearest of these arms, and returns them: as many as there is room for. */
function drawTalkFigure(svg, all) {
  const width = 1600, height = 900, edge = 60, names = 430, floor = 772;
  const title = slideTitle(report.question || report.name, width - 2 * edge), lead = 1.16 * title.size;
  title.lines.forEach((line, i) => fitText(svg.append("text").attr("class", "title")
    .style("font-size", `${title.size}px`).attr("x", edge).attr("y", 42 + title.size + lead * i), line, width - 2 * edge));
  const top = 60 + title.size + lead * title.lines.length;
  const { count, size: nameSize, lines: nameLines, row } = slideNames(all, floor - top, names);
  const shown = all.slice(0, count);
  // What the names leave free is for the numbers.
  const free = Math.max(0, names - 10 - widthOf(nameLines.flat(), fontOf(nameSize)));
  const forest = [510 - free, 800 - free], number = 930 - 0.7 * free, brackets = number + 13, words = 1258;

  const { is_cut: isCut, x: axis } = report.figures[0];  // differences stand before all other figures
  const line = report.figures[0].margin_line, band = asksNotWorse ? 0 : report.margin || 0;
  const [least, most] = isCut ? [axis.low, axis.high] : d3.extent([0, line || 0, band, -band,
    ...shown.flatMap(({ comparison: { difference, interval } }) => [difference,
      ...(interval || []).filter((end) => end !== null)])]);
  const pad = 0.04 * (most - least || 1);
  const x = d3.scaleLinear().domain([least - pad, most + pad]).range(forest), bottom = top + row * shown.length;
  const inside = (value) => Math.max(forest[0], Math.min(forest[1], x(value)));
  const outside = (value) => (x(value) < forest[0] ? -1 : x(value) > forest[1] ? 1 : 0);
  if (band) svg.append("rect").attr("class", "margin").attr("x", x(-band)).attr("y", top)
    .attr("width", x(band) - x(-band)).attr("height", bottom - top);
  if (line) svg.append("line").attr("class", "worse").attr("stroke-width", 3).attr("stroke-dasharray", "12 8")
    .attr("x1", inside(line)).attr("x2", inside(line)).attr("y1", top).attr("y2", bottom);
  svg.append("line").attr("class", "zero").attr("x1", x(0)).attr("x2", x(0)).attr("y1", top).attr("y2", bottom);
  // Ticks that have room for their numbers, 0 before all others.
  const tickText = d3.format("~g"), ticks = [];
  const room = 30 + 14 * d3.max(x.ticks(3), (value) => tickText(value).length);
  for (const value of x.ticks(3).sort((a, b) => Math.abs(a) - Math.abs(b)))
    if (ticks.every((other) => Math.abs(x(other) - x(value)) >= room)) ticks.push(value);
  svg.append("g").selectAll("text").data(ticks).join("text").attr("class", "small soft").attr("x", x)
    .attr("y", bottom + 34).attr("text-anchor", "middle").text((value) => minus(tickText(value)));

  shown.forEach((arm, i) => {
    const name = verdict(arm), { difference } = arm.comparison, interval = endsOf(arm.comparison);
    const middle = top + (i + 0.5) * row, at = (text) => text.attr("y", middle).attr("dy", "0.35em");
    const g = svg.append("g").attr("class", "talk-row");
    if (i) g.append("line").attr("class", "rule").attr("x1", edge).attr("x2", width - edge).attr("y1", top + i * row)
      .attr("y2", top + i * row);
    writeLines(g.append("text").attr("x", edge).attr("y", middle).style("font-size", `${nameSize}px`), nameLines[i],
      names);
    if (interval) g.append("line").attr("class", `whisker ${name}`).attr("x1", inside(interval[0]))
      .attr("x2", inside(interval[1])).attr("y1", middle).attr("y2", middle);
    for (const end of interval || [])
      if (outside(end) && outside(end) !== outside(difference)) g.append("path").attr("class", `whisker continues ${name}`)
        .attr("d", continues(outside(end), 12)).attr("transform", `translate(${inside(end)},${middle})`);
    const mark = g.append("path").attr("class", `mark ${name}`)
      .attr("transform", `translate(${inside(difference)},${middle})`);
    if (outside(difference)) mark.attr("d", arrowhead(outside(difference), 17));
    else mark.attr("d", symbolPath(verdicts[name][1], 420)).call(outlined, name);
    const [text, interval95] = comparisonTexts(arm), equal = arm.comparison.answer === "equal";
    at(g.append("text")).attr("class", "number strong").attr("x", equal ? forest[1] + 30 : number)
      .attr("text-anchor", equal ? "start" : "end").text(text);
    at(g.append("text")).attr("class", "interval soft").attr("x", brackets).text(interval95);
    g.append("path").attr("class", `mark ${name}`).attr("transform", `translate(${words},${middle})`)
      .attr("d", symbolPath(verdicts[name][1], 420)).call(outlined, name);
    const word = at(g.append("text")).attr("x", words + 26).text(arm.comparison.answer);
    if (!arm.limit) return;
    word.attr("y", middle - 11);
    at(g.append("text")).attr("class", "small soft limit").attr("x", words + 26).attr("y", middle + 20).text(arm.limit);
  });
  // All numbers as large as the longest leaves room for.
  const longest = (name) => d3.max(svg.selectAll(name).nodes(), (node) => node.getComputedTextLength()) || 1;
  const size = 29 * Math.min(1, (words - 20 - brackets) / longest(".interval"),
    (number - forest[1] - 12) / longest(".number:not([text-anchor=start])"));
  svg.selectAll(".interval, .number").style("font-size", `${size}px`);
  const rest = compared.length - shown.length, { metric } = report;
  // An answer that a look found is of that look's seeds.
  const [fewest, largest] = d3.extent(shown, ({ comparison }) => comparison.pairs || comparison.seeds.length);
  const seeds = `${fewest === largest ? "" : `${fewest} to `}${largest} seed${largest === 1 ? "" : "s"}`;
  const intervals = haveIntervals(shown) ? `, ${confidence} intervals` : "";
  const foot = `${metric.name}${unit}, ${metric.direction}: difference from ` +
    `the reference${intervals}, ${seeds}` +
    `${report.margin ? `, margin ${line ? minus(String(line)) : `±${report.margin}`}` : ""}` +
    `${rest ? `; and ${rest} more` : ""}${report.table ? "; made elsewhere, no plan" : ""}`;
  fitText(svg.append("text").attr("class", "small soft").attr("x", edge).attr("y", height - 34), foot,
    width - 2 * edge);
  return shown;
}

function drawTalk() {
  if (!compared.length) return;
  const caption = element("figcaption");
  const chart = element("div", { class: "chart talk", tabindex: 0, role: "region",
    "aria-label": "The answers, for a talk" });
  const save = (text, how) => element("button", { type: "button", class: "save",
    on: { click: () => how(chart.querySelector("svg"), "answers") } }, text);
  section("talk", "For a talk", element("figure", { id: "figure-talk" },
    element("div", { class: "tools" }, save("Save SVG", saveSvg), save("Save PNG", savePng)), chart,
    caption));
  const svg = d3.select(chart).append("svg").attr("width", 1600).attr("height", 900).attr("viewBox", "0 0 1600 900")
    .attr("role", "img");
  const shown = drawTalkFigure(svg, slideOrder());
  svg.attr("aria-label", shown.map((arm) => arm.sentence).join(" "));
  caption.append("The answers in one wide figure: arms that differ, the clearest first, then the others by the size of their difference" +
    `${compared.length > shown.length ? `, ${shown.length} of the ${compared.length} arms that have a difference` : ""}. ` +
    "It has the colours that this page has now, dark or light." +
    (report.figures[0].is_cut ? " Arrowheads point to arms outside the axis." : ""));
}
