#include "experiments/runs/checkpoint_average.hpp"

#include "experiments/runs/checkpoints.hpp"
#include "experiments/system/text.hpp"
#include "experiments/training/training.hpp"

#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace heed {

namespace {

/// Writes the mean of the same tensor's values over all checkpoints into the first.
template <class Number> void average_numbers(StoredTensor& to, std::span<const StoredTensor* const> all) {
  const std::size_t count = to.bytes.size() / sizeof(Number);
  std::vector<double> sums(count, 0.0);
  for (const StoredTensor* tensor : all)
    for (std::size_t i = 0; i < count; ++i) {
      Number x = 0;
      std::memcpy(&x, tensor->bytes.data() + i * sizeof x, sizeof x);
      sums[i] += static_cast<double>(x);
    }
  for (std::size_t i = 0; i < count; ++i) {
    const auto mean = static_cast<Number>(sums[i] / static_cast<double>(all.size()));
    std::memcpy(to.bytes.data() + i * sizeof mean, &mean, sizeof mean);
  }
}

const StoredTensor& same_tensor(const Checkpoint& checkpoint, const StoredTensor& as) {
  for (const StoredTensor& t : checkpoint.tensors)
    if (t.name == as.name) {
      if (t.shape != as.shape || t.float64 != as.float64 || t.bytes.size() != as.bytes.size())
        throw Failed(fmt::format("[checkpoint] '{}' has another shape or type in another checkpoint", as.name));
      return t;
    }
  throw Failed(fmt::format("[checkpoint] '{}' is not in all of the checkpoints", as.name));
}

} // namespace

Checkpoint average(std::span<const Checkpoint> newest_first) {
  Checkpoint out = newest_first.front();
  for (StoredTensor& tensor : out.tensors) {
    if (tensor.name.starts_with(optimizer_prefix)) continue;
    std::vector<const StoredTensor*> all;
    for (const Checkpoint& checkpoint : newest_first) all.push_back(&same_tensor(checkpoint, tensor));
    if (tensor.float64) average_numbers<double>(tensor, all);
    else average_numbers<float>(tensor, all);
  }
  return out;
}

Checkpoint average_of_newest(const RunFolder& run, std::int64_t count, std::vector<std::string>& damaged) {
  std::vector<Checkpoint> found;
  for (const std::int64_t step : checkpoint_steps(run)) {
    if (std::ssize(found) == count) break;
    auto checkpoint = read_checkpoint(run, step, CheckpointPart::weights);
    if (checkpoint) found.push_back(std::move(*checkpoint));
    else damaged.push_back(checkpoint.error);
  }
  if (std::ssize(found) < count)
    throw Refused(fmt::format("run {} has {} intact checkpoint{}, but the average needs {}{}", run.id(), found.size(),
                              plural(found.size()), count,
                              damaged.empty() ? "" : fmt::format(" ({})", fmt::join(damaged, "; "))));
  return average(found);
}

} // namespace heed
