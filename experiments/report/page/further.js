// The further metrics that are compared: a table and answers for each, as the first metric has them.

function drawFurther() {
  if (arms.length === 1) return;
  for (const [place, { metric, note, arms: results }] of report.also.entries()) {
    const rows = results.map((result, i) => ({ ...arms[i], ...result, texts: { ...arms[i].texts, ...result.texts } }));
    section(`further-${place}`, metric.name, element("p", { class: "note" }, note),
      armTable(`further-table-${place}`, metric.name, metric, rows).node,
      answerList(rows.filter(({ answer }) => answer !== null)));
  }
}
