// Put into a copy of the report by the test: how wide its parts are, and what the tables and the curves show.
/** Ticks of a horizontal axis whose numbers touch. */
const touchingTicks = (figure) => {
  const boxes = seen(`${figure} :is(.axis[text-anchor=middle] text, text.tick)`).map((text) => text.getBoundingClientRect())
    .sort((a, b) => a.left - b.left);
  return boxes.filter((box, i) => i && box.left < boxes[i - 1].right + 3).length;
};

/** What is wrong with figures: names that are cut, numbers that touch, marks and texts where they do not belong. */
function lookAtFigures() {
  const cut = Object.fromEntries(["forest", "single", "crossed", "cost", "talk"].map((figure) =>
    [figure, all(`#figure-${figure} svg text`).filter((text) => text.textContent.includes("\u2026")).length]));
  const touching = Object.fromEntries(all("figure").filter((figure) => figure.querySelector(".axis, text.tick"))
    .map(({ id }) => [id, touchingTicks(`#${id}`)]));
  const plotOf = (figure) => seen(`${figure} rect.hit`)[0].getBoundingClientRect();
  // Symbols are drawn around a place, which must lie on the plot.
  const [lengths] = seen("#figure-lengths .chart svg");
  const plot = lengths && lengths.querySelector("rect.hit");
  const [from, to] = plot ? [Number(plot.getAttribute("x")), Number(plot.getAttribute("x")) + Number(plot.getAttribute("width"))] : [0, 0];
  const places = lengths ? [...lengths.querySelectorAll(".curve .symbol")].flatMap((symbols) =>
    [...symbols.getAttribute("d").matchAll(/M([-\d.]+) /g)].map(([, x]) => Number(x))) : [];
  const onPlot = ["#figure-curves", "#figure-lengths"].filter((figure) => document.querySelector(figure))
    .flatMap((figure) => {
      const area = plotOf(figure);
      return seen(`${figure} svg .beside`).map((text) => [text.textContent, text.getBoundingClientRect()])
        .map(([text, box]) => [text, box.left < area.right && box.right > area.left && box.top < area.bottom - 1
          && box.bottom > area.top + 1]);
    });
  return { cut, touching, places: places.length, away: places.filter((x) => x < from || x > to).length,
    names: onPlot.map(([text]) => text), onPlot: onPlot.filter(([, on]) => on).map(([text]) => text) };
}

/** The page before, while and after it is printed. */
function printed() {
  const look = () => ({ headings: count("#ablations thead button"), words: all("#ablations thead th").map((cell) =>
    cell.textContent), folded: count("details.more-notes:not([open]), details.further-answers:not([open])"),
  further: count("#answers .further-answers"), moved: count("#all-answers .further-answers"),
  heights: ["single"].map((figure) =>
    Number((document.querySelector(`#figure-${figure} .chart svg`) || document.body).getAttribute("height"))) });
  const before = look();
  dispatchEvent(new Event("beforeprint"));
  const during = look();
  dispatchEvent(new Event("afterprint"));
  return { before, during, after: look() };
}

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
  const isSeen = (node) => node.getClientRects().length > 0;
  const more = document.querySelector("#table .tools.copy button[aria-expanded]");
  const folds = () => all("#ablations .fold").filter(isSeen).length;
  if (more) {
    found.folds = [isSeen(more), folds()];
    more.click();
    found.folds.push(folds());
    more.click();
  }
  // Crosses of runs that failed stand beside the axis.
  const axis = document.querySelector("#figure-single .axis");
  found.crosses = axis ? all("#figure-single .lost").map((cross) =>
    cross.getBoundingClientRect().left - Math.max(...all("#figure-single .dot")
      .map((dot) => dot.getBoundingClientRect().right))) : [];
  found.captions = Object.fromEntries(all("main section").map((section) => [section.id,
    [...section.querySelectorAll("figcaption")].map((node) => node.textContent).join(" ")]));
  found.lead = texts("#head .lead")[0];
  found.figures = lookAtFigures();
  const costs = all("#figure-cost [aria-label=cost] button");
  found.costs = costs.map((button) => {
    button.click();
    return { cost: button.textContent, points: all("#figure-cost .scatter-point").map((point) =>
      point.getAttribute("aria-label").split(": ")[0]),
    legend: all("#figure-cost .legend li").filter(isSeen).map((item) => item.textContent), ticks: touchingTicks("#figure-cost") };
  });
  // The mark beside a heading that sorts is no part of the button's box, and must not touch the next heading.
  const markWidth = (button) => {
    const { content, font } = getComputedStyle(button, "::after"), ruler = document.createElement("canvas").getContext("2d");
    ruler.font = font;
    return ruler.measureText(content.replaceAll('"', "")).width;
  };
  found.printed = printed();
  found.headingGaps = all("#ablations:not([data-layout=stacked]) thead button").filter(isSeen).map((button, i, buttons) =>
    (i ? button.getBoundingClientRect().left - buttons[i - 1].getBoundingClientRect().right - markWidth(buttons[i - 1]) : null))
    .filter((gap) => gap !== null);
  writeDown(found);
});
