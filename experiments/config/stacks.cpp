#include "experiments/config/stacks.hpp"

#include <algorithm>
#include <iterator>

namespace heed {

bool Stacks::has(std::string_view name) const { return std::ranges::find(all, name, &Stack::name) != all.end(); }

bool Stacks::means(const BlockOverride& override, std::size_t stack, std::int64_t block) const {
  if (!override.stack.empty() && override.stack != all[stack].name) return false;
  const std::int64_t number = override.stack.empty() ? std::min(block, all.front().blocks - 1) : block;
  return override.layers.empty() || std::ranges::find(override.layers, number) != override.layers.end();
}

bool Stacks::means_any(const BlockOverride& override) const {
  if (!override.stack.empty() && !has(override.stack)) return false;
  return override.layers.empty() || missing(override).size() < override.layers.size();
}

std::vector<std::int64_t> Stacks::missing(const BlockOverride& override) const {
  std::vector<std::int64_t> out;
  const std::int64_t blocks = counted(override).blocks;
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
