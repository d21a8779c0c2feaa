// One answer over all tasks ([report] over): the rows "all" of the document's table, their sentences, and the
// performance profiles.

function drawOver() {
  const { over } = report;
  if (!over) return;
  const told = over.arms.filter(({ sentence }) => sentence !== null), profiles = linesAcross("threshold");
  const table = report.tables[0], columns = shownColumns(table).filter(({ folds }) => !folds);
  const rows = table.rows.slice(arms.length).map((row) => element("tr", { class: row.reference ? "reference" : null },
    element("th", { scope: "row" }, unbroken(row.name)), ...columns.slice(1).map((column) => element("td",
      { class: column.kind === "answer" ? "word" : null }, ...cellNodes(column, row.cells[column.at])))));
  const parts = [];
  if (told.length)
    parts.push(element("ul", { class: "answers" }, ...told.map(({ sentence, answer, comparison }) => element("li", {},
      comparison ? markIcon(markOf(answer)) : element("span"), element("span", {}, unbroken(sentence))))));
  if (rows.length)
    parts.push(fitted(tableOf({ class: "over" }, columns.map(({ title, kind }) => (kind === "answer"
      ? element("th", { scope: "col", class: "text" }, title) : title)), rows), "over all tasks"));
  if (profiles.length) {
    const chart = place();
    chart.replaceChildren(...profiles.flatMap((figure) => picturesOf(figure)));
    const legend = element("ul", { class: "legend", "aria-label": "Arms" }, ...profiles[0].series.map(({ name, look }) =>
      element("li", {}, iconOf(look), name)));
    const node = frame("performance-profiles", profiles[0].caption, [], chart);
    node.prepend(legend);
    parts.push(node);
  }
  if (over.problem) parts.push(element("p", { class: "note" }, `There are no rows over all tasks: ${over.problem}.`));
  section("over", "Over all tasks", ...parts);
}
