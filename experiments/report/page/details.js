// What the numbers come from: configurations, runs, machines.

function drawProblems() {
  if (!report.problems.length) return;
  const table = tableOf({ class: "plain", id: "problem-runs" }, ["arm", "seeds", "state", "reason", "runs"],
    report.problems.map((group) => element("tr", {},
      element("th", { scope: "row" }, unbroken(group.arm)), element("td", {}, group.seeds.join(", ")),
      element("td", { class: "failed" }, group.state), element("td", {}, group.reason),
      element("td", {}, ...group.runs.flatMap((id, i) => [i ? ", " : "", element("code", {}, id)])))));
  section("problems", "Runs that failed or are left out", fitted(table, "runs that failed"));
}

// What each arm was given: the width that evens it out, and what it tried for itself.
function drawFairness() {
  const { tuning } = report, matching = notesOf("matching");
  if (!matching.length && !tuning) return;
  const parts = matching.length ? [element("ul", { class: "notes" }, ...matching.map((note) => element("li", {}, noteText(note))))]
    : [];
  if (tuning) {
    const one = tuning.options.length === 1;
    const heading = (point) => (one ? point.replace(/^.* = /, "") : point);
    const cell = (of, i) => {
      const text = of.problems[i] ? "failed" : of.texts[i];
      return element("td", { title: of.problems[i] || null }, i === of.chosen ? element("strong", {}, text) : text);
    };
    const choice = (of) => (of.chosen === null ? "–"
      : `${heading(tuning.points[of.chosen])}${of.edge ? ", on the edge" : ""}`);
    const table = tableOf({ id: "tuning" }, ["arm", ...tuning.points.map(heading), "chosen"],
      arms.map((arm, a) => armRow(arm, ...tuning.points.map((_, i) => cell(tuning.arms[a], i)),
        element("td", {}, choice(tuning.arms[a])))));
    parts.push(element("p", { class: "note" }, `${tuning.options.join(", ")}: each arm's mean of ${report.metric.name} ` +
      `over seeds of its own (${tuning.seeds.join(", ")}) at every point that was tried. It took the best; where that ` +
      "lies on the edge of the grid, a value beyond may be better still."),
    fitted(table, "tuning"));
  }
  section("fairness", "What each arm was given", ...parts);
}

function differencesTable(arm) {
  if (!arm.differences.length) return element("p", { class: "note" }, "Nothing differs from the reference.");
  const value = (kind, text) => element("td", {}, text === "" ? element("span", { class: "note" }, "does nothing")
    : element(kind, {}, text));
  const table = tableOf({ class: "plain" }, ["option", grouped ? arms[arm.against].label : "reference", "this arm"],
    arm.differences.map((difference) => element("tr", {},
      element("th", { scope: "row" }, element("code", {}, difference.key)),
      value("del", difference.reference), value("ins", difference.arm))));
  return fitted(table, `what differs in ${arm.label}`);
}

function drawConfigurations() {
  if (report.table) return;  // of runs made elsewhere, no configuration is known
  section("configurations", "Configurations",
    element("p", { class: "note" }, "Each arm's whole configuration, resolved, as a file that can be run by itself."),
    ...arms.map((arm) => element("details", {},
      element("summary", {}, arm.label, element("span", { class: "with" }, arm.reference ? "" :
        `  ${arm.changes.map(({ key, value }) => `${key} = ${value}`).join(", ")}`)),
      element("div", {}, arm.reference ? null : differencesTable(arm), element("pre", { tabindex: 0 }, arm.config)))));
}

function drawRuns() {
  const rows = arms.flatMap((arm) => arm.runs.map((run) => element("tr", {},
    element("th", { scope: "row" }, arm.label), element("td", {}, run.seed_text),
    element("td", { class: ["failed", "left out"].includes(run.state) ? "failed" : null }, run.state),
    element("td", { "data-tsv": run.value === null ? "" : run.value }, run.texts.value),
    element("td", { "data-tsv": run.seconds || "" }, run.texts.seconds),
    element("td", { class: "text" }, element("code", {}, report.table ? run.id : run.folder)))));
  const table = tableOf({ id: "all-runs" }, ["arm", "seed", "state", report.metric.name,
    element("th", { scope: "col", "data-tsv": "seconds" }, "time"),
    element("th", { scope: "col", class: "text" }, report.table ? "run" : "folder")], rows);
  section("runs", "Runs", element("p", { class: "note" }, `${report.progress.sentence}.`),
    element("details", {}, element("summary", {}, rows.length === 1 ? "The run" : `All ${rows.length} runs`), element("div", {},
      fitted(table, "runs"))));
}

function drawProvenance() {
  const list = element("dl");
  const say = (term, ...what) => list.append(element("dt", {}, term), element("dd", {}, ...what));
  for (const machine of report.machines)
    say(`${machine.runs} run${machine.runs === 1 ? "" : "s"}`, machine.description);
  if (report.data) say("data", element("code", {}, report.data));
  if (!report.table) {
    say("seeds", report.seeds.join(", "));
    say("sweep", element("code", {}, report.folder));
  } else {
    say("table", element("code", {}, report.table.file));
    say("columns", report.table.columns);
  }
  section("provenance", "Where these numbers come from", report.machines.length < 2 ? null
    : element("p", { class: "warning" },
      "These runs were not all made by the same program on the same kind of machine: " +
      "bits may differ between them."), list);
}
