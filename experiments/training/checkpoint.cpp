#include "experiments/system/text.hpp"
#include "experiments/training/training.hpp"

#include <charconv>
#include <fmt/format.h>

namespace heed {

Parsed<std::int64_t> step_of(const Checkpoint& checkpoint) {
  using Result = Parsed<std::int64_t>;
  const auto it = checkpoint.metadata.find("step");
  if (it == checkpoint.metadata.end()) return Result::wrong("its metadata has no step");
  const std::string& text = it->second;
  std::int64_t step = 0;
  const auto [at, wrong] = std::from_chars(text.data(), text.data() + text.size(), step);
  if (wrong != std::errc() || at != text.data() + text.size() || step < 0)
    return Result::wrong(fmt::format("its step is \"{}\", which is not a number 0, 1, 2, ...", cut(text)));
  return Result::ok(step);
}

} // namespace heed
