#include "options/variant.hpp"

#include "autograd/error.hpp"

#include <fmt/format.h>

namespace heed {

Variant::~Variant() = default;

std::string names_of(const std::vector<const Variant*>& variants) {
  std::string out;
  for (const Variant* v : variants) out += (out.empty() ? "" : ", ") + v->name;
  return out;
}

void fail_unknown_variant(std::string_view what, std::string_view name, const std::vector<const Variant*>& variants) {
  throw Failed(fmt::format("{} '{}'; there are {}", what, name, names_of(variants)));
}

} // namespace heed
