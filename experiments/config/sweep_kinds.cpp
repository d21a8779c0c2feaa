#include "experiments/config/sweep_kinds.hpp"

#include "experiments/config/draws.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace heed {
namespace {

std::string spaced(std::string text) {
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::vector<Candidate> expand_grid(const SweepBlock& block) {
  std::vector<Candidate> out;
  for (auto& changes : combinations(block.axes, block.origin)) out.push_back({std::move(changes), "", block.origin});
  return out;
}

std::vector<Candidate> expand_zip(const SweepBlock& block) {
  std::vector<Candidate> out;
  for (const auto& [key, values] : block.axes) {
    out.resize(values.size(), Candidate{{}, "", block.origin});
    for (std::size_t i = 0; i < values.size(); ++i) out[i].changes.push_back(values.at(i));
  }
  return out;
}

std::vector<Candidate> expand_list(const SweepBlock& block) {
  std::vector<Candidate> out;
  for (const NamedChanges& arm : block.sets) out.push_back({arm.changes, spaced(arm.name), arm.origin});
  return out;
}

std::vector<Candidate> each_set(const SweepBlock& block, const std::string& word) {
  std::vector<Candidate> out;
  for (const NamedChanges& set : block.sets) out.push_back({set.changes, word + " " + spaced(set.name), set.origin});
  return out;
}

std::vector<Candidate> expand_leave_one_out(const SweepBlock& block) { return each_set(block, "without"); }

std::vector<Candidate> expand_add_one(const SweepBlock& block) { return each_set(block, "with"); }

/// Both sets of changes together. An option in both must have the same value.
Candidate together(const NamedChanges& a, const NamedChanges& b) {
  Candidate out{a.changes, fmt::format("without {} and {}", spaced(a.name), spaced(b.name)), b.origin};
  for (const Change& change : b.changes) {
    const auto same = std::find_if(a.changes.begin(), a.changes.end(),
                                   [&](const Change& other) { return other.key == change.key; });
    if (same == a.changes.end()) out.changes.push_back(change);
    else if (same->value != change.value)
      throw Refused(fmt::format("{}: off.{} and off.{} both set {}, to different values, so they can't be ablated "
                                "together; put one of them into a block of its own (kind = \"leave_one_out\")",
                                change.origin.text(), a.name, b.name, change.key));
  }
  return out;
}

std::vector<Candidate> expand_pairwise(const SweepBlock& block) {
  std::vector<Candidate> out = expand_leave_one_out(block);
  for (std::size_t i = 0; i < block.sets.size(); ++i)
    for (std::size_t j = i + 1; j < block.sets.size(); ++j) out.push_back(together(block.sets[i], block.sets[j]));
  return out;
}

std::vector<Candidate> expand_random(const SweepBlock& block) {
  std::vector<Candidate> out;
  for (std::int64_t i = 0; i < block.count; ++i) {
    Candidate candidate{{}, "", block.origin};
    for (const Draw& draw : block.draws)
      candidate.changes.push_back({draw.key, drawn_value(draw, block.seed, i), draw.origin});
    out.push_back(std::move(candidate));
  }
  return out;
}

} // namespace

const std::vector<SweepKind>& sweep_kinds() {
  static const std::vector<SweepKind> all{
      {"grid", "every combination of the values", "grid", SweepForm::crossed, "", expand_grid},
      {"zip", "one arm of the first values, one of the second values, and so on", "zip", SweepForm::paired, "",
       expand_zip},
      {"list", "these arms", "arms", SweepForm::arms, "each arm", expand_list},
      {"random", "values drawn from distributions", "random", SweepForm::draws, "", expand_random},
      {"leave_one_out", "each ablation by itself", "off", SweepForm::sets, "each ablation", expand_leave_one_out},
      {"add_one", "each addition by itself", "on", SweepForm::sets, "each addition", expand_add_one},
      {"pairwise",
       "each ablation by itself, and every pair of ablations "
       "together",
       "off", SweepForm::sets, "each ablation", expand_pairwise},
  };
  return all;
}

std::vector<std::vector<Change>> combinations(const std::vector<Axis>& axes, const Origin& origin) {
  std::size_t count = 1;
  for (const auto& [key, values] : axes)
    if (__builtin_mul_overflow(count, values.size(), &count) || count > most_arms)
      throw Refused(fmt::format("{}: this grid has more than {} combinations; make it several blocks", origin.text(),
                                most_arms));
  std::vector<std::vector<Change>> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t rest = i;
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
      out[i].insert(out[i].begin(), axis->second[rest % axis->second.size()]);
      rest /= axis->second.size();
    }
  }
  return out;
}

std::vector<Candidate> expand(const SweepBlock& block) {
  for (const SweepKind& kind : sweep_kinds())
    if (kind.name == block.kind) return kind.expand(block);
  throw Refused(fmt::format("{}: there is no kind of block '{}'", block.origin.text(), block.kind));
}

} // namespace heed
