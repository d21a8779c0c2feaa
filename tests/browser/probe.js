// Put into a copy of the report by the test: uses the page as a reader would, and writes down what it then sees.
addEventListener("load", async () => {
  const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
  const all = (selector) => [...document.querySelectorAll(selector)];
  const count = (selector) => all(selector).length;
  const errors = [];
  addEventListener("error", (event) => errors.push(String(event.message)));
  addEventListener("securitypolicyviolation", (event) => errors.push(`refused: ${event.blockedURI}`));
  const found = {};
  await wait(300);
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
  found.overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  found.unnamed = all("button").filter((button) => !(button.textContent || button.getAttribute("aria-label"))).length;

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

  // The legend switches an arm off and on.
  const toggle = document.querySelector("#figure-curves .legend button");
  toggle.click();
  found.curvesWithout = count("#figure-curves .line");
  toggle.click();
  found.curvesAgain = count("#figure-curves .line");

  // Hovering shows values.
  const pointer = (node, x, y) => node.dispatchEvent(
    new PointerEvent("pointermove", { clientX: x, clientY: y, bubbles: true }));
  const tip = () => (document.getElementById("tooltip").hidden ? "" : document.getElementById("tooltip").textContent);
  const middle = (node) => {
    const box = node.getBoundingClientRect();
    pointer(node, box.left + box.width / 2, box.top + box.height / 2);
    return tip();
  };
  found.curveTip = middle(document.querySelector("#figure-curves .hit"));
  found.forestTip = middle(document.querySelector("#figure-forest .row"));
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

  // A saved figure stands by itself: it parses, and has its colours within.
  const saved = standalone(document.querySelector("#figure-forest svg"));
  const parsed = new DOMParser().parseFromString(saved, "image/svg+xml");
  found.saved = { root: parsed.documentElement.nodeName, marks: parsed.querySelectorAll(".mark").length,
    variables: saved.includes("var(--"), styled: parsed.querySelector(".mark").getAttribute("style").includes("rgb(") };
  found.resources = performance.getEntriesByType("resource").map((entry) => entry.name)
    .filter((name) => !name.startsWith("data:"));
  found.errors = errors;
  const probe = document.createElement("pre");
  probe.id = "probe";
  probe.textContent = JSON.stringify(found);
  document.body.append(probe);
});
