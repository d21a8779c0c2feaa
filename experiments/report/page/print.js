// The page on paper, which has no buttons: what is folded is printed, and figures are small enough to share a page.

const tallest = 320;  // pixels of a block that is not broken, so that no more of a page can be left empty

/** Blocks that stand whole on one page, for CSS. */
function markWhole() {
  for (const block of document.querySelectorAll("main .fitted, main .answers, main .notes"))
    block.classList.toggle("whole", block.offsetHeight > 0 && block.offsetHeight <= tallest);
}

/** The further metrics' answers stand with all answers, at the end, if there is such a section. */
function moveFurther(where) {
  const place = document.getElementById(where);
  if (place && document.getElementById("all-answers"))
    place.append(...document.querySelectorAll("details.further-answers"));
}

/** Headings are texts on paper: browsers repeat a table's head on each page, but not the buttons in it. */
const headings = [];
function headingsAsTexts() {
  for (const button of document.querySelectorAll("thead button")) {
    const text = new Text(button.textContent);
    button.replaceWith(text);
    headings.push([text, button]);
  }
}
function headingsAsButtons() {
  for (const [text, button] of headings.splice(0)) text.replaceWith(button);
}

window.addEventListener("beforeprint", () => {
  moveFurther("all-answers");
  for (const details of document.querySelectorAll("details.more-notes:not([open]), details.further-answers:not([open])")) {
    details.open = true;
    details.dataset.printed = "";
  }
  headingsAsTexts();
  onPaper = true;
  for (const redraw of figures) redraw();
  markWhole();
});
window.addEventListener("afterprint", () => {
  moveFurther("answers");
  for (const details of document.querySelectorAll("details[data-printed]")) {
    details.open = false;
    delete details.dataset.printed;
  }
  headingsAsButtons();
  onPaper = false;
  for (const redraw of figures) redraw();
});
