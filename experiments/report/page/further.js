// The further metrics that are compared: a table for each, as the first metric has it. Their answers stand above.

function drawFurther() {
  if (arms.length === 1) return;
  for (const [place, also] of report.also.entries())
    section(`further-${place}`, also.metric.name, element("p", { class: "note" }, also.note),
      armTable(`further-table-${place}`, also.metric.name, report.tables[1 + place]).node);
}
