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

/** The notes below a table: the first, then those that few readers need, folded, with what `more` explains. */
function noteLists(notes, more = []) {
  const list = (which) => element("ul", { class: "notes" }, ...which.map((note) => element("li", {}, note)));
  const second = [...notes.filter((note) => note.second).map(noteText), ...more];
  const folded = element("details", { class: "more-notes" },
    element("summary", {}, `${second.length} more note${second.length === 1 ? "" : "s"}`), list(second));
  return [list(notes.filter((note) => !note.second).map(noteText)), second.length ? folded : null];
}

/** All of them, in the plan's order. */
function drawAllAnswers() {
  if (told.length > mostAnswers) section("all-answers", "All answers", answerList(told), markKey(told));
}

/** The columns of a table of the document that people see, each with its place. */
const shownColumns = (table) =>
  table.columns.map((column, at) => ({ ...column, at })).filter(({ detail }) => detail !== "files");

/** Numbers have minus signs, and names keep their hyphens. */
const inColumn = (column, text) => (["name", "text", "answer"].includes(column.kind) ? text : text.replace(/-/g, "\u2212"));

/** What stands in a cell. */
function cellNodes(column, cell) {
  if (cell.missing) return ["\u2013"];
  const with_ = [cell.spread, cell.interval].filter(Boolean)
    .map((text) => element("span", { class: "with" }, inColumn(column, text)));
  return [
    column.kind === "answer" && cell.mark ? markIcon(markOf(cell.mark), false) : null,
    with_.length ? element("span", {}, inColumn(column, cell.text ?? "")) : inColumn(column, cell.text ?? ""),
    ...with_.flatMap((node) => [" ", node]), cell.remark ? ` ${cell.remark}` : null,
  ].filter(Boolean);
}

/** The explanations of columns that the report's notes do not explain. */
const about = (column) => (column.about ? `${column.title}: ${column.about}` : null);

/** The document's table of a metric, an arm a row: {node, columns}. */
function armTable(id, label, table) {
  const columns = shownColumns(table), body = element("tbody"), folded = columns.filter(({ folds }) => folds);
  const rows = table.rows.slice(0, arms.length).map((row, index) => ({ ...row, index }));
  let sorted = null, descending = false;
  const headings = columns.map((column) => element("th", { scope: "col",
    class: [column.kind === "answer" ? "text" : "", column.folds ? "second" : ""].join(" ").trim() || null,
    "data-tsv": column.kind === "name" ? null : column.keys.join("\t") },
  element("button", { type: "button", class: column.title.length > 24 ? "long" : null,
    title: [about(column), "Sort; the third click restores the order"].filter(Boolean).join("\n"), on: { click() {
      if (sorted === column && descending) sorted = null;
      else {
        descending = sorted === column;
        sorted = column;
      }
      fill();
    } } }, column.title)));
  const sortValue = (row) => row.cells[sorted.at].values?.[0] ?? null;
  const compare = (a, b) => {
    const x = sortValue(a), y = sortValue(b);
    if (x === null || y === null) return (x === null) - (y === null) || a.index - b.index;
    const order = typeof x === "string" ? x.localeCompare(y, "en", { numeric: true }) : x - y;
    return (descending ? -order : order) || a.index - b.index;
  };
  function rowsOf(row, name) {
    const line = element("tr", { class: row.reference ? "reference" : null, "data-label": arms[row.index].label },
      element("th", { scope: "row" }, unbroken(name)));
    for (const column of columns.slice(1)) {
      const cell = row.cells[column.at];
      line.append(element("td", { class: column.folds ? "second" : column.kind === "answer" ? "word" : null,
        "data-tsv": column.keys.map((key, k) => cell.values?.[k] ?? "").join("\t") }, ...cellNodes(column, cell)));
    }
    const values = folded.map((column) => [column.title, cellNodes(column, row.cells[column.at])])
      .filter(([, what]) => what.length);
    return [line, ...(values.length ? [foldedRow(columns.length - folded.length, values)] : [])];
  }
  const groupRow = ({ title }) => element("tr", { class: "group" }, element("th", { scope: "rowgroup" }, title),
    element("td", { colspan: columns.length - 1 }));
  function fill() {
    if (sorted) body.replaceChildren(...[...rows].sort(compare).flatMap((row) => rowsOf(row, arms[row.index].label)));
    else body.replaceChildren(...groups.flatMap((group) => [...(grouped ? [groupRow(group)] : []),
      ...group.arms.flatMap(({ index, name }) => rowsOf(rows[index], name))]));
    headings.forEach((heading, i) => {
      if (columns[i] === sorted) heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else heading.removeAttribute("aria-sort");
    });
    if (node.dataset.layout === "stacked") nameParts(node);
  }
  const node = element("table", { id }, element("thead", {}, element("tr", {}, ...headings)), body);
  fill();
  return { node: fitted(node, label, folded.map(({ title }) => title)), columns };
}

/** Of a single arm: all that its runs measured. */
function drawMeasured() {
  const cost = [["parameters", arms[0].texts.parameters], ["training time", arms[0].texts.seconds]];
  const row = (name, value, meaning, tsv = null) => element("tr", {}, element("th", { scope: "row" }, name),
    element("td", { "data-tsv": tsv }, value), element("td", { class: "text" }, meaning));
  const table = tableOf({ id: "measured" }, ["metric", report.seeds.length > 1 ? "mean ± standard deviation" : "value",
    element("th", { scope: "col", class: "text" }, "meaning")],
  [...report.measured.map(({ metric, text, mean }) => row(metric.name, text,
    `${metric.meaning}${metric.unit ? ` (${metric.unit})` : ""}; ${metric.direction}`, mean)),
  ...cost.filter(([, text]) => text).map(([name, text]) => row(name, text, ""))]);
  section("table", "Results", fitted(table, "results"), ...noteLists(notesOf("column")));
}

function drawTable() {
  if (arms.length === 1) {
    drawMeasured();
    return;
  }
  const { node, columns } = armTable("ablations", "ablations", report.tables[0]);
  section("table", report.table ? "Results" : "Ablations", node,
    ...noteLists(notesOf("column", "formula"), columns.map(about).filter(Boolean)));
}
