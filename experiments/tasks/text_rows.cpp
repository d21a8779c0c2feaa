#include "experiments/tasks/text_rows.hpp"

#include "experiments/config/config.hpp"
#include "experiments/data/training_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace heed {

namespace {

/// How many rows something happened to, and the first of them.
struct Count {
  std::int64_t rows = 0, first_line = 0;

  void add(const TextRow& row) {
    if (rows++ == 0 || row.line < first_line) first_line = row.line;
  }

  /// "12 rows are dropped: WHY (the first: FILE:17)".
  void note(const std::string& what, const std::string& why, const std::string& file, Listing& listing) const {
    if (rows == 0) return;
    listing.notes.push_back(fmt::format("{} row{} {}: {} (the first: {}:{})", rows, rows == 1 ? " is" : "s are", what,
                                        why, file, first_line));
  }
};

/// Of the rows of validation and test, how many have an input that training has too.
std::int64_t count_seen_inputs(const SplitRows& rows) {
  std::unordered_set<std::string_view> training;
  for (const TextRow* row : rows[Split::train]) training.insert(row->input);
  std::int64_t seen = 0;
  for (const Split split : {Split::validation, Split::test})
    seen += std::ranges::count_if(rows[split], [&](const TextRow* row) { return training.contains(row->input); });
  return seen;
}

} // namespace

std::vector<std::string_view> SplitRows::training(std::string TextRow::*member) const {
  std::vector<std::string_view> texts;
  for (const TextRow* row : (*this)[Split::train]) texts.push_back(row->*member);
  return texts;
}

SplitRows split_rows(const Config& config, const std::vector<TextRow>& rows) {
  const std::uint64_t n = rows.size();
  const auto train_end = static_cast<std::uint64_t>(static_cast<double>(n) * config.data.train);
  const std::uint64_t test_begin = n - static_cast<std::uint64_t>(static_cast<double>(n) * config.data.test);
  const RandomKey key{static_cast<std::uint64_t>(config.task.seed), Stream::evaluation_rows, 1};
  SplitRows out;
  for (std::uint64_t place = 0; place < n; ++place) {
    const Split split = place < train_end ? Split::train : place < test_begin ? Split::validation : Split::test;
    const std::uint64_t row = config.data.shuffle ? permuted(key, place, n) : place;
    out.rows[static_cast<std::size_t>(split)].push_back(&rows[static_cast<std::size_t>(row)]);
  }
  return out;
}

void list_rows(const DataOptions& data, const SplitRows& rows, const std::string& file, bool cut_outputs,
               const std::function<void(const TextRow&, std::vector<std::int32_t>&)>& encode_output,
               Listing& listing) {
  const bool limited = data.max_length > 0, cut = data.too_long == "cut";
  const auto limit = static_cast<std::size_t>(data.max_length);
  Count empty, too_long;
  std::vector<std::int32_t> input, output;
  for (const Split split : {Split::train, Split::validation, Split::test})
    for (const TextRow* row : rows[split]) {
      input.clear();
      output.clear();
      listing.input->encode(row->input, input);
      encode_output(*row, output);
      if (input.empty() || output.empty()) {
        empty.add(*row);
        continue;
      }
      if (limited && (input.size() > limit || (cut_outputs && output.size() > limit))) {
        too_long.add(*row);
        if (!cut) continue;
        input.resize(std::min(input.size(), limit));
        if (cut_outputs) output.resize(std::min(output.size(), limit));
      }
      listing.examples[static_cast<std::size_t>(split)].add(input, output);
    }
  empty.note("dropped", "the input or the output has no token", file, listing);
  too_long.note(cut ? "cut" : "dropped", fmt::format("longer than data.max_length = {} tokens", data.max_length), file,
                listing);
  if (const std::int64_t seen = count_seen_inputs(rows); seen > 0)
    listing.notes.push_back(fmt::format(
        "{} row{} of validation and test {} an input that training has too", seen, seen == 1 ? "" : "s",
        seen == 1 ? "has" : "have"));
}

} // namespace heed
