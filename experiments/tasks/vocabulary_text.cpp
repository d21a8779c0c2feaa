#include "experiments/tasks/vocabulary_text.hpp"

#include "experiments/tasks/task.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <fmt/format.h>
#include <functional>

namespace heed {

std::string vocabulary_json(const Task& task, TaskFormat format) {
  if (format == TaskFormat::image_classification) return {};
  const TaskSizes sizes = task.sizes(format);
  std::string out = "{";
  const auto add = [&](const char* name, std::int64_t count, const std::function<std::string(std::int32_t)>& text) {
    out += fmt::format("{}\n  \"{}\": [", out.size() > 1 ? "," : "", name);
    for (std::int64_t i = 0; i < count; ++i)
      out += fmt::format("{}\n    {}", i > 0 ? "," : "",
                         boost::json::serialize(boost::json::string(text(static_cast<std::int32_t>(i)))));
    out += "\n  ]";
  };
  add("tokens", sizes.vocabulary, [&](std::int32_t token) { return task.token_text(token); });
  if (format == TaskFormat::sequence_to_sequence && !sizes.shared_vocabulary)
    add("output_tokens", sizes.classes, [&](std::int32_t token) { return task.output_token_text(token); });
  if (format == TaskFormat::classification)
    add("classes", sizes.classes, [&](std::int32_t label) { return task.decode_output(format, {&label, 1}); });
  return out + "\n}\n";
}

void UnknownTokens::add(std::span<const std::int32_t> tokens, std::int32_t token) {
  all += std::ssize(tokens);
  if (token >= 0) unknown += std::ranges::count(tokens, token);
}

std::string token_noun(std::string_view tokens) {
  return tokens == "words" ? "word" : tokens == "bytes" ? "byte" : tokens == "characters" ? "character" : "token";
}

std::string unknown_note(std::string_view what, const std::array<UnknownTokens, 3>& by_split, bool of_set) {
  std::string shares;
  const auto add = [&](Split split, std::string_view name) {
    const UnknownTokens& tokens = by_split[static_cast<std::size_t>(split)];
    if (tokens.unknown == 0) return;
    shares += fmt::format("{}{:.3g} % of {} ({} of {})", shares.empty() ? "" : ", ", 100 * tokens.share(), name,
                          tokens.unknown, tokens.all);
  };
  add(Split::validation, of_set ? "the set" : "validation");
  if (!of_set) {
    add(Split::test, "test");
    add(Split::train, "training");
  }
  return shares.empty() ? "" : fmt::format("{} outside the vocabulary: {}", what, shares);
}

} // namespace heed
