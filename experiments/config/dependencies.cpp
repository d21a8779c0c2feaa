#include "experiments/config/dependencies.hpp"

#include "experiments/config/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace heed {
namespace {

const std::vector<Dependency> rows = {
    {"data.path", "task.kind", {"text", "translation", "labelled_text", "images"}},
    {"data.train", "task.kind", {"text", "translation", "labelled_text", "images"}},
    {"data.test", "task.kind", {"text", "translation", "labelled_text"}},
    {"data.shuffle", "task.kind", {"translation", "labelled_text", "images"}},
    {"data.tokens", "task.kind", {"text", "translation", "labelled_text"}},
    {"data.min_count", "data.tokens", {"words"}},
    {"data.max_vocabulary", "data.tokens", {"words"}},
    {"data.sentencepiece", "data.tokens", {"sentencepiece"}},
    {"data.max_length", "task.kind", {"translation", "labelled_text"}},
    {"data.too_long", "task.kind", {"translation", "labelled_text"}},
    {"data.bucket", "task.kind", {"scan", "translation", "labelled_text"}},
    {"task.seed", "task.kind", {"text"}, true},
    {"task.validation", "task.kind", {"text", "translation", "labelled_text", "images"}, true},
    {"task.test", "task.kind", {"text", "scan", "translation", "labelled_text", "images"}, true},
    {"task.translation.shared_vocabulary", "data.tokens", {"characters", "words"}},
    {"task.scan.cutoff", "task.scan.split", {"length"}},
    {"model.tied_embeddings", "model.kind", {"decoder", "encoder_decoder"}},
    {"attention.cross_score", "model.kind", {"encoder_decoder"}},
    {"attention.cross_normalizer", "model.kind", {"encoder_decoder"}},
    {"attention.prefix", "attention.causal", {"true"}},
    {"position.width", "position.combine", {"concat"}},
    {"position.concat", "position.combine", {"concat"}},
    {"block.norm_kind", "block.norm", {"none"}, true},
};

std::vector<Dependency> make_dependencies() {
  std::vector<Dependency> out;
  for (const FamilyPlace& place : family_places()) {
    std::map<std::string, std::vector<std::string>> silent;  // which variants silence an option
    for (const Variant* v : place.family.variants)
      for (const std::string& option : v->silences) silent[option].push_back(v->name);
    for (const auto& [option, names] : silent) out.push_back({option, place.key, names, true});
  }
  out.insert(out.end(), rows.begin(), rows.end());
  for (const FamilyPlace& place : family_places())
    for (const Variant* v : place.family.variants)
      for (const Option& o : v->options)
        out.push_back({full_name(full_name(place.family.table, v->name), o.name), place.key, {v->name}});
  return out;
}

using ByOption = std::multimap<std::string, const Dependency*, std::less<>>;

const ByOption& by_option() {
  static const ByOption built = [] {
    ByOption out;
    for (const Dependency& d : dependencies()) out.emplace(d.option, &d);
    return out;
  }();
  return built;
}

} // namespace

const std::vector<Dependency>& dependencies() {
  static const std::vector<Dependency> built = make_dependencies();
  return built;
}

const Dependency* unmet_dependency(std::string_view key,
                                   const std::function<const Value&(const std::string&)>& value_of) {
  const auto [first, last] = by_option().equal_range(key);
  for (auto i = first; i != last; ++i) {
    const Dependency& d = *i->second;
    const bool listed = std::find(d.words.begin(), d.words.end(), choice_word(value_of(d.on))) != d.words.end();
    if (listed == d.unless) return &d;
  }
  return nullptr;
}

std::string choice_word(const Value& value) {
  if (const auto* yes = std::get_if<bool>(&value)) return *yes ? "true" : "false";
  const auto* word = std::get_if<std::string>(&value);
  return word ? *word : "";
}

std::string dependency_in_words(const Dependency& d) {
  const std::string words = d.words.size() == 1 ? list_in_words(d.words) : "one of " + list_in_words(d.words);
  return fmt::format("matters only where {} is {}{}", d.on, d.unless ? "not " : "", words);
}

} // namespace heed
