// What the arms came to by the further metrics that are compared.

function drawFurther() {
  for (const [place, { metric, note, arms: results }] of report.also.entries()) {
    const heads = ["arm", "n", metric.name, "difference [95 %]", "p", "answer"];
    const rows = results.map((result) => {
      const c = result.comparison;
      return [result.label, String(result.n), meanText(result), comparisonTexts(result).join(" ").trim(),
        c ? c.p_text || "–" : "",
        c ? (c.equal ? "equal" : c.answer) : ""];
    });
    const table = element("table", { id: `further-table-${place}` }, element("thead", {}, element("tr", {},
      ...heads.map((head, i) => element("th", { scope: "col", class: i === 0 || i === 5 ? "text" : null }, head)))),
    element("tbody", {}, ...rows.map((cells) => element("tr", {}, ...cells.map((cell, i) => (i === 0
      ? element("th", { scope: "row" }, cell) : element("td", { class: i === 5 ? "word" : null }, cell)))))));
    const answers = element("ul", { class: "answers" }, ...results.filter(({ answer }) => answer !== null)
      .map((result) => element("li", {}, result.comparison ? markIcon(verdict(result))
        : element("span"), element("span", {}, result.answer.replace(/ = /g, "\u00a0=\u00a0")))));
    section(`further-${place}`, metric.name, element("p", { class: "note" }, note),
      copyTools(table, metric.name), element("div", { class: "scroll", tabindex: 0, role: "region",
        "aria-label": `Table of ${metric.name}` }, table), answers);
  }
}
