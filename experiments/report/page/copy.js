// Tables for the clipboard: as tab-separated values, which spreadsheets take, and as Markdown.

/** What a cell says without its pictures. */
function cellText(cell) {
  const copy = cell.cloneNode(true);
  for (const hidden of copy.querySelectorAll("[aria-hidden=true]")) hidden.remove();
  return copy.textContent.replace(/\s+/g, " ").trim();
}

/** A table's rows of texts. A row's `data-label` is its name where no heading of a group stands above it. */
const tableRows = (table, textsOf) => [...table.rows]
  .filter((row) => !row.matches(".group, .fold"))
  .map((row) => [...row.cells].flatMap((cell, i) => (!i && row.dataset.label ? [row.dataset.label] : textsOf(cell))));

/** A spreadsheet would execute a text that begins so (or with one of their wide twins); a number is none. */
const noFormula = (text) => (/^[=+\-@＝＋－＠]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text);

/** A text in a Markdown cell that shows just it: no mark, HTML, or link of an address (report/markdown_text.cpp). */
const markdownText = (text) => text.replace(/[\\`*{}<>|[\]#~$&]/g, "\\$&")
  .replace(/(^|\W)_|_(?=\W|$)/g, (marked) => `${marked.slice(0, -1)}\\_`)
  .replace(/:(?=\/)/g, "\\:").replace(/(www)\./gi, "$1\\.").replace(/@/g, "@<!-- -->");

/** A cell's `data-tsv` stands for what it shows: numbers in full, each in a column of its own. */
function asTsv(table) {
  const plain = (text) => noFormula(text.replace(/[\t\r\n]+/g, " ").replace(/\u2212/g, "-").replace(/^–$/, ""));
  const texts = (cell) => (cell.dataset.tsv === undefined ? [cellText(cell)] : cell.dataset.tsv.split("\t"));
  return tableRows(table, texts).map((row) => `${row.map(plain).join("\t")}\n`).join("");
}

function asMarkdown(table) {
  const line = (cells) => `| ${cells.join(" | ")} |\n`;
  const [head, ...rows] = tableRows(table, (cell) => [cellText(cell)]).map((row) => line(row.map(markdownText)));
  const right = (cell) => cell.cellIndex > 0 && !cell.classList.contains("text") && !table.classList.contains("plain");
  const rule = [...table.rows[0].cells].map((cell) => (right(cell) ? "---:" : "---"));
  return head + line(rule) + rows.join("");
}

/** A text to be copied by hand, where the browser lets no program do it. */
function showText(text) {
  const area = element("textarea", { readonly: "", rows: 12, "aria-label": "The table as text" });
  area.value = text;
  const dialog = element("dialog", { "aria-label": "The table as text", on: { close: () => dialog.remove() } },
    element("p", { class: "note" }, "This browser lets no page copy for you: press Ctrl+C, or ⌘C, then Escape."), area,
    element("div", { class: "tools" }, element("button", { type: "button", on: { click: () => dialog.close() } },
      "Close")));
  document.body.append(dialog);
  dialog.showModal();
  area.focus();
  area.select();
}

/** Whether a text got onto the clipboard. Pages from the disk may have no `navigator.clipboard`. */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch (refused) {
    const area = element("textarea", { class: "aside", readonly: "", "aria-hidden": "true" });
    const had = document.activeElement;
    area.value = text;
    document.body.append(area);
    area.focus({ preventScroll: true });
    area.select();
    let done = false;
    try {
      done = document.execCommand("copy");
    } catch (unknown) {
      done = false;
    }
    area.remove();
    if (had) had.focus({ preventScroll: true });
    return done;
  }
}

/** The buttons that copy a table; `name` is what it is called. */
function copyTools(table, name) {
  const said = element("span", { role: "status", class: "note" });
  const button = (way, text) => element("button", { type: "button", title: `Copy this table as ${way}`,
    "aria-label": `Copy ${name} as ${way}`, on: { async click() {
      const content = text(table);
      if (!await copyText(content)) {
        showText(content);
        return;
      }
      said.textContent = "copied";
      setTimeout(() => { said.textContent = ""; }, 2000);
    } } }, way);
  return element("div", { class: "tools copy" }, said, element("span", { "aria-hidden": "true" }, "copy as"),
    button("TSV", asTsv), button("Markdown", asMarkdown));
}
