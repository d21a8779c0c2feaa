// The same for a sweep with groups of arms: what is drawn of each group, and across them.
addEventListener("load", async () => {
  const found = {};
  await drawn();
  const press = (figure, label, text) => [...document.querySelectorAll(`${figure} [aria-label="${label}"] button`)]
    .find((button) => button.textContent === text).click();
  const texts = (selector) => all(selector).map((node) => node.textContent);
  const lines = (figure) => seen(`${figure} .curve`).length;
  const strokes = (figure) => new Set(seen(`${figure} .curve`).map(colourOfLine)).size;
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

  const written = (selector) => seen(selector).map((node) => node.textContent);
  found.forest = { rows: seen("#figure-forest .row").length, headings: written("#figure-forest .heading"),
    labels: written("#figure-forest .row .name") };

  found.copied = await copies(document.querySelector("#table .tools.copy"));
  const names = (figure) => Object.fromEntries(seen(`${figure} .curve`).map((curve, i) =>
    [all(`${figure} .legend button`)[i].textContent, colourOfLine(curve)]));
  found.lineColours = ["#figure-trend", "#figure-curves", "#figure-lengths"].map(names);

  const trend = "#figure-trend", right = () => hover(document.querySelector(`${trend} .hit`), 0.999);
  const trendNow = () => ({ lines: lines(trend), points: count(`${trend} path.point`), title: texts(`${trend} .soft`),
    level: count(`${trend} .chance`), log: !document.querySelector(`${trend} .choice[hidden] [aria-label=scale]`), tip: right() });
  found.measures = texts(`${trend} [aria-label="of"] button`);
  found.value = trendNow();
  const toggle = document.querySelector(`${trend} .legend button`);
  toggle.click();
  found.trendWithout = lines(trend);
  toggle.click();
  found.trendAgain = lines(trend);
  press(trend, "show", "difference");
  found.difference = trendNow();
  press(trend, "of", "memory");
  press(trend, "show", "ratio");
  found.ratio = trendNow();
  press(trend, "scale", "log");
  found.logarithmic = trendNow();
  found.saved = savedFigure(trend, ".point");
  const hit = document.querySelector(`${trend} .hit`);
  hit.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }));
  found.keyTip = tip();

  for (const figure of ["#figure-curves", "#figure-lengths"]) {
    const state = { first: lines(figure), groups: texts(`${figure} .choice:first-child button`),
      tip: hover(seen(`${figure} .hit`)[0], 0.999), legend: texts(`${figure} .legend button`) };
    document.querySelector(`${figure} .legend button`).click();
    press(figure, "length", state.groups[1]);
    state.second = lines(figure);
    document.querySelector(`${figure} .legend button`).click();
    press(figure, "length", "all");
    state.all = lines(figure);
    state.colours = strokes(figure);
    state.titles = written(`${figure} .chart h3`);
    found[figure.slice("#figure-".length)] = state;
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
