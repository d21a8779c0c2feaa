// Across the groups: how the metric, time, memory, parameters and state go with what the groups are made by.

const timeSteps = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 18000, 36000, 86400, 172800, 432000];
function timeTicks(scale, most, log) {
  const [low, high] = scale.domain();
  if (high < 60) return log ? logTicks(scale, most) : scale.ticks(most);
  if (log) {
    const short = [0.001, 0.01, 0.1].flatMap((power) => [1, 2, 5].map((digit) => digit * power));
    const inside = [...short, ...timeSteps].filter((step) => step >= low && step <= high);
    return inside.length > 2 ? apart(inside, (value) => -scale(value), 20) : scale.ticks(most);
  }
  const step = timeSteps.find((candidate) => (high - low) / candidate <= most);
  return step ? d3.range(Math.ceil(low / step) * step, high + step / 1000, step) : scale.ticks(most);
}

/** What may stand on the figure's y axis, where it is known. `spread` is a standard deviation over seeds. */
function trendMeasures() {
  const none = () => null, { metric } = report;
  return [
    { key: "metric", name: metric.name, title: metric.name + unit, of: (arm) => arm.mean,
      spread: (arm) => arm.standard_deviation, tick: null },
    { key: "time", name: "time", title: "training time of a run", of: (arm) => arm.seconds,
      spread: (arm) => arm.seconds_deviation, tick: timeTick, ticks: timeTicks },
    { key: "memory", name: "memory", title: "peak memory of a run on one thread", of: memory, spread: none,
      tick: bytesTick },
    { key: "parameters", name: "parameters", title: "parameters", of: (arm) => arm.cost && arm.cost.parameters,
      spread: none, tick: d3.format("~s") },
    ...(stateDiffers ? [{ key: "state_size", name: "state", title: stateTitle, of: stateSize, spread: none,
      tick: d3.format("~s") }] : []),
  ].filter(({ of }) => arms.some((arm) => of(arm) !== null));
}

/** An arm's point: its value, its difference from its reference or its ratio to it; null where there is none. */
function trendPoint(arm, x, { key, of, spread }, view) {
  const value = of(arm), base = of(arms[arm.against]), { texts } = arm;
  if (value === null || value === undefined) return null;
  const around = (y, by, cells, range = [null, null]) => ({ x, y, cells,
    low: withinRange(range, y - by), high: withinRange(range, y + by) });
  if (view === "value")
    return around(value, spread(arm) || 0, key === "metric" ? [texts.mean, texts.spread]
      : [texts[key], texts[`${key}_spread`] || ""],
    key === "metric" ? report.metric.range : [0, null]);
  if (base === null || base === undefined) return null;
  if (view === "ratio")
    return base <= 0 ? null : around(value / base, (spread(arm) || 0) / base,
      [texts.ratios[key], texts.ratios[`${key}_spread`] || ""], [0, null]);
  if (arm.reference) return null;
  if (key !== "metric") return around(value - base, 0, [texts.differences[key]]);
  if (!arm.comparison) return null;
  const { difference, interval } = arm.comparison, [low, high] = (interval || [null, null]).map((end) => end ?? difference);
  return { x, y: difference, low, high, cells: comparisonTexts(arm) };
}

function drawTrend() {
  if (groups.length < 2) return;
  const texts = groups.map(({ text }) => text), numbers = within.length === 1 ? texts.map(Number) : [NaN];
  const numeric = numbers.every(Number.isFinite);
  const [least, most] = d3.extent(numbers);
  const kind = !numeric ? "ordinal" : least > 0 && most / least >= 8 ? "log" : "linear";
  const x = (arm) => (numeric ? numbers[arm.place] : texts[arm.place]);
  const inOrder = (a, b) => {
    const at = a.findIndex((value, i) => value !== b[i]);
    return at < 0 ? 0 : a[at] - b[at] || 0;  // words stay where they are
  };
  const values = numeric ? [...numbers].sort((a, b) => a - b)
    : groups.map(({ arms: [first] }) => first.group.map(Number)).map((tuple, i) => ({ tuple, text: texts[i] }))
      .sort((a, b) => inOrder(a.tuple, b.tuple)).map(({ text }) => text);
  const measures = trendMeasures();
  let measure = measures[0], view = "value", log = false;

  /** A line for each name, with its points in the order of the axis. */
  function lines() {
    return [...new Set(arms.map((arm) => arm.name))].map((name) => {
      const same = arms.filter((arm) => arm.name === name).sort((a, b) => values.indexOf(x(a)) - values.indexOf(x(b)));
      return { ...armLine(same[0]),
        points: same.map((arm) => trendPoint(arm, x(arm), measure, view)).filter(Boolean) };
    }).filter(({ points }) => points.length);
  }
  const positive = () => lines().every(({ points }) => points.every(({ y }) => y > 0));

  function plot() {
    const { title, tick } = measure, signedTick = (value) => (value < 0 ? minus("-") : "") + tick(Math.abs(value));
    const ways = { value: "", difference: ", difference from the reference", ratio: ", ratio to the reference" };
    return {
      lines: lines(),
      x: { kind, values, label: withinNames.join(", "), text: numeric ? withCommas : String },
      y: { log: log && positive(), label: title + ways[view], range: view === "difference" ? [null, null]
        : view === "value" && measure.key === "metric" ? report.metric.range : [0, null], level: view === "difference" ? [0, "reference"] : null,
        ticks: view === "ratio" ? null : measure.ticks,
        text: view === "ratio" ? (value) => `${d3.format("~g")(value)} ×` : tick && signedTick },
    };
  }
  const scale = choice("scale", [[false, "linear"], [true, "log"]], false, (value) => { log = value; shown.redraw(); });
  const renew = () => {
    scale.hidden = !positive();
    shown.renew();
  };
  const views = [["value", "value"], ["difference", "difference"], ["ratio", "ratio"]];
  const tools = [choice("of", measures.map((each) => [each.key, each.name]), measures[0].key, (chosen) => {
    measure = measures.find(({ key }) => key === chosen);
    renew();
  }), choice("show", views, view, (value) => { view = value; renew(); }), scale];
  const names = withinNames.join(" and ");
  const shown = lineSection("trend", `By ${names}`, `Each arm's mean over its seeds against ${names}. Whiskers are a ` +
    `standard deviation over seeds to either side${haveIntervals(compared) ? `; those of the metric's differences are ` +
      `${confidence} intervals by sign flips, for all arms at once` : ""}. ` +
    "Differences and ratios are from the group's own reference; lines only lead the eye.", tools, plot);
  scale.hidden = !positive();
}
