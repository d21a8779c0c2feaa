#include "experiments/results/result_examples.hpp"

#include "autograd/error.hpp"
#include "experiments/statistics/example_variance.hpp"
#include "experiments/statistics/summary.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace heed {

std::int64_t ExampleNumbers::of(const ResultTable& table, const ResultRow& row, std::size_t column) {
  std::string name = name_in_cell(table, row, column, "example");
  const auto [known, is_new] = numbers_.try_emplace(name, static_cast<std::int64_t>(names_.size()));
  if (is_new) names_.push_back(std::move(name));
  return known->second;
}

void ExampleNumbers::collapse(ResultRuns& runs, const ResultTable& table, const ResultRequest& question) const {
  if (names_.size() < statistics::fewest_examples)
    throw Refused(fmt::format("{}: {} needs {} examples or more, and there {}; leave it out, and give a row for each "
                              "run",
                              table.name, question.option("examples"), statistics::fewest_examples,
                              names_.size() == 1 ? "is 1" : fmt::format("are {}", names_.size())));
  PolledWork work;
  for (ResultRun& run : runs.runs) {
    const std::string of = shown_text(run.arm) + (run.pair.empty() ? "" : fmt::format(", seed {},", run.pair));
    for (std::size_t m = 0; m < run.values.size(); ++m) {
      std::vector<ResultValue>& values = run.values[m];
      work.did(steps_of_cell * values.size());
      std::ranges::stable_sort(values, {}, &ResultValue::step);
      const auto name_of = [&](std::int64_t number) { return shown_text(names_[static_cast<std::size_t>(number)]); };
      if (const auto twice = std::ranges::adjacent_find(values, {}, &ResultValue::step); twice != values.end())
        throw Refused(fmt::format("{}: {} has a value of {} for the example {} already, at {} {}; a run has one value "
                                  "for each example",
                                  table.place((twice + 1)->line), of, runs.metrics[m], name_of(twice->step),
                                  table.counted, twice->line));
      for (std::size_t e = 0; e < names_.size(); ++e) {
        const auto number = static_cast<std::int64_t>(e);
        if (e < values.size() && values[e].step == number) continue;
        throw Refused(fmt::format("{}: {} has no {} of the example {}, which other runs have; all runs need the same "
                                  "examples. Leave the example out, or the run",
                                  table.place(run.line), of, runs.metrics[m], name_of(number)));
      }
      std::vector<double> all;
      for (const ResultValue& value : values) all.push_back(value.value);
      values = {{0, run.line, statistics::mean(all)}};
      if (m == 0) run.examples = std::move(all);
    }
  }
}

} // namespace heed
