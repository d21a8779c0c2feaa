// The page: its head, its sections in their order, and the way between them.

function drawHead() {
  const head = document.getElementById("head"), { metric, progress } = report;
  head.append(element("p", { class: "eyebrow" }, report.question ? `Heed report · ${report.name}` : "Heed report"),
    element("h1", {}, report.question || report.name),
    element("p", { class: "lead" }, `${arms.length === 1 ? "" : `${arms.length} arms, `}${report.seeds.length} seed` +
      `${report.seeds.length === 1 ? "" : "s"}; ${progress.sentence}. ${metric.name} is ${metric.meaning}` +
      `${metric.unit ? `, in ${metric.unit}` : ""}; ${metric.direction}.`));
  const lost = progress.failed + progress.left_out + progress.gone;
  if (progress.finished + lost < progress.total)
    head.append(element("p", { class: "warning" }, "Not all runs have finished: the numbers on this page are of those that have."));
  else if (lost)
    head.append(element("p", { class: "warning" }, `${lost} of ${progress.total} runs ` +
      `${lost === 1 ? "is" : "are"} in no number on this page: ${[["failed", progress.failed],
        ["left out", progress.left_out], ["gone", progress.gone]].filter(([, count]) => count)
        .map(([what, count]) => `${count} ${what}`).join(", ")}.`));
  for (const sentence of report.warnings) head.append(element("p", { class: "warning" }, sentence));
  for (const sentence of report.limits) head.append(element("p", { class: "warning" }, sentence));
  head.append(element("nav", { "aria-label": "Sections" },
    ...sections.flatMap(([id, title]) => [element("a", { href: `#${id}` }, title), " "])));
}

drawAnswers();
drawTable();
drawFurther();
drawForest();
drawSingle();
drawCrossed();
drawInteractions();
drawTrend();
drawCurves();
drawLengths();
drawScatter();
drawTalk();
drawAllAnswers();
drawAttention();
drawFairness();
drawProblems();
drawConfigurations();
drawRuns();
drawProvenance();
drawHead();
document.getElementById("foot").append(`Made by Heed from ${report.folder}. `,
  "Figures are drawn with D3 (d3js.org, ISC licence), which is within this file.");
