#include "experiments/sweep/preparation.hpp"

#include "autograd/error.hpp"
#include "experiments/config/values.hpp"
#include "experiments/system/standard_input.hpp"
#include "experiments/system/text.hpp"

#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <string>
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
  if (file != "-") return Settings::load(file);
  constexpr std::size_t most = std::size_t{1} << 20;
  static const std::string text = standard_input(most); // it can be read once
  if (text.empty()) throw Refused("standard input is empty, and - means a config there; a line # is an empty config");
  return Settings::parse(text, "standard input");
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
