// The stacks of a model's blocks, and which of them an override means.
#include "experiments/config/resolution.hpp"

#include <algorithm>
#include <iterator>

namespace heed {

bool Stacks::has(std::string_view name) const { return std::ranges::find(all, name, &Stack::name) != all.end(); }

bool Stacks::means(const BlockOverride& override, std::size_t stack, std::int64_t block) const {
  if (!override.stack.empty() && override.stack != all[stack].name) return false;
  const std::int64_t number = override.stack.empty() ? std::min(block, all.front().blocks - 1) : block;
  if (!override.layers.empty()) return std::ranges::find(override.layers, number) != override.layers.end();
  return number >= override.from && (override.to < 0 || number <= override.to) &&
         (number - override.from + 1) % override.every == 0;
}

bool Stacks::means_any(const BlockOverride& override) const {
  if (!override.stack.empty() && !has(override.stack)) return false;
  if (!override.layers.empty()) return missing(override).size() < override.layers.size();
  return override.from + override.every <= counted(override).blocks;
}

std::vector<std::int64_t> Stacks::missing(const BlockOverride& override) const {
  std::vector<std::int64_t> out;
  const std::int64_t blocks = counted(override).blocks;
  if (override.to >= blocks) out.push_back(override.to);
  std::ranges::copy_if(override.layers, std::back_inserter(out), [=](std::int64_t number) { return number >= blocks; });
  return out;
}

const Stack& Stacks::counted(const BlockOverride& override) const {
  const auto found = std::ranges::find(all, override.stack, &Stack::name);
  return found == all.end() ? all.front() : *found;
}

bool Stacks::reads(std::size_t stack, std::string_view key) const {
  return stack + 1 == all.size() || !key.starts_with("attention.cross_");
}

} // namespace heed
