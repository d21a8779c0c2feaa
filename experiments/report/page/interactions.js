// Whether what one option does depends on another.

function drawInteractions() {
  const { interactions } = report;
  if (!interactions.length) return;
  const list = element("ul", { class: "answers" });
  for (const interaction of interactions)
    list.append(element("li", {}, markIcon(verdict(interaction)),
      element("span", {}, unbroken(interaction.answer))));
  section("interactions", "Interactions", element("p", { class: "note" },
    "What an option makes with the other, less what it makes without it: of each seed, tested by sign flips over all " +
    "interactions together."), list);
}
