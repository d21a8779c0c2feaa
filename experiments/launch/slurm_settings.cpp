// A user's settings for a Slurm cluster. They do not affect results.
#include "experiments/launch/slurm_launcher.hpp"

#include "autograd/error.hpp"
#include "experiments/config/toml_values.hpp"
#include "experiments/system/files.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "slurm.";

/// sbatch options that Heed sets itself, and options with which sbatch submits nothing, or submits where Heed can't
/// find it.
constexpr std::string_view own_names[] = {"array", "job-name", "output",  "error",     "open-mode", "parsable",
                                          "wait",  "wrap",     "signal",  "test-only", "ntasks",    "cpus-per-task",
                                          "help",  "usage",    "version", "clusters"};
constexpr std::string_view own_letters = "aJoeWncMhuV";
/// Letters without a value, so that another option may follow in the same word.
constexpr std::string_view letters_alone = "hHIkOQsuvVW";

/// The option in a word for sbatch that is reserved for Heed: "--arr" of "--arr=0-3", because names may be abbreviated;
/// "-a" of "-Qa0-3". Empty if there is none.
std::string own_part(std::string_view word) {
  if (word.starts_with("--")) {
    const std::string_view name = word.substr(2, word.find('=') - 2);
    const bool own = std::ranges::any_of(own_names, [&](std::string_view all) { return all.starts_with(name); });
    return own ? "--" + std::string(name) : "";
  }
  for (const char letter : word.substr(1)) {
    if (own_letters.find(letter) != std::string_view::npos) return std::string("-") + letter;
    if (letters_alone.find(letter) == std::string_view::npos) break; // the rest is its value
  }
  return "";
}

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw Refused(fmt::format("{}: {}", where, what));
}

/// One value, from a file or from the command line.
struct Given {
  std::string where; ///< "slurm.toml:3:1", "command line"
  std::string name;  ///< "slurm.time"
  std::optional<std::string> text;
  std::optional<std::int64_t> integer;
  std::optional<double> real;
  std::optional<std::vector<std::string>> list;
  std::string found; ///< the given value, for messages

  [[noreturn]] void wrong(std::string_view wanted) const {
    refuse(where, fmt::format("{} is {}; it takes {}", name, found, wanted));
  }
};

std::string word(const Given& given) {
  if (!given.text) given.wrong("a text");
  const bool plain = std::ranges::all_of(*given.text, [](unsigned char c) { return c > ' ' && c != 127; });
  if (!plain || given.text->starts_with('-')) given.wrong("one word without spaces, which doesn't begin with '-'");
  return *given.text;
}

std::string time_word(const Given& given) {
  std::string text = given.text.value_or(given.integer ? fmt::format("{}", *given.integer) : "");
  if (text != "UNLIMITED" && !seconds_of_slurm_time(text))
    given.wrong("a time as sbatch does: minutes, \"H:M:S\", \"D-H\" or \"D-H:M:S\"");
  return text;
}

std::string memory_word(const Given& given) {
  const std::string text = given.text.value_or("");
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view unit = std::string_view(text).substr(digits);
  if (digits == 0 || unit.size() > 1 || std::string_view("KMGT").find(unit) == std::string_view::npos)
    given.wrong("a size as sbatch does: \"500M\", \"4G\"");
  return text;
}

std::int64_t count(const Given& given) {
  if (!given.integer || *given.integer < 1) given.wrong("a whole number of 1 or more");
  return *given.integer;
}

double minutes(const Given& given) {
  const auto value = given.integer ? std::optional(static_cast<double>(*given.integer)) : given.real;
  constexpr double most = 7 * 24 * 60;
  if (!value || !(*value > 0 && *value <= most)) given.wrong("a number above 0, of minutes");
  return *value;
}

std::vector<std::string> words_of_sbatch(const Given& given) {
  const auto words = given.text ? std::optional(std::vector{*given.text}) : given.list;
  if (!words) given.wrong("a list of words for sbatch, [\"--constraint=avx512\"]");
  for (const std::string& option : *words) {
    if (!option.starts_with('-') || option == "-")
      given.wrong("words that begin with '-', one for each option: \"--mail-type=END\"");
    if (const std::string own = own_part(option); !own.empty())
      refuse(given.where, fmt::format("{} has '{}', which Heed sets itself or does not support", given.name, own));
  }
  return *words;
}

struct Entry {
  SlurmOption about;
  std::function<void(SlurmSettings&, const Given&)> take;
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all{
      {{"account", "the account that pays"}, [](auto& s, const auto& g) { s.account = word(g); }},
      {{"partition", "the partition"}, [](auto& s, const auto& g) { s.partition = word(g); }},
      {{"qos", "the quality of service"}, [](auto& s, const auto& g) { s.qos = word(g); }},
      {{"time", "a task's time limit [three times the plan's estimate, and 10 minutes]"},
       [](auto& s, const auto& g) { s.time = time_word(g); }},
      {{"memory", "a task's memory [1.5 times the plan's estimate, and 256 MB]"},
       [](auto& s, const auto& g) { s.memory = memory_word(g); }},
      {{"cpus", "a task's cores, which are its runs' threads [train.threads, or 1]"},
       [](auto& s, const auto& g) { s.cpus = count(g); }},
      {{"at_once", "tasks at a time [as many as the cluster allows]"},
       [](auto& s, const auto& g) { s.at_once = count(g); }},
      {{"task_minutes", "about how many minutes a task takes: short runs share a task [10]"},
       [](auto& s, const auto& g) { s.task_minutes = minutes(g); }},
      {{"options", "further options for sbatch, as a list"},
       [](auto& s, const auto& g) { s.options = words_of_sbatch(g); }},
  };
  return all;
}

void take(SlurmSettings& settings, const Given& given) {
  const std::string_view name = std::string_view(given.name).substr(prefix.size());
  std::vector<std::string> names;
  for (const Entry& entry : entries()) {
    if (entry.about.name == name) return entry.take(settings, given);
    names.emplace_back(entry.about.name);
  }
  refuse(given.where, fmt::format("there is no option '{}'{}; [slurm] has {}", given.name, did_you_mean(name, names),
                                  fmt::join(names, ", ")));
}

Given from_node(const toml::node& node, const std::string& name, const std::string& where) {
  Given given{where, name, {}, {}, {}, {}, node_in_words(node)};
  if (const auto* text = node.as_string()) given.text = text->get();
  if (const auto* integer = node.as_integer()) given.integer = integer->get();
  if (const auto* real = node.as_floating_point()) given.real = real->get();
  if (const auto* list = node.as_array()) {
    given.list.emplace();
    for (const toml::node& element : *list) {
      const auto* text = element.as_string();
      if (!text) given.wrong("a list of texts");
      given.list->push_back(text->get());
    }
  }
  return given;
}

void take_file(SlurmSettings& settings, const fs::path& file, const std::string& text) {
  const toml::table top = parse_toml(text, file.string());
  const auto place = [&](const toml::source_region& at) {
    return fmt::format("{}:{}:{}", file.string(), at.begin.line, at.begin.column);
  };
  for (const TomlEntry& entry : in_order(top)) {
    const toml::table* table = entry.name == "slurm" ? entry.node->as_table() : nullptr;
    if (!table)
      refuse(place(entry.at), fmt::format("'{}' is not known here; this file has a table [slurm]", entry.name));
    for (const TomlEntry& option : in_order(*table))
      take(settings, from_node(*option.node, std::string(prefix) + option.name, place(option.at)));
  }
}

/// `slurm.name=value`; the value is TOML or a bare word.
Given from_command_line(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos) refuse("command line", fmt::format("'{}' has no value; write {}=VALUE", word, word));
  const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
  Given given{"command line",
              name,
              value,
              number_of<std::int64_t>(value),
              number_of<double>(value),
              {},
              fmt::format("'{}'", value)};
  if (value.starts_with('[')) {
    const toml::table table = parse_toml("value = " + value, "command line");
    return from_node(*table.get("value"), name, "command line");
  }
  return given;
}

} // namespace

const std::vector<SlurmOption>& slurm_options() {
  static const std::vector<SlurmOption> all = [] {
    std::vector<SlurmOption> out;
    for (const Entry& entry : entries()) out.push_back(entry.about);
    return out;
  }();
  return all;
}

fs::path usual_slurm_file() {
  if (const char* base = std::getenv("XDG_CONFIG_HOME"); base && *base) return fs::path(base) / "heed" / "slurm.toml";
  const char* home = std::getenv("HOME");
  return home && *home ? fs::path(home) / ".config" / "heed" / "slurm.toml" : fs::path();
}

SlurmSettings read_slurm_settings(const std::optional<fs::path>& file, const std::vector<std::string>& overrides) {
  SlurmSettings settings;
  const fs::path path = file.value_or(usual_slurm_file());
  std::error_code error;
  if (file || (!path.empty() && fs::exists(path, error))) {
    const auto text = read_file(path);
    if (!text) throw Refused(text.error);
    take_file(settings, path, *text);
  }
  for (const std::string& word : overrides) take(settings, from_command_line(word));
  return settings;
}

std::optional<double> seconds_of_slurm_time(std::string_view time) {
  double days = 0;
  const std::size_t dash = time.find('-');
  if (dash != std::string_view::npos) {
    const auto number = number_of<std::uint32_t>(time.substr(0, dash));
    if (!number) return std::nullopt;
    days = *number;
    time.remove_prefix(dash + 1);
  }
  std::vector<double> parts;
  for (const std::string& part : parts_of(time, ':')) {
    const auto number = number_of<std::uint32_t>(part);
    if (!number || parts.size() == 3) return std::nullopt;
    parts.push_back(*number);
  }
  constexpr double minute = 60, hour = 3600, day = 86400;
  parts.resize(3, dash != std::string_view::npos || parts.size() == 3 ? 0.0 : -1.0);
  if (parts[2] >= 0) return days * day + parts[0] * hour + parts[1] * minute + parts[2]; // H:M:S, with days H and H:M
  return parts[0] * minute + std::max(0.0, parts[1]);                                    // minutes, M:S
}

std::string slurm_time(double seconds) {
  constexpr std::int64_t hour = 60, day = 24 * hour;
  const auto minutes = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(seconds / 60)));
  const std::string clock = fmt::format("{:02}:{:02}:00", minutes % day / hour, minutes % hour);
  return minutes >= day ? fmt::format("{}-{}", minutes / day, clock) : clock;
}

} // namespace heed
