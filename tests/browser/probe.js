// Put into a copy of the report by the test: uses the page as a reader would, and writes down what it then sees.
addEventListener("load", async () => {
  const found = {};
  await drawn();
  found.sections = all("main section").map((section) => section.id);
  found.answers = count(".answers li");
  found.rows = count("#ablations tbody tr");
  found.forest = count("#figure-forest .row .mark");
  found.curves = count("#figure-curves .line");
  found.bands = count("#figure-curves .area");
  found.points = count("#figure-cost .point");
  found.maps = count(".attention-map");
  found.problems = count("#problem-runs tbody tr");
  found.configurations = count("#configurations details");
  found.title = document.title;
  found.bold = count("b b, main b");
  Object.assign(found, lookAround());

  // Each arm's mark, by all that can be seen of it.
  found.marks = all("#figure-cost .scatter-point .point").map(markOf);
  found.lastMark = document.querySelector("#figure-cost .scatter-point:last-child").getAttribute("aria-label");
  found.ring = getComputedStyle(document.querySelector("#figure-cost .scatter-point:last-child .point")).fill;

  // The table as it is without its pictures, and what is said of its columns.
  const spoken = (node) => {
    const copy = node.cloneNode(true);
    for (const hidden of copy.querySelectorAll("[aria-hidden=true]")) hidden.remove();
    return copy.textContent;
  };
  const answerAt = all("#ablations thead th").findIndex((cell) => cell.textContent === "answer");
  found.answerWords = answerAt < 0 ? [] : all("#ablations tbody tr").map((row) => spoken(row.children[answerAt]));
  found.tableText = document.querySelector("#ablations tbody").textContent;
  found.titles = all("#ablations thead button").map((button) => [button.textContent, button.title]);
  found.notes = all("#table .notes li").map((note) => note.textContent);

  // Sorting by a number: the column's order is the numbers', both ways.
  const heading = all("#ablations thead button").find((button) => button.textContent === "parameters");
  const column = () => {
    const at = all("#ablations thead th").indexOf(heading.parentElement);
    return all("#ablations tbody tr").map((row) => Number(row.children[at].textContent.replace(/,/g, "")));
  };
  heading.click();
  found.ascending = column();
  heading.click();
  found.descending = column();
  found.sorted = heading.parentElement.getAttribute("aria-sort");
  heading.click();
  found.unsorted = [column(), heading.parentElement.hasAttribute("aria-sort")];

  // The legend switches an arm off and on.
  const toggle = document.querySelector("#figure-curves .legend button");
  toggle.click();
  found.curvesWithout = count("#figure-curves .line");
  toggle.click();
  found.curvesAgain = count("#figure-curves .line");

  // Hovering shows values.
  found.curveTip = hover(document.querySelector("#figure-curves .hit"));
  found.forestTip = hover(document.querySelector("#figure-forest .row"));
  const map = document.querySelector(".attention-map");
  if (map) {
    const box = map.getBoundingClientRect();
    pointer(map, box.right - 3, box.top + box.height * 0.75);
    found.mapTip = tip();
    document.querySelector(".map").click();
    await wait(50);
    found.enlarged = count("dialog[open] svg image");
    found.tokens = all("dialog svg text").map((text) => text.textContent);
    document.querySelector("dialog").close();
    const difference = all("#attention .choice button").find((button) => button.textContent.startsWith("difference"));
    difference.click();
    found.differenceMaps = count(".attention-map");
    const input = document.querySelector("#attention select[aria-label=input]");
    found.inputs = [...input.options].map((option) => option.textContent);
    input.selectedIndex = 1;
    input.dispatchEvent(new Event("change"));
    found.realDifferences = count(".attention-map");
    all("#attention .choice button").find((button) => button.textContent === "weights").click();
    found.realMaps = count(".attention-map");
    found.lacking = all("#attention-problems li").map((line) => line.textContent);
  }
  // Every switch may be pressed.
  for (const button of all(".choice button")) button.click();
  await wait(100);

  found.saved = savedFigure("#figure-forest", ".mark");
  writeDown(found);
});
