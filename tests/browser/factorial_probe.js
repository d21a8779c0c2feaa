// The same for a sweep that crosses two options: the heat map in each of its views, by pointer and by keyboard.
addEventListener("load", async () => {
  const found = {}, figure = "#figure-crossed";
  await drawn();
  found.sections = all("main section").map((section) => section.id);
  Object.assign(found, await lookAround());
  const cells = () => all(`${figure} .cell`);
  found.views = {};
  for (const button of all(`${figure} [aria-label=show] button`)) {
    button.click();
    found.views[button.textContent] = { labels: cells().map((cell) => cell.getAttribute("aria-label")),
      texts: cells().map((cell) => cell.querySelector("text").textContent), contrast: leastContrast(cells()),
      colours: new Set(all(`${figure} .box`).map((box) => {
        const { fill, fillOpacity } = getComputedStyle(box);
        return fill + fillOpacity;
      })).size, marks: count(`${figure} .mark`), tip: hover(cells()[0]) };
  }
  found.stops = cells().filter((cell) => cell.getAttribute("tabindex") === "0").length;
  found.interactions = all("#interactions .answers li").map((item) => item.textContent);
  found.further = all("#further-0 tbody tr:not(.fold)").map((row) => [...row.children].map((cell) => cell.textContent));
  found.furtherAnswers = count("#answers .further-answers .answers li");
  const key = (name) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true,
    cancelable: true }));
  cells()[0].focus();
  found.walk = ["ArrowRight", "ArrowDown", "ArrowLeft", "ArrowLeft"].map((name) => {
    key(name);
    return cells().indexOf(document.activeElement);
  });
  found.stopsAfter = cells().filter((cell) => cell.getAttribute("tabindex") === "0").length;
  found.names = shortKeys(["position.kind", "attention.head_width", "task.copy.length", "task.sort.length"]);
  found.saved = savedFigure(figure, ".box");
  found.signs = textsIn(["answers", "table", "all-answers", "differences", "crossed", "talk"]);
  writeDown(found);
});
