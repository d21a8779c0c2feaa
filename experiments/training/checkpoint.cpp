#include "experiments/system/text.hpp"
#include "experiments/training/training.hpp"

#include <fmt/format.h>

namespace heed {

Parsed<std::int64_t> step_of(const Checkpoint& checkpoint) {
  using Result = Parsed<std::int64_t>;
  const auto it = checkpoint.metadata.find("step");
  if (it == checkpoint.metadata.end()) return Result::wrong("its metadata has no step");
  const auto step = number_of<std::int64_t>(it->second);
  if (!step || *step < 0)
    return Result::wrong(fmt::format("its step is \"{}\", which is not a number 0, 1, 2, ...", cut(it->second)));
  return Result::ok(*step);
}

} // namespace heed
