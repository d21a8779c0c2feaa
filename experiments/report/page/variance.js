// Where the variance of the results comes from.

function drawVariance() {
  const { variance } = report;
  if (!variance) return;
  const shown = report.figures.find(({ kind }) => kind === "bars"), chart = place(), parts = [];
  if (shown) {
    chart.replaceChildren(...picturesOf(shown));
    parts.push(frame("variance", shown.caption, [], chart));
  }
  for (const { title, table, sentences } of variance.metrics) {
    const main = table.columns.map(({ detail }, at) => at).filter((at) => table.columns[at].detail === "main");
    const cells = (row, at) => {
      const { text, interval, remark, missing } = row.cells[at];
      return missing ? "\u2013" : [text, interval, remark].filter(Boolean).map(minus).join(" ");
    };
    parts.push(element("h3", {}, title), ...sentences.map((sentence) => element("p", {}, sentence)), fitted(tableOf({ class: "variance" }, main.map((at) => table.columns[at].title),
      table.rows.map((row) => element("tr", {}, ...main.map((at, i) => element(i ? "td" : "th", i ? {} : { scope: "row" },
        cells(row, at)))))), title));
  }
  section("variance", "Where the variance comes from", element("p", { class: "note" }, `These are ${variance.note}`), ...parts);
}
