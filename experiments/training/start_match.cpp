#include "experiments/training/start_match.hpp"

#include "autograd/error.hpp"
#include "experiments/system/text.hpp"

#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <set>

namespace heed {

namespace {

template <class From, class To> std::vector<std::byte> converted(const StoredTensor& tensor) {
  std::vector<std::byte> out(tensor.bytes.size() / sizeof(From) * sizeof(To));
  for (std::size_t i = 0; i * sizeof(From) < tensor.bytes.size(); ++i) {
    From from = 0;
    std::memcpy(&from, tensor.bytes.data() + i * sizeof from, sizeof from);
    const auto to = static_cast<To>(from);
    if (std::isfinite(from) && !std::isfinite(to))
      throw Refused(fmt::format("[train] start: {} has the number {:g}, which is too large for float32; set precision "
                                "= \"float64\"",
                                cut(tensor.name), from));
    std::memcpy(out.data() + i * sizeof to, &to, sizeof to);
  }
  return out;
}

} // namespace

StartMatch match_weights(std::span<const ParameterShape> parameters, const Checkpoint& weights) {
  std::map<std::string, const StoredTensor*> there;
  for (const StoredTensor& tensor : weights.tensors)
    if (!tensor.name.starts_with(optimizer_prefix)) there[tensor.name] = &tensor;
  StartMatch out;
  for (const ParameterShape& parameter : parameters) {
    const auto found = there.find(parameter.name);
    if (found == there.end()) {
      out.missing.push_back(parameter.name);
      continue;
    }
    if (found->second->shape == parameter.shape) out.taken.push_back(parameter.name);
    else
      out.reshaped.push_back(fmt::format("{} ([{}] here, [{}] there)", parameter.name, fmt::join(parameter.shape, ", "),
                                         fmt::join(found->second->shape, ", ")));
    there.erase(found);
  }
  for (const StoredTensor& tensor : weights.tensors)
    if (there.contains(tensor.name)) out.unused.push_back(cut(tensor.name));
  return out;
}

Checkpoint taken_weights(const StartMatch& match, Checkpoint&& weights, bool float64) {
  const std::set<std::string> taken(match.taken.begin(), match.taken.end());
  Checkpoint out;
  for (StoredTensor& tensor : weights.tensors) {
    if (!taken.contains(tensor.name)) continue;
    if (tensor.float64 != float64) {
      tensor.bytes = float64 ? converted<float, double>(tensor) : converted<double, float>(tensor);
      tensor.float64 = float64;
    }
    out.tensors.push_back(std::move(tensor));
  }
  return out;
}

std::string differences_in_words(const StartMatch& match) {
  std::vector<std::string> parts;
  const auto add = [&](const std::vector<std::string>& names, std::string_view one, std::string_view many) {
    if (!names.empty())
      parts.push_back(fmt::format("{} {}: {}", counted(names.size(), "parameter"), names.size() == 1 ? one : many,
                                  first_words(names)));
  };
  add(match.reshaped, "has another shape", "have other shapes");
  add(match.missing, "is not in the start", "are not in the start");
  add(match.unused, "is only in the start", "are only in the start");
  return fmt::format("{}", fmt::join(parts, "; "));
}

} // namespace heed
