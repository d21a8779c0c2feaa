#include "experiments/tasks/text_examples.hpp"

#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/data/text_hash.hpp"
#include "experiments/data/training_order.hpp"
#include "experiments/system/text.hpp"
#include "experiments/tasks/vocabulary_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>

namespace heed {

namespace {

/// The number of affected examples, and the first of them.
struct Count {
  std::int64_t examples = 0, first_line = 0;
  std::string_view file; // the file of the first example

  void add(const TextExample& example, std::string_view of) {
    if (examples++ > 0 && (file != of || example.line > first_line)) return;
    file = of;
    first_line = example.line;
  }

  /// "12 examples are dropped: WHY (the first: FILE:17)".
  void note(const std::string& what, const std::string& why, Dataset& dataset) const {
    if (examples == 0) return;
    dataset.notes.push_back(fmt::format("{} example{} {}: {} (the first: {}:{})", examples,
                                        examples == 1 ? " is" : "s are", what, why, file, first_line));
  }
};

constexpr std::string_view white_space = " \t\r\n\v\f";

/// The end of each word. Words are separated by white space.
std::vector<std::size_t> word_ends(std::string_view text) {
  std::vector<std::size_t> ends;
  for (std::size_t begin = text.find_first_not_of(white_space); begin != text.npos;) {
    ends.push_back(std::min(text.find_first_of(white_space, begin), text.size()));
    begin = text.find_first_not_of(white_space, ends.back());
  }
  return ends;
}

/// For each token of an example's output, 1 if it is a target, else 0. `where`: the example, for errors.
std::vector<std::int32_t> counts_of(const TextExample& example, std::span<const std::int32_t> output,
                                    const std::function<void(const TextExample&, std::vector<std::int32_t>&)>& encode,
                                    const std::string& where) {
  const auto refuse = [&](const std::string& why) { throw Refused(fmt::format("{}: {}", where, why)); };
  const std::string_view text = *example.counts;
  const std::vector<std::size_t> words = word_ends(example.output), numbers = word_ends(text);
  std::vector<std::int32_t> of_words;
  for (const std::size_t end : numbers) {
    const char last = text[end - 1];
    const bool alone = end < 2 || white_space.find(text[end - 2]) != white_space.npos;
    if (!alone || (last != '0' && last != '1'))
      refuse(fmt::format("\"{}\" must say for each word of the output whether it counts: a 0 or 1, separated by spaces",
                         text));
    of_words.push_back(last == '1' ? 1 : 0);
  }
  if (numbers.size() != words.size())
    refuse(fmt::format("\"{}\" has {} numbers, and the output has {} words; give a 0 or 1 for each", text,
                       numbers.size(), words.size()));
  if (std::ranges::count(of_words, 1) == 0)
    refuse("no word of the output counts; leave the example out, or give one of its words a 1");
  std::vector<std::int32_t> counts, beginning;
  for (std::size_t w = 0; w < words.size(); ++w) {
    // Handled together with the tokens of the next word
    if (w + 1 < words.size() && of_words[w] == of_words[w + 1]) continue;
    beginning.assign(output.begin(), output.end());
    if (w + 1 < words.size()) {
      beginning.clear();
      encode({example.line, example.input, example.output.substr(0, words[w])}, beginning);
      if (beginning.size() > output.size() || !std::ranges::equal(beginning, output.first(beginning.size())))
        refuse(fmt::format("a token of the output contains the end of word {}, and only one of the two words counts; "
                           "use other tokens (data.tokens = \"words\")",
                           w + 1));
    }
    counts.resize(std::max(beginning.size(), counts.size()), of_words[w]);
  }
  return counts;
}

/// The number of validation and test examples whose input is also in training.
std::int64_t count_seen_inputs(const SplitExamples& examples) {
  if (examples[Split::validation].empty() && examples[Split::test].empty()) return 0;
  boost::unordered_flat_set<std::string_view, TextHash> training;
  for (const TextExample* example : examples[Split::train]) training.insert(example->input);
  std::int64_t seen = 0;
  for (const Split split : {Split::validation, Split::test})
    seen += std::ranges::count_if(examples[split],
                                  [&](const TextExample* example) { return training.contains(example->input); });
  return seen;
}

} // namespace

std::vector<std::string_view> SplitExamples::training(std::string_view TextExample::*member) const {
  std::vector<std::string_view> texts;
  for (const TextExample* example : (*this)[Split::train]) texts.push_back(example->*member);
  return texts;
}

std::array<std::string, 3> ExampleFiles::described(const std::array<std::string, 3>& others) const {
  std::array<std::string, 3> out;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = names[i].empty() ? "" : names[i] + (others[i].empty() ? "" : ", " + others[i]);
    if (out[i].empty()) out[i] = out[0];
  }
  return out;
}

ExampleFiles read_example_files(
    const Config& config,
    const std::function<std::string(const std::string&, const std::string&, Split, ExampleFiles&)>& read) {
  const DataOptions& data = config.data;
  ExampleFiles out;
  out.names = {data.path, data.validation_path, data.test_path};
  constexpr std::array<const char*, 3> options = {"path", "validation_path", "test_path"};
  constexpr std::array<const char*, 3> words = {"", " validation ", " test "};
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (i > 0 && out.names[i].empty()) continue;
    out.fingerprint += words[i] + read(options[i], out.names[i], static_cast<Split>(i), out);
    if (out.examples[i].empty())
      throw Refused(fmt::format("[data] {} = \"{}\" has no example; each split needs some", options[i], out.names[i]));
  }
  if (config.of_set.empty()) return out;
  constexpr auto validation = static_cast<std::size_t>(Split::validation);
  std::swap(out.examples[validation], out.of_set);
  out.fingerprint += " set " + read("validation_sets", config.of_set, Split::validation, out);
  std::swap(out.examples[validation], out.of_set);
  if (out.of_set.empty()) throw Refused(fmt::format("[data] validation_sets: \"{}\" has no example", config.of_set));
  out.names[validation] = config.of_set;
  return out;
}

SplitExamples split_examples(const Config& config, const ExampleFiles& files) {
  const std::vector<TextExample>& first = files.examples[0];
  const auto sizes = split_sizes(config.data, first.size());
  const RandomKey key{config.split_seed(), Stream::evaluation_sequences, 1};
  const auto in_order = [&](const std::vector<TextExample>& examples, std::uint64_t place) {
    return &examples[static_cast<std::size_t>(config.data.shuffle ? permuted(key, place, examples.size()) : place)];
  };
  SplitExamples out;
  for (std::uint64_t place = 0; place < first.size(); ++place)
    out.examples[place < sizes[0] ? 0 : place < sizes[0] + sizes[1] ? 1 : 2].push_back(in_order(first, place));
  for (std::size_t split = 1; split < 3; ++split)
    for (std::uint64_t place = 0; place < files.examples[split].size(); ++place)
      out.examples[split].push_back(in_order(files.examples[split], place));
  if (!files.of_set.empty()) {
    out.examples[1].clear();
    for (const TextExample& example : files.of_set) out.examples[1].push_back(&example);
  }
  return out;
}

void list_examples(const DataOptions& data, const SplitExamples& examples, const ExampleFiles& files, bool text_outputs,
                   const std::function<void(const TextExample&, std::vector<std::int32_t>&)>& encode_output,
                   Dataset& dataset) {
  const bool limited = data.max_length > 0, cut = data.too_long == "cut";
  const auto limit = static_cast<std::size_t>(data.max_length);
  Count empty, too_long;
  std::vector<std::int32_t> input, output, counts;
  std::int64_t counted = 0, outputs = 0; // tokens, if examples specify which outputs are targets
  std::array<UnknownTokens, 3> unknown_inputs, unknown_outputs;
  for (const Split split : {Split::train, Split::validation, Split::test})
    for (const TextExample* example : examples[split]) {
      input.clear();
      output.clear();
      dataset.input->encode(example->input, input);
      encode_output(*example, output);
      if (input.empty() || output.empty()) {
        empty.add(*example, files.name(split));
        continue;
      }
      counts.clear();
      if (example->counts)
        counts = counts_of(*example, output, encode_output, fmt::format("{}:{}", files.name(split), example->line));
      bool shortened = false;
      if (limited && (input.size() > limit || (text_outputs && output.size() > limit))) {
        too_long.add(*example, files.name(split));
        if (!cut) continue;
        input.resize(std::min(input.size(), limit));
        shortened = text_outputs && output.size() > limit;
        if (shortened) output.resize(limit);
        counts.resize(std::min(counts.size(), output.size()));
      }
      dataset.examples[static_cast<std::size_t>(split)].add(input, output, counts);
      unknown_inputs[static_cast<std::size_t>(split)].add(input, dataset.input->unknown());
      if (text_outputs) unknown_outputs[static_cast<std::size_t>(split)].add(output, dataset.output->unknown());
      counted += std::ranges::count(counts, 1);
      outputs += std::ssize(counts);
      if (text_outputs && split != Split::train)
        dataset.references[static_cast<std::size_t>(split)].push_back(
            {std::string(example->output),
             !shortened && std::ranges::find(output, dataset.output->unknown()) == output.end()});
    }
  empty.note("dropped", "the input or the output has no token", dataset);
  too_long.note(cut ? "cut" : "dropped", fmt::format("longer than data.max_length = {} tokens", data.max_length),
                dataset);
  const std::string words = token_noun(data.tokens) + "s";
  for (const auto& [what, tokens] : {std::pair(text_outputs ? words + " of inputs" : words, &unknown_inputs),
                                     std::pair(words + " of outputs", &unknown_outputs)})
    if (std::string note = unknown_note(what, *tokens, !files.of_set.empty()); !note.empty())
      dataset.notes.push_back(std::move(note));
  if (outputs > 0)
    dataset.notes.push_back(fmt::format("of {} tokens of outputs, {} count, and what ends each output", outputs,
                                        counted));
  if (const std::int64_t seen = count_seen_inputs(examples); seen > 0)
    dataset.notes.push_back(fmt::format("{} example{} of validation and test {} an input that training has too", seen,
                                        plural(seen), seen == 1 ? "has" : "have"));
}

} // namespace heed
