// The same for a sweep with groups of arms: what is drawn of each group, and across them.
addEventListener("load", async () => {
  const found = {};
  await drawn();
  const press = (figure, label, text) => [...document.querySelectorAll(`${figure} [aria-label="${label}"] button`)]
    .find((button) => button.textContent === text).click();
  const texts = (selector) => all(selector).map((node) => node.textContent);
  const lines = (figure) => count(`${figure} .line`);
  const strokes = (figure) => new Set(all(`${figure} .line`).map((path) => getComputedStyle(path).stroke)).size;
  found.sections = all("main section").map((section) => section.id);
  Object.assign(found, await lookAround());

  const rows = () => all("#ablations tbody tr:not(.fold)").map((row) => row.children[0].textContent);
  const heading = all("#ablations thead button").find((button) => button.textContent === "memory");
  const memoryColumn = all("#ablations thead th").indexOf(heading.parentElement);
  found.rows = rows();
  found.headings = texts("#ablations tr.group th");
  found.bold = texts("#ablations tr.reference th");
  found.memory = all("#ablations tbody tr:not(.group, .fold)").map((row) => row.children[memoryColumn].textContent);
  heading.click();
  found.sortedRows = rows();
  heading.click();
  heading.click();
  found.rowsAgain = rows();

  found.forest = { rows: count("#figure-forest .row"), headings: texts("#figure-forest .strong"),
    labels: all("#figure-forest .row").map((row) => row.querySelector("text:last-of-type").textContent) };

  found.copied = await copies(document.querySelector("#table .tools.copy"));
  const names = (figure) => Object.fromEntries(all(`${figure} .line`).map((path, i) =>
    [all(`${figure} .legend button`)[i].textContent, getComputedStyle(path).stroke]));
  found.lineColours = ["#figure-trend", "#figure-curves", "#figure-lengths"].map(names);

  const trend = "#figure-trend", right = () => hover(document.querySelector(`${trend} .hit`), 0.999);
  const state = () => ({ lines: lines(trend), points: count(`${trend} path.point`), title: texts(`${trend} .soft`),
    level: count(`${trend} .chance`), log: !document.querySelector(`${trend} .choice[hidden] [aria-label=scale]`), tip: right() });
  found.measures = texts(`${trend} [aria-label="of"] button`);
  found.value = state();
  const toggle = document.querySelector(`${trend} .legend button`);
  toggle.click();
  found.trendWithout = lines(trend);
  toggle.click();
  found.trendAgain = lines(trend);
  press(trend, "show", "difference");
  found.difference = state();
  press(trend, "of", "memory");
  press(trend, "show", "ratio");
  found.ratio = state();
  press(trend, "scale", "log");
  found.logarithmic = state();
  found.saved = savedFigure(trend, ".point");
  const hit = document.querySelector(`${trend} .hit`);
  hit.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }));
  found.keyTip = tip();

  for (const figure of ["#figure-curves", "#figure-lengths"]) {
    const seen = { first: lines(figure), groups: texts(`${figure} .choice:first-child button`),
      tip: hover(document.querySelector(`${figure} .hit`), 0.999), legend: texts(`${figure} .legend button`) };
    document.querySelector(`${figure} .legend button`).click();
    press(figure, "length", seen.groups[1]);
    seen.second = lines(figure);
    document.querySelector(`${figure} .legend button`).click();
    press(figure, "length", "all");
    seen.all = lines(figure);
    seen.colours = strokes(figure);
    found[figure.slice("#figure-".length)] = seen;
  }
  found.costs = texts("#figure-cost [aria-label=cost] button");
  found.points = count("#figure-cost .scatter-point");
  press("#figure-cost", "length", "all");
  found.allPoints = count("#figure-cost .scatter-point");
  found.marks = all("#figure-cost .scatter-point .point").map(markOf);

  found.crossed = { rows: count("#figure-crossed .cell"), labels: all("#figure-crossed .cell").map((cell) =>
    cell.getAttribute("aria-label")) };
  for (const button of all(".choice button")) button.click();
  await wait(100);
  writeDown(found);
});
