// Fuzz target: OPTION=VALUE arguments of a command line, separated by NUL, applied to the built-in defaults. The values
// must read back as written.
#include "experiments/config/catalogue.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/config/values.hpp"
#include "tests/fuzz/target.hpp"

using namespace heed;
using fuzz::refusal;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Settings defaults = Settings::parse("", "input.toml");
  std::vector<std::string> words;
  for (std::string_view rest = fuzz::text(data, size); !rest.empty();) words.emplace_back(fuzz::next_part(rest));
  Settings settings = defaults;
  if (!refusal([&] { settings.override_with(words); }).empty()) return 0;
  for (const auto& [key, setting] : settings.values()) {
    const std::string written = value_text(setting.value);
    const ReadValue read = read_text(*find_option(key), key, written);
    require(read.value.has_value(), key + ": what was written is refused: " + written + ": " + read.problem);
    require(*read.value == setting.value, key + ": what was written reads as something else: " + written);
  }
  refusal([&] { to_toml(settings.resolve()); });
  return 0;
}
