// The answers in words, and the ablation table.

const told = arms.filter((arm) => arm.sentence !== null);
const mostAnswers = 3;  // that the page opens with

function answerList(which) {
  const list = element("ul", { class: "answers" });
  for (const arm of which)
    list.append(element("li", {}, arm.comparison ? markIcon(verdict(arm)) : element("span"),
      element("span", {}, unbroken(arm.sentence))));
  return list;
}

/** What the marks of these arms mean. */
function markKey(which) {
  const used = new Set(which.filter((arm) => arm.comparison).map(verdict));
  const key = element("ul", { class: "key", "aria-label": "Marks" });
  for (const [name, [meaning]] of Object.entries(verdicts))
    if (used.has(name)) key.append(element("li", {}, markIcon(name), meaning));
  return key;
}

/** Of each further metric, the arms as it has them, with the answers. */
const furtherRows = ({ arms: results }) => results.map((result, i) => ({ ...arms[i], ...result,
  texts: { ...arms[i].texts, ...result.texts } }));

/** The answers of the further metrics, which open by metric. */
function furtherAnswers() {
  return report.also.map((also) => {
    const rows = furtherRows(also).filter(({ answer }) => answer !== null), count = rows.length;
    return element("details", { class: "further-answers" },
      element("summary", {}, `${also.metric.name}: ${count} answer${count === 1 ? "" : "s"}`), answerList(rows));
  });
}

function drawAnswers() {
  if (!told.length) return;
  const first = clearestFirst.filter((arm) => arm.sentence !== null).slice(0, mostAnswers);
  section("answers", "Answers", report.also.length ? element("h3", {}, report.metric.name) : null,
    answerList(first), markKey(first), told.length <= mostAnswers ? null
      : element("p", {}, element("a", { href: "#all-answers" }, `All ${told.length} answers`),
        `, one for each arm but the reference${grouped ? "s" : ""} – these ${first.length} have the largest differences ` +
        "compared with their intervals."), ...furtherAnswers());
}

/** Terms of notes that few readers need; they open with a count. */
const secondRank = /^(pairs|interactions|time|plan|reference|chance|columns): /;

/** The notes below a table: the first, then those of second rank, folded. */
function noteLists(notes, more = []) {
  const list = (which) => element("ul", { class: "notes" }, ...which.map((note) => element("li", {}, note)));
  const second = [...notes.filter((note) => secondRank.test(note)), ...more];
  const folded = element("details", { class: "more-notes" },
    element("summary", {}, `${second.length} more note${second.length === 1 ? "" : "s"}`), list(second));
  return [list(notes.filter((note) => !secondRank.test(note))), second.length ? folded : null];
}

/** All of them, in the plan's order. */
function drawAllAnswers() {
  if (told.length > mostAnswers) section("all-answers", "All answers", answerList(told), markKey(told));
}

/**
 * A column: its heading, what it sorts by, what its cell shows, and what it says where the notes say nothing of it;
 * `tsv`, where what is copied as tab-separated values is something else: headings, and an arm's values; `second`, where
 * it folds when not all columns fit.
 */
function tableColumns(metric, rows) {
  const withComparison = rows.filter((arm) => arm.comparison);
  const any = (has) => withComparison.some((arm) => has(arm.comparison));
  const of = (get) => (arm) => (arm.comparison ? get(arm.comparison) : null);
  const columns = [
    { name: "arm", title: "arm", by: (arm) => arm.label },
    { name: "n", title: "n", by: (arm) => arm.n, show: (arm) => String(arm.n) },
    { name: "mean", title: metric.name, by: (arm) => arm.mean,
      tsv: [[metric.name, "standard deviation"], (arm) => [arm.mean, arm.standard_deviation]],
      show: ({ texts }) => [texts.mean,
        ...(texts.spread ? [" ", element("span", { class: "with" }, texts.spread)] : [])] },
  ];
  if (withComparison.length) columns.push({ name: "difference", title: `difference [${report.confidence_text}]`,
    by: of((c) => c.difference), tsv: [["difference", "low", "high"], (arm) => (arm.comparison ? [arm.comparison.difference,
      ...(arm.comparison.interval || [null, null])] : [null, null, null])],
    show(arm) {
      if (!arm.comparison) return "";
      const [text, interval] = comparisonTexts(arm);
      return [element("span", {}, text), " ", element("span", { class: "with" }, interval)];
    } });
  if (any((c) => c.p !== null)) columns.push({ name: "p", title: "p", by: of((c) => c.p),
    show: (arm) => (arm.comparison ? (arm.comparison.p_text || "–") + arm.earlier_look_text : "") });
  if (withComparison.length) columns.push({ name: "answer", title: "answer", text: true,
    by: (arm) => (arm.comparison ? arm.comparison.answer : null),
    show: (arm) => (arm.comparison ? [markIcon(verdict(arm), false), arm.comparison.answer] : arm.missing_answer || "") });
  if (any((c) => c.effect_size !== null)) columns.push({ name: "effect", title: "d", by: of((c) => c.effect_size),
    second: true,
    about: "the size of the difference compared with its scatter: the mean of the differences divided by " +
      "their standard deviation over the seeds (d_z, corrected for few seeds as by Hedges). At 1 or \u22121, the " +
      "difference is as large as its standard deviation.",
    show: (arm) => (arm.comparison ? arm.comparison.texts.effect_size : "") });
  if (any((c) => c.improvement !== null)) columns.push({ name: "improvement",
    title: "P(better)", second: true,
    by: of((c) => c.improvement && c.improvement.value),
    about: "how often the arm is better than the reference: the share of the seeds in which " +
      "it is, with ties counted half. 1 is in every seed, 0.5 in as many as not, 0 in none.",
    show: (arm) => (arm.comparison ? arm.comparison.texts.improvement : "") });
  if (rows.some((arm) => arm.cost)) columns.push({ name: "parameters", title: "parameters", second: true,
    by: (arm) => arm.cost && arm.cost.parameters, tsv: [["parameters"], (arm) => [arm.cost && arm.cost.parameters]],
    show: (arm) => arm.texts.parameters || "–" });
  if (rows.some((arm) => arm.cost && arm.cost.flops_per_step !== null)) columns.push({ name: "flops",
    title: "FLOPs a step", about: "floating-point operations of one training step.",
    by: (arm) => arm.cost && arm.cost.flops_per_step, second: true,
    tsv: [["FLOPs a step"], (arm) => [arm.cost && arm.cost.flops_per_step]],
    show: (arm) => arm.texts.flops || "–" });
  if (!report.table || rows.some((arm) => arm.seconds !== null)) columns.push({ name: "time", title: "time",
    by: (arm) => arm.seconds, second: true, tsv: [["seconds"], (arm) => [arm.seconds]],
    show: (arm) => arm.texts.seconds });
  if (memoryDiffers) columns.push({ name: "memory", title: "memory", by: memory, second: true,
    tsv: [["bytes"], (arm) => [memory(arm)]],
    about: "the most that a run on one thread holds at a time.",
    show: (arm) => arm.texts.memory || "–" });
  return columns;
}

/** The explanations of columns that the report's notes do not explain. */
const about = (column) => (column.about ? `${column.title}: ${column.about}` : null);

/**
 * The table of a metric, an arm a row: {node, columns}. `rows` are the arms as this metric has them, in the order of
 * `arms`.
 */
function armTable(id, label, metric, rows) {
  const columns = tableColumns(metric, rows), body = element("tbody"), folded = columns.filter(({ second }) => second);
  let sorted = null, descending = false;
  const headings = columns.map((column) => element("th", { scope: "col",
    class: [column.text ? "text" : "", column.second ? "second" : ""].join(" ").trim() || null,
    "data-tsv": column.tsv ? column.tsv[0].join("\t") : null },
  element("button", { type: "button", class: column.title.length > 24 ? "long" : null,
    title: [about(column), "Sort; the third click restores the order"].filter(Boolean).join("\n"), on: { click() {
      if (sorted === column && descending) sorted = null;
      else {
        descending = sorted === column;
        sorted = column;
      }
      fill();
    } } }, column.title)));
  const compare = (a, b) => {
    const x = sorted.by(a), y = sorted.by(b);
    if (x === null || y === null) return (x === null) - (y === null) || a.index - b.index;
    const order = typeof x === "string" ? x.localeCompare(y, "en", { numeric: true }) : x - y;
    return (descending ? -order : order) || a.index - b.index;
  };
  const shown = (column, arm) => [column.show(arm)].flat().filter(Boolean);
  function rowsOf(arm, name) {
    const row = element("tr", { class: arm.reference ? "reference" : null, "data-label": arm.label },
      element("th", { scope: "row" }, unbroken(name)));
    const full = (value) => (value === null || value === undefined ? "" : value);
    for (const column of columns.slice(1))
      row.append(element("td", { class: column.second ? "second" : column.text ? "word" : null,
        "data-tsv": column.tsv ? column.tsv[1](arm).map(full).join("\t") : null }, ...shown(column, arm)));
    const values = folded.map((column) => [column.title, shown(column, arm)]).filter(([, what]) => what.length);
    return [row, ...(values.length ? [foldedRow(columns.length - folded.length, values)] : [])];
  }
  const groupRow = ({ title }) => element("tr", { class: "group" }, element("th", { scope: "rowgroup" }, title),
    element("td", { colspan: columns.length - 1 }));
  function fill() {
    if (sorted) body.replaceChildren(...[...rows].sort(compare).flatMap((arm) => rowsOf(arm, arm.label)));
    else body.replaceChildren(...groups.flatMap((group) => [...(grouped ? [groupRow(group)] : []),
      ...group.arms.flatMap(({ index, name }) => rowsOf(rows[index], name))]));
    headings.forEach((heading, i) => {
      if (columns[i] === sorted) heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else heading.removeAttribute("aria-sort");
    });
    if (table.dataset.layout === "stacked") nameParts(table);
  }
  const table = element("table", { id }, element("thead", {}, element("tr", {}, ...headings)), body);
  fill();
  const node = fitted(table, label, folded.map(({ title }) => title));
  return { node, columns };
}

/** Of a single arm: all that its runs measured. */
function drawMeasured() {
  const cost = [["parameters", arms[0].texts.parameters], ["training time", arms[0].texts.seconds]];
  const row = (name, value, meaning, tsv = null) => element("tr", {}, element("th", { scope: "row" }, name),
    element("td", { "data-tsv": tsv }, value), element("td", { class: "text" }, meaning));
  const table = element("table", { id: "measured" }, element("thead", {}, element("tr", {},
    element("th", { scope: "col" }, "metric"), element("th", { scope: "col" }, report.seeds.length > 1
      ? "mean ± standard deviation" : "value"), element("th", { scope: "col", class: "text" }, "meaning"))),
  element("tbody", {}, ...report.measured.map(({ metric, text, mean }) => row(metric.name, text,
    `${metric.meaning}${metric.unit ? ` (${metric.unit})` : ""}; ${metric.direction}`, mean)),
  ...cost.filter(([, text]) => text).map(([name, text]) => row(name, text, ""))));
  section("table", "Results", fitted(table, "results"), ...noteLists(report.notes));
}

function drawTable() {
  if (arms.length === 1) {
    drawMeasured();
    return;
  }
  const { node, columns } = armTable("ablations", "ablations", report.metric, arms);
  section("table", report.table ? "Results" : "Ablations", node,
    ...noteLists([...report.notes, ...report.formulas], columns.map(about).filter(Boolean)));
}
