#include "experiments/sweep/preparation.hpp"

#include "autograd/error.hpp"
#include "experiments/config/values.hpp"
#include "experiments/system/standard_input.hpp"
#include "experiments/system/text.hpp"

#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
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

/// The settings of a file, or of standard input ("-").
Settings settings_of(const std::filesystem::path& file) {
  constexpr std::size_t most = std::size_t{1} << 20;
  return file == "-" ? Settings::parse(standard_input(most), "standard input") : Settings::load(file);
}

} // namespace

Settings load_settings(const std::filesystem::path& file, const std::vector<std::string>& overrides) {
  Settings settings = settings_of(file);
  if (!overrides.empty()) settings.override_with(overrides);
  return settings;
}

Preparation prepare(const std::filesystem::path& file, const std::vector<std::string>& overrides, Tasks& tasks,
                    const std::filesystem::path& out) {
  return prepare(settings_of(file), file == "-" ? "standard-input" : without_controls(file.stem().string()), overrides,
                 "command line", tasks, out);
}

Preparation prepare(Settings settings, const std::string& name, const std::vector<std::string>& overrides,
                    const std::string& where, Tasks& tasks, const std::filesystem::path& out) {
  if (!overrides.empty()) settings.override_with(overrides, where);
  refuse_tuned_overrides(settings, overrides, where);
  return prepare(std::move(settings), name, tasks, out);
}

} // namespace heed
