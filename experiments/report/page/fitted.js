// Tables that fit the page, however narrow: with all columns; else with those of first rank, the others folded into a
// row beneath each; else each row as a block of named values.

/** From the widest to the narrowest. In `tight`, an interval may stand beneath its difference. */
const layouts = ["all", "main", "tight", "stacked"];

/** What a row's folded columns say: [[title, children], ...]. */
function foldedRow(columns, values) {
  return element("tr", { class: "fold" }, element("td", { colspan: columns }, ...values.flatMap(([title, what]) =>
    [element("span", {}, element("span", { class: "with" }, `${title} `), ...what), " "])));
}

/**
 * Where rows are blocks, each cell shows its column's title. Browsers take a table of blocks for no table, unless its
 * parts say what they are.
 */
function nameParts(table) {
  const roles = { TABLE: "table", THEAD: "rowgroup", TBODY: "rowgroup", TR: "row", TD: "cell" };
  const titles = [...table.tHead.rows[0].cells].map(({ textContent }) => textContent);
  for (const row of table.tBodies[0].rows)
    for (const [i, cell] of [...row.cells].entries()) if (cell.colSpan === 1 && i) cell.dataset.title = titles[i];
  for (const node of [table, ...table.querySelectorAll("thead, tbody, tr, td, th")])
    node.setAttribute("role", roles[node.tagName] || (node.scope === "col" ? "columnheader" : "rowheader"));
}

/**
 * The table in a place of its own, laid out anew whenever the width changes, with the buttons that copy it; `folded` are
 * the titles of the columns of second rank.
 */
function fitted(table, name, folded = []) {
  const place = element("div", { class: "fitted" }, table);
  const longest = d3.max([...table.tBodies[0].rows].filter((row) => row.className !== "fold"),
    (row) => row.cells[0].textContent.length) || 0;
  table.style.setProperty("--name", `${Math.min(15, 0.55 * longest).toFixed(1)}em`);
  const more = element("button", { type: "button", "aria-expanded": "false", hidden: "", on: { click() {
    const open = table.classList.toggle("more");
    more.setAttribute("aria-expanded", String(open));
    more.textContent = open ? less : all;
  } } });
  const all = `show ${folded.join(", ")}`, less = `hide ${folded.join(", ")}`;
  more.textContent = all;
  let laid = 0;
  const lay = () => {
    laid = place.clientWidth;
    if (!laid) return;
    for (const layout of layouts) {
      table.dataset.layout = layout;
      if (table.offsetWidth <= laid) break;
    }
    if (table.dataset.layout === "stacked") nameParts(table);
    more.hidden = !folded.length || table.dataset.layout === "all";
  };
  // What a closed element holds has no layout. Once it opens, its tables must fit before they are seen.
  document.addEventListener("toggle", ({ target }) => { if (target.contains(place)) lay(); }, true);
  new ResizeObserver(() => requestAnimationFrame(() => { if (Math.abs(place.clientWidth - laid) > 1) lay(); }))
    .observe(place);
  const tools = copyTools(table, name);
  tools.prepend(more);
  return element("div", {}, tools, place);
}
