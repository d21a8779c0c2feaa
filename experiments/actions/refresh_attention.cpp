#include "experiments/actions/refresh_attention.hpp"

#include "experiments/actions/trained_run.hpp"
#include "experiments/report/attention_maps.hpp"
#include "experiments/runs/checkpoints.hpp"
#include "experiments/runs/run_folder.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/system/failure.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace heed {

namespace {

bool stale(const AttentionExample& example, std::int64_t newest) { return example.step && *example.step != newest; }

/// The examples to compute: inputs with whether the output was forced, and over how many checkpoints the weights are
/// averaged.
struct Wanted {
  AttentionRequest request;
  std::int64_t average = 1;
};

std::vector<Wanted> wanted_of(const std::vector<AttentionExample>& kept, const std::vector<std::string>& inputs,
                              std::int64_t newest) {
  std::vector<Wanted> wanted;
  for (const std::string& input : inputs) {
    const auto found = std::ranges::find(kept, input, &AttentionExample::input);
    const bool there = found != kept.end() && !stale(*found, newest) && found->average == 1 && !found->forced;
    if (!there) wanted.push_back({{input, std::nullopt}, 1});
  }
  for (const AttentionExample& example : kept)
    if (stale(example, newest) && std::ranges::find(inputs, example.input) == inputs.end())
      wanted.push_back({{example.input, example.forced ? example.output : std::nullopt}, example.average});
  return wanted;
}

/// Throws heed::Refused or heed::Failed if no example can be computed; problems with single inputs are returned.
std::string refresh(const RunFolder& run, const std::vector<std::string>& inputs) {
  const auto read = read_attention(run);
  if (!read && inputs.empty()) return read.error;
  const std::vector<AttentionExample> none, &kept = read ? *read : none;
  const std::vector<std::int64_t> steps = checkpoint_steps(run);
  const std::int64_t newest = steps.empty() ? -1 : steps.front();
  const std::vector<Wanted> wanted = wanted_of(kept, inputs, newest);
  if (wanted.empty()) return {};
  std::vector<AttentionExample> fresh;
  std::string problems;
  std::optional<TrainedRun> trained;
  std::int64_t average = 0;
  for (const Wanted& want : wanted) {
    try {
      if (average != want.average) {
        std::vector<std::string> damaged;
        trained.emplace(trained_run(run, want.average, damaged));
        average = want.average;
      }
      fresh.push_back(
          trained->engine().attend(trained->config, *trained->task, trained->checkpoint, {want.request}).at(0));
      fresh.back().average = average;
    } catch (const std::exception& problem) {
      if (const std::string words = failure_in_words(problem); problems.find(words) == std::string::npos)
        problems += (problems.empty() ? "" : "; ") + words;
    }
  }
  if (fresh.empty()) return problems;
  update_attention(run, [&](std::vector<AttentionExample>& now) {
    // Another process may have computed some in the meantime.
    const std::vector<Wanted> still = wanted_of(now, inputs, newest);
    std::erase_if(fresh, [&](const AttentionExample& made) {
      return std::ranges::none_of(still, [&](const Wanted& want) { return want.request.input == made.input; });
    });
    now = merged(std::move(now), fresh);
  });
  return problems;
}

} // namespace

AttentionProblems refresh_attention(const Plan& plan, const std::filesystem::path& out) {
  AttentionProblems problems;
  for (const PlannedRun& planned : plan.runs) {
    const RunFolder run{out / planned.id};
    if (planned.seed != plan.seeds.front() || state_of(run) != RunState::finished) continue;
    try {
      if (std::string problem = refresh(run, config_of(planned).report.attend); !problem.empty())
        problems[planned.id] = std::move(problem);
    } catch (const std::exception& problem) {
      problems[planned.id] = failure_in_words(problem);
    }
  }
  return problems;
}

} // namespace heed
