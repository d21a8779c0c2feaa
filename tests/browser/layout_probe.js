// Put into a copy of the report by the test: how wide its parts are, and what the tables and the curves show.
addEventListener("load", async () => {
  const found = {};
  await drawn();
  Object.assign(found, await lookAround());
  const texts = (selector) => all(selector).map((node) => node.textContent);
  found.sections = all("main section").map((section) => section.id);
  found.headings = texts("main h2");
  found.words = document.getElementById("main").textContent;
  found.problems = all("#problem-runs tbody tr").map((row) => [...row.cells].map((cell) => cell.textContent));
  found.measured = texts("#measured tbody th");
  found.curves = texts("#figure-curves .legend button");
  const heads = (table) => all(`${table} thead th`).map((cell) => cell.textContent);
  found.heads = [heads("#ablations"), heads("#further-table-0")];
  // The columns of second rank: beneath each row on request, where they do not fit beside it.
  const seen = (node) => node.getClientRects().length > 0;
  const more = document.querySelector("#table .tools.copy button[aria-expanded]");
  const folds = () => all("#ablations .fold").filter(seen).length;
  if (more) {
    found.folds = [seen(more), folds()];
    more.click();
    found.folds.push(folds());
    more.click();
  }
  // Crosses of runs that failed stand beside the axis.
  const axis = document.querySelector("#figure-single .axis");
  found.crosses = axis ? all("#figure-single .lost").map((cross) =>
    cross.getBoundingClientRect().left - Math.max(...all("#figure-single .dot")
      .map((dot) => dot.getBoundingClientRect().right))) : [];
  writeDown(found);
});
