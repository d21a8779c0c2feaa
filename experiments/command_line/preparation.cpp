#include "experiments/command_line/preparation.hpp"

#include "autograd/error.hpp"
#include "experiments/command_line/console.hpp"
#include "experiments/config/values.hpp"
#include "experiments/sweep/plan_checks.hpp"
#include "experiments/system/text.hpp"

#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <utility>

namespace heed {

namespace {

/// Refuses overrides of tuned options, because each arm chooses their values itself.
void refuse_tuned_overrides(const Settings& settings, const std::vector<std::string>& overrides,
                            const std::string& where) {
  if (!settings.sweep().tune) return;
  for (const auto& [key, values] : settings.sweep().tune->axes)
    for (const std::string& assignment : overrides)
      if (assignment.substr(0, assignment.find('=')) == key)
        throw Refused(fmt::format("{}: [sweep.tune] tries values of {} ({}), so setting it does nothing; change the "
                                  "grid",
                                  where, key, values.front().origin.text()));
}

} // namespace

Settings load_settings(const std::filesystem::path& file, const std::vector<std::string>& overrides) {
  Settings settings = Settings::load(file);
  if (!overrides.empty()) settings.override_with(overrides);
  return settings;
}

Preparation prepare(const std::filesystem::path& file, const std::vector<std::string>& overrides, Tasks& tasks,
                    const std::filesystem::path& out) {
  return prepare(Settings::load(file), without_controls(file.stem().string()), overrides, "command line", tasks, out);
}

Preparation prepare(Settings settings, const std::string& name, const std::vector<std::string>& overrides,
                    const std::string& where, Tasks& tasks, const std::filesystem::path& out) {
  if (!overrides.empty()) settings.override_with(overrides, where);
  refuse_tuned_overrides(settings, overrides, where);
  return prepare(std::move(settings), name, tasks, out);
}

ArmFacts facts_of(const Config& config, Tasks& tasks) {
  ArmFacts facts{chance_of(config, tasks), leakage_of(config, tasks)};
  for (const std::int64_t length : config.train.evaluate_lengths)
    if (const Task* task = tasks.of(config).of_length(length))
      facts.at_lengths[length] = task->chance(task_format_of(config));
  return facts;
}

void check_sense(const Preparation& prepared, const std::filesystem::path& out, Console& console) {
  if (out.empty() || !is_frozen(prepared.plan, out)) refuse_unreachable(prepared);
  for (const std::string& note : notes_of(prepared)) print(console.err, "{}\n", fitted("heed: note: " + note, console));
  console.err.flush();
}

std::string size_in_words(const Plan& plan) {
  const std::string runs = counted(plan.runs.size(), "run");
  if (plan.runs.size() == 1 && !plan.tuning) return runs;
  std::string text = fmt::format("{}: {}, {}", runs, counted(plan.arms.size(), "arm"),
                                 counted(plan.seeds.size(), "seed"));
  if (plan.tuning)
    text += fmt::format("; before them {}: {} of each arm, {}", counted(plan.tuning->runs.size(), "tuning run"),
                        counted(plan.tuning->arms.front().trials.size(), "trial"),
                        counted(plan.tuning->seeds.size(), "seed"));
  return text;
}

std::string shell_words(const std::vector<std::string>& words) {
  static constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@+%";
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

} // namespace heed
