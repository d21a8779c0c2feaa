// The same for a sweep of which one arm diverged: the axes of differences and single runs, for most arms and for all.
addEventListener("load", async () => {
  const found = {};
  await drawn();
  Object.assign(found, await lookAround());
  const look = (figure) => ({
    outside: figure === "single" ? count("#figure-single .out")
      : seen("#figure-forest .outside").length,
    pressed: all(`#figure-${figure} [aria-label=show] button`)
      .filter((button) => button.getAttribute("aria-pressed") === "true").map((button) => button.textContent),
    ticks: seen(`#figure-${figure} :is(.axis .tick, text.tick)`).map((tick) => tick.textContent),
    labels: all(`#figure-${figure} .row text`).map((text) => text.textContent),
  });
  found.slide = all("#figure-talk .talk-row").map((row) => row.textContent);
  for (const figure of ["forest", "single"]) {
    const most = look(figure), buttons = all(`#figure-${figure} [aria-label=show] button`);
    buttons[1].click();
    found[figure] = [most, look(figure)];
  }
  writeDown(found);
});
