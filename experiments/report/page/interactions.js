// Whether what one option does depends on another.

function drawInteractions() {
  const { interactions } = report;
  if (!interactions.length) return;
  const list = element("ul", { class: "answers" });
  for (const interaction of interactions)
    list.append(element("li", {}, markIcon(verdict(interaction)),
      element("span", {}, unbroken(interaction.sentence))));
  section("interactions", "Interactions", element("p", { class: "note" },
    "The effect of an option with the other, minus its effect without it, of each seed. Tested by sign flips over all " +
    "interactions together."), list);
}
