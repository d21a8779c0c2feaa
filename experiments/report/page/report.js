// The page: its head, its sections in their order, and the way between them.

/** How many arms there are, and why fewer are compared: "15 arms (the reference, 13 compared with it, 1 without ...), ". */
function armCounts() {
  if (arms.length === 1) return "";
  const references = arms.filter((arm) => arm.reference).length, without = arms.length - references - compared.length;
  const parts = [references === 1 ? "the reference" : `${references} references`,
    `${compared.length} compared with ${references === 1 ? "it" : "them"}`, without ? `${without} without results` : ""];
  return `${arms.length} arms (${parts.filter(Boolean).join(", ")}), `;
}

/** What a metric is called here, and in the configuration if that is another name. */
const fullName = ({ name, true_name: own }) => (own && own !== name ? `${name} (${own})` : name);

function drawHead() {
  const head = document.getElementById("head"), { metric, progress, table } = report;
  const kind = table ? "Heed report of results made elsewhere" : "Heed report", count = report.seeds.length;
  const seeds = table && !table.paired_by ? `up to ${count} run${count === 1 ? "" : "s"} of each arm`
    : table && table.paired_by !== "seed" ? `${count} combinations of ${table.paired_by}` : `${count} seed${count === 1 ? "" : "s"}`;
  head.append(element("p", { class: "eyebrow" }, report.question ? `${kind} · ${report.name}` : kind),
    element("h1", {}, report.question || report.name),
    element("p", { class: "lead" }, `${armCounts()}${seeds}; ${progress.sentence}. ${fullName(metric)} is ${metric.meaning}` +
      `${metric.unit ? `, in ${metric.unit}` : ""}; ${metric.direction}.`));
  if (table) head.append(element("p", { class: "warning" }, report.warnings[0]));
  const lost = progress.failed + progress.left_out + progress.gone;
  if (progress.finished + lost < progress.total)
    head.append(element("p", { class: "warning" }, "Not all runs have finished: the numbers on this page are of those that have."));
  else if (lost)
    head.append(element("p", { class: "warning" }, `${lost} of ${progress.total} runs ` +
      `${lost === 1 ? "is" : "are"} excluded from all numbers on this page: ${[["failed", progress.failed],
        ["left out", progress.left_out - progress.no_row], ["missing", progress.no_row], ["gone", progress.gone]].filter(([, count]) => count)
        .map(([what, count]) => `${count} ${what}`).join(", ")}.`));
  for (const sentence of report.warnings.slice(table ? 1 : 0)) head.append(element("p", { class: "warning" }, sentence));
  for (const sentence of report.limits) head.append(element("p", { class: "warning" }, sentence));
  head.append(element("nav", { "aria-label": "Sections" },
    ...sections.flatMap(([id, title]) => [element("a", { href: `#${id}` }, title), " "])));
}

drawAnswers();
drawOver();
drawTable();
drawFurther();
drawForest();
drawSingle();
drawCrossed();
drawInteractions();
drawVariance();
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
document.getElementById("foot").append(`Made by Heed from ${report.table ? report.table.file : report.folder}. `,
  "Figures are drawn with D3 (d3js.org, ISC licence), which is within this file.");
