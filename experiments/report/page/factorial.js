// Two options crossed, or arms and groups: a heat map with a cell for each arm.

/** A value as people read it, of one as TOML has it. */
const plainValue = (text) => (/^".*"$/.test(text) ? text.slice(1, -1) : text);

/** Options as labels have them: "score" for attention.score, "position" for position.kind, the whole for two alike. */
const shortKeys = (keys) => {
  const last = (key) => key.replace(/\.kind$/, "").replace(/^.*\./, "").replace(/_/g, " ");
  return keys.map((key) => (keys.filter((other) => last(other) === last(key)).length > 1 ? key : last(key)));
};

/** Values in their order: numbers as numbers, words as they come. */
function inOrder(values) {
  const all = [...new Set(values)];
  return all.every((value) => value !== "" && Number.isFinite(Number(value))) ? all.sort((a, b) => a - b) : all;
}

/** What an arm changes by itself: not what makes its group, nor what evens it out. */
const ownChanges = (arm) => arm.changes.filter(({ key }) => !within.some((option) => option.key === key) &&
  !(notesOf("matching").length && key === "block.ffn_width"));

/**
 * Two options as a table of the arms that change nothing else, in every group: {title, names: [row, column], rows,
 * columns, at(row, column, group)}; null where fewer than half of the cells, or than four, have an arm.
 */
function crossingOf(keys) {
  const cells = new Map(), values = [[], []], cellKey = (pair, group) => JSON.stringify([...pair, group]);
  const told = new Map(arms.flatMap((arm) => arm.differences).filter(({ reference }) => reference !== "")
    .map(({ key, reference }) => [key, plainValue(reference)]));
  const pairs = arms.filter((arm) => ownChanges(arm).every(({ key }) => keys.includes(key))).map((arm) => {
    const own = new Map(ownChanges(arm).map(({ key, value }) => [key, value]));
    return { arm, pair: keys.map((key) => (own.has(key) ? own.get(key) : told.get(key) || "the reference's")) };
  });
  // A reference that shares neither value with any arm is no part of the table.
  const shares = ({ arm, pair }) => !arm.reference || pairs.some((other) => !other.arm.reference &&
    other.pair.some((value, i) => value === pair[i]));
  for (const { arm, pair } of pairs.filter(shares)) {
    cells.set(cellKey(pair, arm.place), arm);
    pair.forEach((value, i) => values[i].push(value));
  }
  const [first, second] = values.map(inOrder), filled = cells.size / groups.length;
  if (first.length < 2 || second.length < 2 || filled < 4 || 2 * filled <= first.length * second.length) return null;
  const names = shortKeys(keys), at = (row, column, group) => cells.get(cellKey([row, column], group)) || null;
  // Many values stand beneath each other, where there is room.
  return second.length > first.length
    ? { title: names.join(" × "), names: [names[1], names[0]], rows: second, columns: first,
      at: (row, column, group) => at(column, row, group) }
    : { title: names.join(" × "), names, rows: first, columns: second, at };
}

/** All that is crossed in this report. */
function crossings() {
  const found = [], pairs = new Map();
  const rows = [...new Set(arms.map((arm) => arm.name))];
  if (groups.length > 1 && rows.length > 1) {
    const of = (name, text) => arms.find((arm) => arm.name === name && groups[arm.place].text === text) || null;
    found.push({ title: `arm × ${withinNames.join(", ")}`, names: ["arm", withinNames.join(", ")], rows,
      columns: groups.map(({ text }) => text), at: of, ofGroups: true });
  }
  for (const arm of arms) {
    const keys = ownChanges(arm).map(({ key }) => key);
    if (keys.length === 2) pairs.set(JSON.stringify([...keys].sort()), keys);
  }
  return [...found, ...[...pairs.values()].map(crossingOf).filter(Boolean)];
}

/**
 * What a cell shows in a view: {text, more, share of the colour, colour, mark}; `more` is left out where there is no
 * room for it.
 * Colours are faint enough for the ink to be read on all of them.
 */
function cellLook(arm, view, { least, most }) {
  if (view === "values") {
    // Numbers that are shown alike have one colour.
    const alike = arm.mean === null || least.texts.common_mean === most.texts.common_mean;
    const share = alike ? 0 : (arm.mean - least.mean) / (most.mean - least.mean);
    return { text: arm.texts.mean, more: arm.texts.spread, share, colour: "--heat" };
  }
  if (arm.reference) return { text: "reference", more: "", share: 0, colour: "--heat", soft: true };
  if (!arm.comparison) return { text: "–", more: "", share: 0, colour: "--heat" };
  const mark = verdict(arm), [difference, interval] = comparisonTexts(arm);
  if (view === "answers") {
    const colour = { better: "--better", worse: "--worse", differs: "--better", same: "--same", undecided: "--undecided" }[mark];
    return { text: arm.comparison.answer, more: arm.comparison.answer === "equal" ? "" : difference, share: mark === "undecided" ? 0.15 : 0.7, colour,
      mark };
  }
  const size = Math.abs(arm.comparison.difference);
  return { text: arm.comparison.answer === "equal" ? "equal" : difference, more: interval, mark,
    share: size ? Math.sqrt(size / Math.abs(most.comparison.difference)) : 0,
    colour: sideColours[arm.comparison.side] || "--heat" };
}
const mostColour = 0.42;  // of a colour on the paper
const rampColour = (colour, share) => `color-mix(in srgb, var(${colour}) ${(100 * mostColour * share).toFixed(1)}%, ` +
  "var(--paper))";

function drawCrossed() {
  const tables = crossings();
  if (!tables.length) return;
  let table = tables[0], group = 0, view = "values";
  const ramp = element("p", { class: "note" });

  const armAt = (row, column) => table.at(row, column, group);
  const shownArms = () => table.rows.flatMap((row) => table.columns.map((column) => armAt(row, column)))
    .filter(Boolean);
  const greatest = (candidates, by) => candidates.reduce((a, b) => (a === null || by(b) > by(a) ? b : a), null);
  /** The arms with the least and the most of what is coloured: {least, most}; null where there is none. */
  function reach() {
    const shown = shownArms();
    if (view !== "values")
      return { least: null, most: greatest(shown.filter((arm) => arm.comparison),
        (arm) => Math.abs(arm.comparison.difference)) };
    const valued = shown.filter(({ mean }) => mean !== null);
    return { least: greatest(valued, ({ mean }) => -mean), most: greatest(valued, ({ mean }) => mean) };
  }

  function fillRamp() {
    const { least, most } = reach(), bar = element("span", { class: "ramp", "aria-hidden": "true" });
    const differences = view === "differences";
    const alike = differences ? most === null || most.comparison.difference === 0
      : least === null || least.texts.common_mean === most.texts.common_mean;
    if (view === "answers" || alike) {
      ramp.replaceChildren();
      return;
    }
    const stops = d3.range(11).map((i) => {
      if (!differences) return rampColour("--heat", i / 10);
      return rampColour(sideColours[sides[i > 5 ? 1 : 0]], Math.sqrt(Math.abs(i - 5) / 5));
    });
    bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
    const [from, to] = differences ? most.comparison.texts.ends : [least.texts.common_mean, most.texts.common_mean];
    ramp.replaceChildren(from, bar, to, `   ${differences ? "difference in " : ""}${report.metric.name}${unit}`);
  }

  function draw(svg, width) {
    const left = Math.min(0.3 * width, Math.max(64, 14 + widthOf([table.names[0], ...table.rows]))), top = 46, range = reach();
    const names = table.rows.map((row) => linesOf(row, left - 10, 5));
    const height = Math.max(50, 8 + 15 * d3.max(names, ({ length }) => length));
    const cell = Math.max(66, Math.min(168, (width - left) / table.columns.length));
    const wide = left + cell * table.columns.length + 1;
    svg.attr("width", Math.max(width, wide)).attr("height", top + height * table.rows.length + 1);
    const places = table.rows.flatMap((row, r) => table.columns.map((column, c) => ({ r, c, row, column,
      arm: armAt(row, column) })));
    svg.append("text").attr("class", "soft").attr("x", left + cell * table.columns.length / 2).attr("y", 13)
      .attr("text-anchor", "middle").text(table.names[1]);
    fitText(svg.append("text").attr("class", "soft").attr("x", 0).attr("y", top - 9), table.names[0], left - 10);
    for (const [c, column] of table.columns.entries())
      fitText(svg.append("text").attr("class", "label").attr("x", left + (c + 0.5) * cell).attr("y", top - 9)
        .attr("text-anchor", "middle"), column, cell - 6);
    for (const [r, lines] of names.entries())
      writeLines(svg.append("text").attr("class", "label").attr("x", 0).attr("y", top + (r + 0.5) * height),
        lines, left - 10);

    const said = ({ row, column, arm }) => `${table.names[0]} ${row}, ${table.names[1]} ${column}: ` +
      `${!arm ? "no arm" : view === "values" || arm.reference ? `${arm.reference ? "the reference, " : ""}` +
        `${meanText(arm)}`
        : arm.sentence}`;
    const cells = svg.append("g").selectAll("g").data(places).join("g").attr("class", "cell").attr("role", "img")
      .attr("transform", ({ r, c }) => `translate(${left + c * cell},${top + r * height})`).attr("aria-label", said);
    cells.each(function drawCell({ arm }) {
      const g = d3.select(this);
      const box = g.append("rect").attr("class", "box").attr("width", cell).attr("height", height);
      const middle = (text) => text.attr("x", cell / 2).attr("text-anchor", "middle");
      if (!arm) {
        box.style("fill", "none");
        middle(g.append("text").attr("class", "soft")).attr("y", height / 2).attr("dy", "0.35em").text("·");
        return;
      }
      const { text, more, share, colour, mark, soft } = cellLook(arm, view, range);
      box.style("fill", `var(${colour})`).style("fill-opacity", mostColour * share);
      const number = middle(g.append("text")).classed("soft", soft).classed("strong", !soft).attr("y", height / 2)
        .text(text);
      const second = middle(g.append("text").attr("class", "more")).attr("y", height / 2 + 16).text(more);
      if (!more || second.node().getComputedTextLength() > cell - 8) {
        second.remove();
        number.attr("dy", "0.35em");
      } else number.attr("dy", "-0.1em");
      const long = number.node().getComputedTextLength();
      if (long > cell - 6) number.style("font-size", `${12 * (cell - 6) / long}px`);
      if (!mark) return;
      // Beside the number, or in the corner where there is no room.
      const beside = long + 16 <= cell - 6, room = long + 16;
      if (beside) number.attr("x", cell / 2 + 8);
      const [x, y] = beside ? [cell / 2 - room / 2 + 4, height / 2 - (second.node().isConnected ? 5 : 0)] : [8, 9];
      g.append("path").attr("class", `mark ${mark}`).attr("d", symbolPath(verdicts[mark][1], beside ? 50 : 36))
        .attr("transform", `translate(${x},${y})`).call(outlined, mark);
    });
    explain(cells, ({ row, column }) => `${table.names[0]} ${row}, ${table.names[1]} ${column}`, ({ arm }) => {
      if (!arm) return [["no arm of this sweep", ""]];
      return [["arm", arm.label], [report.metric.name, meanText(arm)],
        ...(!arm.comparison ? [] : [["difference", comparisonTexts(arm).join(" ")],
          ["answer", arm.comparison.answer]])];
    });
    walk(cells, places);
  }

  /** One stop for Tab; the arrow keys go from cell to cell. */
  function walk(cells, places) {
    cells.attr("tabindex", (place, i) => (i ? -1 : 0)).on("keydown", ({ r, c }) => {
      const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[d3.event.key];
      const next = by && places.findIndex((place) => place.r === r + by[0] && place.c === c + by[1]);
      if (!by) return;
      d3.event.preventDefault();
      if (next < 0) return;
      cells.attr("tabindex", (place, i) => (i === next ? 0 : -1));
      cells.nodes()[next].focus();
    });
  }

  const groupTools = groupChoice((value) => { group = value; renew(); }, false);
  function renew() {
    for (const tool of groupTools) tool.hidden = Boolean(table.ofGroups);
    fillRamp();
    shown.redraw();
  }
  const tools = [...(tables.length < 2 ? [] : [(tables.length > 3 ? pick : choice)("cross",
    tables.map((each) => [each, each.title]), table, (value) => { table = value; renew(); })]), ...groupTools,
  choice("show", [["values", "values"], ["differences", "differences"], ["answers", "answers"]], view, (value) => {
    view = value;
    renew();
  })];
  const shown = figure("crossed", "Two options crossed; the arrow keys go from cell to cell",
    `${report.metric.name}${unit} where two things change at once: the mean over seeds ± a standard deviation, the ` +
    `difference from the reference${grouped ? " of the group" : ""} with its interval, or the answer. A dot is a ` +
    `cell without an arm. ${marksMean}, open circles undecided.`, tools,
    draw);
  shown.node.querySelector(".tools").after(ramp);
  section("crossed", "Options crossed", shown.node);
  renew();
}
