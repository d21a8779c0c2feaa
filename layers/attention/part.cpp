#include "layers/attention/part.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

bool has_part(const LayerChoice& choice, const AttentionPartInfo& info) {
  const Option& option = info.about.options.front();
  const auto found = choice.part_options.find(option.name);
  return found != choice.part_options.end() && found->second != option.default_value;
}

bool has_part(const LayerChoice& choice, std::string_view name) {
  return has_part(choice, variant_named(attention_parts(), name, "[attention] there is no part"));
}

AttentionParts make_parts(std::span<const AttentionPartInfo::Place> places, const Scope& scope, const PartSizes& sizes,
                          const LayerChoice& choice) {
  AttentionParts out;
  for (const AttentionPartInfo* info : attention_parts())
    if (std::ranges::count(places, info->place) > 0 && has_part(choice, *info)) {
      out.push_back(info->make(scope, sizes, choice));
      out.back()->info = info;
    }
  return out;
}

} // namespace heed::HEED_REAL
