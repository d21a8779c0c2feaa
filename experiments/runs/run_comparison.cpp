#include "experiments/runs/run_comparison.hpp"

#include "experiments/engines/instruction_sets.hpp"
#include "experiments/metrics/record.hpp"
#include "experiments/runs/checkpoints.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace heed {
namespace {

bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// The first difference between two lines; empty if they are the same.
std::string line_difference(const MetricsRecord& then, const MetricsRecord& now) {
  if (then.step != now.step) return fmt::format("step {} then, step {} now", then.step, now.step);
  if (then.tokens != now.tokens)
    return fmt::format("step {}: tokens {} then, {} now", then.step, then.tokens, now.tokens);
  for (std::size_t i = 0; i < std::max(then.values.size(), now.values.size()); ++i) {
    if (i >= then.values.size()) return fmt::format("step {}: {} is new", now.step, now.values[i].first);
    const auto& [name, value] = then.values[i];
    if (i >= now.values.size() || now.values[i].first != name)
      return fmt::format("step {}: {} is missing now", then.step, name);
    if (!same_number(value, now.values[i].second))
      return fmt::format("step {}: {} {} then, {} now", then.step, name, value, now.values[i].second);
  }
  return {};
}

double number_at(const StoredTensor& tensor, std::size_t at) {
  if (tensor.float64) {
    double value = 0;
    std::memcpy(&value, tensor.bytes.data() + at * sizeof value, sizeof value);
    return value;
  }
  float value = 0;
  std::memcpy(&value, tensor.bytes.data() + at * sizeof value, sizeof value);
  return static_cast<double>(value);
}

std::size_t width(const StoredTensor& tensor) { return tensor.float64 ? 8 : 4; }

std::string tensor_difference(const StoredTensor& then, const StoredTensor& now) {
  if (then.shape != now.shape || then.float64 != now.float64)
    return fmt::format("{} is {} [{}] then, {} [{}] now", then.name, then.float64 ? "float64" : "float32",
                       fmt::join(then.shape, ", "), now.float64 ? "float64" : "float32", fmt::join(now.shape, ", "));
  if (then.bytes == now.bytes) return {};
  const std::size_t count = std::min(then.bytes.size(), now.bytes.size()) / width(then);
  std::size_t differing = 0, first = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (std::memcmp(then.bytes.data() + i * width(then), now.bytes.data() + i * width(now), width(then)) != 0 &&
        differing++ == 0)
      first = i;
  return fmt::format("{}: {} of {} numbers differ, the first at {}: {} then, {} now", then.name, differing, count,
                     first, number_at(then, first), number_at(now, first));
}

} // namespace

void compare_metrics(const NextMetrics& then, const NextMetrics& now, RunComparison& out) {
  std::size_t before = 0, after = 0;
  bool differ = false;
  for (;;) {
    const auto a = then(), b = now();
    if (!a && !b) break;
    before += a ? 1 : 0;
    after += b ? 1 : 0;
    if (!a || !b || differ) continue;
    ++out.lines;
    if (std::string what = line_difference(*a, *b); !what.empty()) {
      out.differences.push_back("metrics differ first at " + cut(what));
      differ = true;
    }
  }
  if (differ) out.lines = std::min(before, after);
  else if (before != after) out.differences.push_back(fmt::format("metrics: {} lines then, {} now", before, after));
}

void compare_checkpoints(const Checkpoint& then, const Checkpoint& now, RunComparison& out) {
  std::map<std::string, const StoredTensor*> named;
  for (const StoredTensor& tensor : now.tensors) named[tensor.name] = &tensor;
  std::vector<std::string> found;
  for (const StoredTensor& tensor : then.tensors) {
    ++out.tensors;
    out.numbers += static_cast<std::int64_t>(tensor.bytes.size() / width(tensor));
    const auto other = named.find(tensor.name);
    std::string what = other == named.end() ? tensor.name + " is missing now"
                                            : tensor_difference(tensor, *other->second);
    if (!what.empty()) found.push_back(std::move(what));
    if (other != named.end()) named.erase(other);
  }
  for (const auto& [name, tensor] : named) found.push_back(name + " is new");
  if (!found.empty())
    out.differences.push_back(fmt::format("the last checkpoint differs in {} of {} tensors; {}", found.size(),
                                          out.tensors, cut(found.front())));
}

RunComparison compare_runs(const RunFolder& then, const RunFolder& now) {
  RunComparison out;
  MetricsLines before(then.metrics()), after(now.metrics());
  compare_metrics([&] { return before.next(); }, [&] { return after.next(); }, out);
  for (const MetricsLines* lines : {&before, &after})
    if (!lines->error().empty()) throw Failed(lines->error());
  std::vector<std::string> damaged;
  const auto kept = newest_checkpoint(then, &damaged);
  for (std::string& what : damaged) out.not_compared.push_back(std::move(what));
  if (!kept) {
    out.not_compared.push_back("the run has no intact checkpoint, so its parameters could not be compared");
    return out;
  }
  const auto other = read_checkpoint(now, kept->step);
  if (other) compare_checkpoints(kept->checkpoint, *other, out);
  else out.differences.push_back(other.error);
  return out;
}

std::vector<MachineDifference> machine_differences(const Manifest& a, const Manifest& b) {
  const MachineDifference all[] = {{"heed", a.build.version, b.build.version},
                                   {"numerics", a.numerics, b.numerics},
                                   {"compiler", a.build.compiler, b.build.compiler},
                                   {"flags", a.build.flags, b.build.flags},
                                   {"kernels", a.build.kernels, b.build.kernels},
                                   {"blas", a.build.blas, b.build.blas},
                                   {"cpu", a.cpu, b.cpu},
                                   {"host", a.host, b.host},
                                   {"threads", fmt::format("{}", a.threads), fmt::format("{}", b.threads)},
                                   {"data", a.data, b.data}};
  std::vector<MachineDifference> out;
  for (const MachineDifference& d : all)
    if (d.a != d.b) out.push_back(d);
  return out;
}

std::vector<MachineDifference> bit_differences(const Manifest& a, const Manifest& b) {
  const bool cpu_matters = a.build.kernels != b.build.kernels || !same_on_every_cpu(b.build.kernels);
  std::vector<MachineDifference> out = machine_differences(a, b);
  std::erase_if(out, [&](const MachineDifference& d) {
    return d.a.empty() || d.what == "host" || d.what == "threads" || d.what == "data" ||
           (d.what == "cpu" && !cpu_matters);
  });
  return out;
}

} // namespace heed
