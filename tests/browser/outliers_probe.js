// The same for a sweep of which one arm diverged: the axes of differences and single runs, for most arms and for all.
addEventListener("load", async () => {
  const found = {};
  await drawn();
  Object.assign(found, await lookAround());
  const look = (figure) => ({
    outside: figure === "single" ? count("#figure-single .out")
      : all("#figure-forest .mark").filter((mark) => mark.getAttribute("d").startsWith("M7")).length,
    pressed: all(`#figure-${figure} [aria-label=show] button`)
      .filter((button) => button.getAttribute("aria-pressed") === "true").map((button) => button.textContent),
    ticks: all(`#figure-${figure} .axis .tick`).map((tick) => tick.textContent),
    labels: all(`#figure-${figure} .row text`).map((text) => text.textContent),
  });
  const places = (which) => all(`#figure-curves .outside.${which} text`).map((text) => Number(text.getAttribute("y")));
  Object.assign(found, { above: places("above"), under: places("under"), continues: count("#figure-forest .continues"),
    slide: all("#figure-talk .talk-row").map((row) => row.textContent) });
  for (const figure of ["forest", "single"]) {
    const most = look(figure), buttons = all(`#figure-${figure} [aria-label=show] button`);
    buttons[1].click();
    found[figure] = [most, look(figure)];
  }
  writeDown(found);
});
