// Put into a copy of the report by the test: uses the page as a reader would, and writes down what it then sees.
addEventListener("load", async () => {
  const found = {};
  await drawn();
  found.sections = all("main section").map((section) => section.id);
  found.answers = count("#answers > .answers li");
  found.allAnswers = count("#all-answers .answers li");
  found.firstAnswers = all("#answers > .answers li").map((item) => item.textContent);
  found.link = all("#answers a").map((link) => [link.getAttribute("href"), link.textContent]);
  found.tables = [count("main table"), count("main .tools.copy")];
  found.rows = count("#ablations tbody tr:not(.fold)");
  found.forest = seen("#figure-forest .row .symbol").length;
  found.pictures = seen("#figure-forest svg").length;
  found.curves = seen("#figure-curves .curve").length;
  found.bands = seen("#figure-curves .band").length;
  found.points = count("#figure-cost .point");
  const single = (part) => count(`#figure-single ${part}`);
  found.single = [single(".row"), single(".dot"), single(".lost"), hover(document.querySelector("#figure-single .row"))];
  found.limits = all("#head .warning").map((node) => node.textContent);
  found.maps = count(".attention-map");
  found.problems = count("#problem-runs tbody tr");
  found.configurations = count("#configurations details");
  found.title = document.title;
  found.bold = count("b b, main b");
  Object.assign(found, await lookAround());

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
  found.answerWords = answerAt < 0 ? [] : all("#ablations tbody tr:not(.fold)").map((row) => spoken(row.children[answerAt]));
  found.tableText = document.querySelector("#ablations tbody").textContent;
  found.titles = all("#ablations thead button").map((button) => [button.textContent, button.title]);
  found.foldedNotes = [count("#table .more-notes li"), all("#table .more-notes > summary").map((node) => node.textContent),
    all("#table > .notes li").map((note) => note.textContent.split(":")[0])];
  found.notes = all("#table .notes li").map((note) => note.textContent);

  // Sorting by a number: the column's order is the numbers', both ways.
  const heading = all("#ablations thead button").find((button) => button.textContent === "parameters");
  const column = () => {
    const at = all("#ablations thead th").indexOf(heading.parentElement);
    return all("#ablations tbody tr:not(.fold)").map((row) => Number(row.children[at].textContent.replace(/,/g, "")));
  };
  heading.click();
  found.ascending = column();
  heading.click();
  found.descending = column();
  found.sorted = heading.parentElement.getAttribute("aria-sort");
  heading.click();
  found.unsorted = [column(), heading.parentElement.hasAttribute("aria-sort")];

  // Curves: colours are those of the other figures, symbols tell them apart, and no band lies on a line.
  const style = (node, name) => getComputedStyle(node)[name], curve = (part) => seen(`#figure-curves ${part}`);
  found.curveColours = curve(".curve").map(colourOfLine);
  found.costColours = Object.fromEntries(all("#figure-cost .scatter-point").map((point) =>
    [point.getAttribute("aria-label"), style(point.querySelector("path"), "color")]));
  found.symbols = curve(".curve").map((line) => line.querySelector(".symbol").getAttribute("d").match(/m[^M]*/)[0]);
  // Of many arms, only the one that the legend picks has a band; of few, each has.
  const legend = all("#figure-curves .legend button");
  const over = (button, type) => button.dispatchEvent(new PointerEvent(type));
  over(legend[1], "pointerenter");
  found.pickedBands = curve(".band").map((band) => style(band, "fill"));
  found.dimmed = curve(".curve").filter((line) => style(line, "opacity") < 1).length;
  over(legend[1], "pointerleave");
  const bandsOf = (few) => {
    for (const button of legend.slice(few)) button.click();
    const opacities = curve(".band").map((band) => Number(style(band, "fillOpacity")));
    found.bandsBeneath = Boolean(curve(".band").pop().compareDocumentPosition(curve(".curve")[0])
      & Node.DOCUMENT_POSITION_FOLLOWING);
    for (const button of legend.slice(few)) button.click();
    return opacities;
  };
  found.someBands = bandsOf(6);
  found.fewBands = bandsOf(2);
  const kinds = () => ["range", "deviation"].map((kind) => curve(`.${kind}`).length > 0);
  over(legend[1], "pointerenter");
  found.bandKinds = [kinds()];
  all("#figure-curves [aria-label=band] button")[1].click();
  found.bandKinds.push(kinds());
  over(legend[1], "pointerleave");
  // A loss is above 0.
  const [first, second] = all("#figure-curves [aria-label=of] button");
  second.click();
  found.scales = all("#figure-curves [aria-label=scale] button").map((button) => { button.click(); return curve(".picture")[0].classList.contains("log"); });
  first.click();

  // The legend switches an arm off and on.
  const toggle = document.querySelector("#figure-curves .legend button");
  toggle.click();
  found.curvesWithout = curve(".curve").length;
  toggle.click();
  found.curvesAgain = curve(".curve").length;

  // Hovering shows values.
  found.curveTip = hover(curve(".hit")[0]);
  found.cursor = [curve(".cursor line").length, curve(".cursor circle").map((dot) => style(dot, "fill"))];
  found.forestTip = hover(seen("#figure-forest .row")[0]);
  found.rowsSaid = seen("#figure-forest .row").map((row) => row.getAttribute("aria-label"));
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
    const ramp = () => document.querySelector("#attention .ramp").parentNode.textContent;
    found.ramps = [ramp()];
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
    found.ramps.push(ramp());
    found.lacking = all("#attention-problems li").map((line) => line.textContent);
  }
  found.copied = await copies(document.querySelector("#table .tools.copy"));
  found.signs = textsIn(["answers", "table", "all-answers", "differences", "talk"]);

  // The figure for a talk, and what is saved of it.
  found.talk = { rows: count("#figure-talk .talk-row"), controls: count("#figure-talk .choice"),
    letters: Math.min(...all("#figure-talk text").map((text) => parseFloat(getComputedStyle(text).fontSize))),
    texts: all("#figure-talk .talk-row").map((row) => [...row.querySelectorAll("text")].map((t) => t.textContent)),
    cut: all("#figure-talk .talk-row").filter((row) => {
      const edge = document.querySelector("#figure-talk svg").getBoundingClientRect().right;
      return row.getBoundingClientRect().right > edge;
    }).length, saved: savedFigure("#figure-talk", ".mark") };
  const downloads = found.downloads = [];
  window.download = (blob, name) => downloads.push([name.slice(-4), blob.type]);
  // What would be encoded on another thread, which virtual time does not wait for.
  HTMLCanvasElement.prototype.toBlob = function toBlob(done, type) {
    const { data } = this.getContext("2d").getImageData(0, 0, this.width, this.height / 2);
    const colours = new Set(new Uint32Array(data.buffer)).size;
    done({ type: [type, this.width, this.height, colours > 10].join() });
  };
  for (const button of all("#figure-talk .save")) button.click();
  for (let i = 0; i < 50 && downloads.length < 2; i += 1) await wait(100);

  // Every switch may be pressed.
  for (const button of all(".choice button")) button.click();
  await wait(100);

  found.saved = savedFigure("#figure-forest", ".symbol");
  writeDown(found);
});
