// What the numbers come from: configurations, runs, machines.

function drawProblems() {
  const problems = arms.flatMap((arm) => arm.runs.filter((run) => run.problem).map((run) => [arm, run]));
  if (!problems.length) return;
  section("problems", "Runs that failed or are left out", element("div", { class: "scroll" },
    element("table", { class: "plain", id: "problem-runs" },
      element("thead", {}, element("tr", {}, ...["arm", "seed", "state", "reason", "folder"].map((title) =>
        element("th", { scope: "col" }, title)))),
      element("tbody", {}, ...problems.map(([arm, run]) => element("tr", {},
        element("th", { scope: "row" }, arm.label), element("td", {}, String(run.seed)),
        element("td", { class: "failed" }, run.state), element("td", {}, run.problem),
        element("td", {}, element("code", {}, run.folder))))))));
}

function differencesTable(arm) {
  if (!arm.differences.length) return element("p", { class: "note" }, "Nothing differs from the reference.");
  const value = (kind, text) => element("td", {}, text === "" ? element("span", { class: "note" }, "does nothing")
    : element(kind, {}, text));
  return element("table", { class: "plain" },
    element("thead", {}, element("tr", {}, ...["option", grouped ? arms[arm.against].label : "reference", "this arm"]
      .map((title) => element("th", { scope: "col" }, title)))),
    element("tbody", {}, ...arm.differences.map((difference) => element("tr", {},
      element("th", { scope: "row" }, element("code", {}, difference.key)),
      value("del", difference.reference), value("ins", difference.arm)))));
}

function drawConfigurations() {
  section("configurations", "Configurations",
    element("p", { class: "note" }, "Each arm's whole configuration, resolved, as a file that can be run by itself."),
    ...arms.map((arm) => element("details", {},
      element("summary", {}, arm.label, element("span", { class: "with" }, arm.reference ? "" :
        `  ${arm.changes.map(({ key, value }) => `${key} = ${value}`).join(", ")}`)),
      element("div", {}, arm.reference ? null : differencesTable(arm), element("pre", { tabindex: 0 }, arm.config)))));
}

function drawRuns() {
  const rows = arms.flatMap((arm) => arm.runs.map((run) => element("tr", {},
    element("th", { scope: "row" }, arm.label), element("td", {}, String(run.seed)),
    element("td", { class: ["failed", "left out"].includes(run.state) ? "failed" : null }, run.state),
    element("td", {}, valueText(run.value)), element("td", {}, run.seconds > 0 ? duration(run.seconds) : "–"),
    element("td", { class: "text" }, element("code", {}, run.folder)))));
  section("runs", "Runs", element("p", { class: "note" }, `${report.progress.sentence}.`),
    element("details", {}, element("summary", {}, `All ${rows.length} runs`), element("div", {},
      element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Runs" }, element("table", {},
        element("thead", {}, element("tr", {}, ...["arm", "seed", "state", report.metric.name, "time"].map((title) =>
          element("th", { scope: "col", style: "padding-block: 0.5rem" }, title)),
        element("th", { scope: "col", class: "text" }, "folder"))),
        element("tbody", {}, ...rows))))));
}

function drawProvenance() {
  const list = element("dl");
  const say = (term, ...what) => list.append(element("dt", {}, term), element("dd", {}, ...what));
  for (const machine of report.machines)
    say(`${machine.runs} run${machine.runs === 1 ? "" : "s"}`, machine.description);
  if (report.data) say("data", element("code", {}, report.data));
  say("seeds", report.seeds.join(", "));
  say("sweep", element("code", {}, report.folder));
  section("provenance", "Where these numbers come from", report.machines.length < 2 ? null
    : element("p", { class: "warning" },
      "These runs were not all made by the same program on the same kind of machine: " +
      "bits may differ between them."), list);
}
