#include "experiments/config/dependencies.hpp"

#include "experiments/config/values.hpp"
#include "options/variant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace heed {
namespace {

constexpr const char* anything = Dependency::anything;

const std::vector<Dependency> rows = {
    {"data.path", "task.kind", {"text", "translation", "labelled_text", "images", "scan"}},
    {"data.train", "task.kind", {"text", "translation", "labelled_text", "images"}},
    {"data.train", "data.validation_path", {anything}, true},
    {"data.train", "data.validation_rows", {anything}, true},
    {"data.test", "task.kind", {"text", "translation", "labelled_text"}},
    {"data.test", "data.test_path", {anything}, true},
    {"data.test", "data.test_rows", {anything}, true},
    {"data.validation_rows", "task.kind", {"translation", "labelled_text", "images"}},
    {"data.validation_rows", "data.validation_path", {anything}, true},
    {"data.test_rows", "task.kind", {"translation", "labelled_text"}},
    {"data.test_rows", "data.test_path", {anything}, true},
    {"data.validation_path", "data.path", {anything}},
    {"data.test_path", "data.path", {anything}},
    {"data.shuffle", "task.kind", {"translation", "labelled_text", "images"}},
    {"data.tokens", "task.kind", {"text", "translation", "labelled_text"}},
    {"data.min_count", "data.tokens", {"words"}},
    {"data.max_vocabulary", "data.tokens", {"words"}},
    {"data.sentencepiece", "data.tokens", {"sentencepiece"}},
    {"data.max_length", "task.kind", {"translation", "labelled_text"}},
    {"data.too_long", "task.kind", {"translation", "labelled_text"}},
    {"data.bucket", "task.kind", {"scan", "translation", "labelled_text"}},
    {"data.bucket", "train.batch_tokens", {anything}, true},
    {"task.seed", "task.kind", {"text"}, true},
    {"task.validation", "task.kind", {"text", "translation", "labelled_text", "images"}, true},
    {"task.validation", "data.validation_path", {anything}, true},
    {"task.test", "task.kind", {"text", "scan", "translation", "labelled_text", "images"}, true},
    {"task.translation.shared_vocabulary", "data.tokens", {"characters", "words"}},
    {"task.translation.validation_target", "data.validation_path", {anything}},
    {"task.translation.test_target", "data.test_path", {anything}},
    {"task.scan.split", "data.path", {anything}, true},
    {"task.scan.cutoff", "task.scan.split", {"length"}},
    {"model.tied_embeddings", "model.kind", {"decoder", "encoder_decoder"}},
    {"model.init_std", "init.linear", {"init_std"}, false,
     {{"init.embedding", {"init_std"}}, {"init.position", {"init_std"}}, {"init.head", {"init_std"}}}},
    {"model.scaled_init", "init.linear", {"xavier_uniform", "xavier_normal", "torch"}, true},
    {"init.head", "model.tied_embeddings", {"false"}, false, {{"model.kind", {"decoder", "encoder_decoder"}, true}}},
    {"init.linear", "recurrent.attention", {"none"}, true},
    {"init.linear", "model.recurrent_classifier.pooling", {"mean", "first", "last"}, true},
    {"init.qkv", "init.linear", {"xavier_uniform", "xavier_normal"}},
    {"attention.cross_score", "model.kind", {"encoder_decoder"}},
    {"attention.cross_normalizer", "model.kind", {"encoder_decoder"}},
    {"recurrent", "model.kind", {"recurrent", "recurrent_decoder", "recurrent_classifier"}},
    {"recurrent.bidirectional", "model.kind", {"recurrent", "recurrent_classifier"}},
    {"recurrent.attention", "model.kind", {"recurrent"}},
    {"recurrent.input_feeding", "recurrent.attention", {"luong"}},
    {"recurrent.reach", "recurrent.attention", {"bahdanau", "luong"}},
    {"recurrent.window", "recurrent.reach", {"local_m", "local_p"}},
    {"attention", "recurrent.attention", {"none"}, true},
    {"attention", "model.recurrent_classifier.pooling", {"mean", "first", "last"}, true},
    {"model.patches.channels", "model.patches.stem", {"convolution"}},
    {"model.patches.groups", "model.patches.stem", {"convolution"}},
    {"attention.prefix", "attention.causal", {"true"}},
    {"position.width", "position.combine", {"concat"}},
    {"position.concat", "position.combine", {"concat"}},
    {"block.norm_kind", "block.norm", {"none"}, true},
    {"block.norm_bias", "block.norm_kind", {"layer"}},
    {"train.batch", "train.batch_tokens", {anything}, true,
     {{"train.evaluate_batches", {anything}}, {"train.evaluate_random_batches", {anything}}}},
    {"train.batch_tokens", "task.kind", {"scan", "translation", "labelled_text"}},
    {"train.evaluate_length_penalty_kind", "train.evaluate_length_penalty", {anything}},
    {"train.evaluate_bleu_tokenization", "train.evaluate_beam", {anything}},
    {"train.inspect_every", "train.inspect", {"none"}, true},
};

/// The row itself, or, where it names a table, one for each option in it and in its variants' tables.
void add_expanded(std::vector<Dependency>& out, const Dependency& row) {
  if (find_option(row.option)) {
    out.push_back(row);
    return;
  }
  for (const std::string& key : all_keys())
    if (key.starts_with(row.option + ".")) out.push_back({key, row.on, row.words, row.unless, row.others});
}

std::vector<Dependency> make_dependencies() {
  std::vector<Dependency> out;
  for (const FamilyPlace& place : family_places()) {
    std::map<std::string, std::vector<std::string>> silent;  // which variants silence an option
    for (const Variant* v : place.family.variants)
      for (const std::string& option : v->silences) silent[option].push_back(v->name);
    for (const auto& [option, names] : silent) add_expanded(out, {option, place.key, names, true});
  }
  for (const Dependency& row : rows) add_expanded(out, row);
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
    // A choice that does nothing itself is none of the words.
    const auto holds = [&](const auto& choice) {
      const auto listed = [&] {
        if (unmet_dependency(choice.on, value_of)) return false;
        if (choice.words.front() == anything) return is_given(value_of(choice.on));
        return std::find(choice.words.begin(), choice.words.end(), choice_word(value_of(choice.on))) !=
               choice.words.end();
      };
      return listed() != choice.unless;
    };
    if (!holds(d) && std::none_of(d.others.begin(), d.others.end(), holds)) return &d;
  }
  return nullptr;
}

bool is_given(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return !text->empty();
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number != 0;
  if (const auto* number = std::get_if<double>(&value)) return *number != 0;
  return true;
}

std::string choice_word(const Value& value) {
  if (const auto* yes = std::get_if<bool>(&value)) return *yes ? "true" : "false";
  if (const auto* either = std::get_if<WordOrNumber>(&value)) return either->word;
  const auto* word = std::get_if<std::string>(&value);
  return word ? *word : "";
}

std::string dependency_in_words(const Dependency& d) {
  const auto in_words = [](const auto& choice) {
    const char* no = choice.unless ? "not " : "";
    if (choice.words.front() == anything) return fmt::format("{} is {}given", choice.on, no);
    const char* one = choice.words.size() == 1 ? "" : "one of ";
    return fmt::format("{} is {}{}{}", choice.on, no, one, list_in_words(choice.words));
  };
  std::string out = "matters only where " + in_words(d);
  for (const Dependency::Alternative& other : d.others) out += ", or " + in_words(other);
  return out;
}

} // namespace heed
