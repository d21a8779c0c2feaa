#include "experiments/config/settings.hpp"

#include "experiments/config/block_keys.hpp"
#include "experiments/config/catalogue.hpp"
#include "experiments/config/config_file.hpp"
#include "experiments/config/toml_values.hpp"
#include "experiments/config/unknown_names.hpp"
#include "experiments/config/values.hpp"
#include "experiments/system/bounds.hpp"
#include "experiments/system/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_files = 100;
constexpr std::string_view label_prefix = "report.label.";

std::string list_of_paths(const std::vector<fs::path>& paths) {
  std::string out;
  for (const fs::path& p : paths) out += (out.empty() ? "" : " -> ") + p.string();
  return out;
}

/// "; did you mean 'copy.toml'?", from the files in the same folder.
std::string near_file(const fs::path& file) {
  std::vector<std::string> names;
  std::error_code error;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  for (fs::directory_iterator i(folder, error), end; !error && i != end; i.increment(error))
    if (i->path().extension() == ".toml") names.push_back(i->path().filename().string());
  std::sort(names.begin(), names.end());
  return did_you_mean(file.filename().string(), names);
}

/// The text of a file. Throws heed::Refused.
std::string read_text_file(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::exists(status)) throw Refused(fmt::format("{}: there is no such file{}", file.string(), near_file(file)));
  if (fs::is_directory(status)) throw Refused(fmt::format("{}: this is a folder; give a .toml file", file.string()));
  if (fs::is_regular_file(status) && fs::file_size(file, error) > largest_config_file)
    throw Refused(fmt::format("{}: this file is larger than 1 MiB, so it is no configuration", file.string()));
  auto text = read_file(file, largest_config_file);
  if (!text) throw Refused(fmt::format("{}; give a .toml file", text.error));
  return std::move(*text);
}

/// Loads all files of a configuration, in the order in which they are merged.
struct Loader {
  Problems problems;
  std::vector<ConfigFile> files;
  int layer = 0;
  bool too_many = false;
  std::vector<fs::path> open; ///< the chain of files that extend each other, outermost first

  void load(const fs::path& file) {
    open.push_back(file);
    try {
      parse(read_text_file(file), file.string(), file.parent_path());
    } catch (const Refused& refused) {
      problems.add(refused.what());
    }
    open.pop_back();
  }

  /// @param folder  the file's folder; empty: the text has no file and cannot name other files
  void parse(std::string_view text, const std::string& name, const std::optional<fs::path>& folder) {
    const toml::table top = parse_toml(text, name);
    for (const auto& [path, origin] : read_extends(top, name, problems)) {
      if (folder) extend(*folder / path, path, origin);
      else
        problems.add(fmt::format("{}: extends '{}', but a saved configuration must not depend on other files",
                                 origin.text(), path));
    }
    files.push_back(read_config_file(top, name, ++layer, problems));
  }

  void extend(const fs::path& path, const std::string& written, const Origin& origin) {
    const fs::path file = path.lexically_normal();
    std::error_code error;
    if (!fs::exists(file, error))
      return problems.add(fmt::format("{}: extends '{}', but there is no file {}{}", origin.text(), written,
                                      file.string(), near_file(file)));
    for (const fs::path& above : open)
      if (fs::equivalent(above, file, error)) {
        std::vector<fs::path> circle = open;
        circle.push_back(file);
        return problems.add(fmt::format("{}: extends '{}' goes in a circle: {}", origin.text(), written,
                                        list_of_paths(circle)));
      }
    if (files.size() < most_files) return load(file);
    if (!too_many)
      problems.add(fmt::format("{}: extends '{}': more than {} files extend each other", origin.text(), written,
                               most_files));
    too_many = true;
  }
};

/// Merges [sweep.tune]: the values of a later file replace earlier ones.
void merge_tuning(TuneSpec&& from, std::optional<TuneSpec>& into) {
  if (!into) into.emplace();
  into->origin = from.origin;
  if (!from.axes.empty()) into->axes = std::move(from.axes);
  if (!from.seeds.empty()) into->seeds = std::move(from.seeds);
}

/// Merges [sweep] vary, vary_values and vary_fixings.
void merge_variation(ConfigFile& from, VarySpec& into) {
  if (from.sweep_vary) {
    into.sources = std::move(*from.sweep_vary);
    into.origin = from.sweep_vary_origin;
  }
  if (from.sweep_vary_values) {
    into.values = std::get<std::int64_t>(from.sweep_vary_values->value);
    into.of_values = from.sweep_vary_values->origin;
  }
  if (from.sweep_vary_fixings) {
    into.fixings = std::get<std::int64_t>(from.sweep_vary_fixings->value);
    into.of_fixings = from.sweep_vary_fixings->origin;
  }
}

/// Merges [sweep].
void merge_sweep(ConfigFile& file, SweepSpec& sweep) {
  if (file.sweep_seeds) sweep.seeds = std::move(*file.sweep_seeds);
  if (file.sweep_looks) sweep.looks = std::move(*file.sweep_looks);
  if (file.sweep_blocks) sweep.blocks = std::move(*file.sweep_blocks);
  if (file.sweep_reference) sweep.reference = std::get<std::string>(file.sweep_reference->value);
  if (file.sweep_match) {
    sweep.match = std::get<std::string>(file.sweep_match->value);
    sweep.match_origin = file.sweep_match->origin;
  }
  if (file.sweep_within) sweep.within = std::move(*file.sweep_within);
  if (file.sweep_tune) merge_tuning(std::move(*file.sweep_tune), sweep.tune);
  merge_variation(file, sweep.vary);
  sweep.present |= file.has_sweep;
}

/// "option = text" as TOML. Throws heed::Refused if it is not that, or sets another option, too.
toml::table one_value(const std::string& option, const std::string& text) {
  toml::table parsed = parse_toml(fmt::format("{} = {}", option, text), "");
  if (parsed.size() != 1) throw Refused("it sets other options, too");
  return parsed;
}

std::string not_for_command_line(const std::string& key) {
  if (key == "extends") return "extends is allowed only in a file";
  if (key == "block.override" || key.starts_with("block.override."))
    return "block.override is a list of tables, which is allowed only in a file: write [[block.override]] there, or "
           "set "
           "an option of one block, such as block[3].dropout=0.1";
  if (key == "sweep" || key.starts_with("sweep."))
    return fmt::format("{} is {}; its options are {}", key, key == "sweep" ? "a table" : "no option of a sweep",
                       joined(sweep_options(), ", ",
                              [](std::string_view name) { return fmt::format("sweep.{}", name); }));
  return "";
}

} // namespace

bool is_without_lines(std::string_view place) { return place == "command line" || place == "overrides"; }

std::string Origin::text() const {
  if (file.empty()) return "built-in";
  return line > 0 ? fmt::format("{}:{}:{}", file, line, column) : file;
}

Settings Settings::merged(std::vector<ConfigFile>&& files, int layer) {
  Settings out;
  SweepSpec sweep;
  for (ConfigFile& file : files) {
    for (auto& [key, setting] : file.values) out.values_[key] = std::move(setting);
    for (auto& [name, label] : file.report_labels) out.report_labels_[name] = std::move(label);
    if (file.block_overrides) out.block_overrides_ = std::move(*file.block_overrides);
    merge_sweep(file, sweep);
  }
  out.sweep_ = std::make_shared<SweepSpec>(std::move(sweep));
  out.layer_ = layer;
  return out;
}

Settings Settings::load(const std::filesystem::path& file) {
  Loader loader;
  loader.load(file);
  loader.problems.refuse();
  Settings out = merged(std::move(loader.files), loader.layer);
  out.file_name_ = without_controls(file.stem().string()); // a file's name need not be UTF-8
  return out;
}

Settings Settings::parse(std::string_view toml, const std::string& name) {
  Loader loader;
  const std::filesystem::path path(name);
  loader.open.push_back(path);
  loader.parse(toml, name, path.parent_path());
  loader.problems.refuse();
  return merged(std::move(loader.files), loader.layer);
}

Settings Settings::parse_saved(std::string_view toml, const std::string& name) {
  Loader loader;
  loader.parse(toml, name, std::nullopt);
  loader.problems.refuse();
  return merged(std::move(loader.files), loader.layer);
}

void Settings::override_with(const std::vector<std::string>& assignments, const std::string& where) {
  Problems problems;
  const Origin origin{where, 0, 0, ++layer_};
  auto problem = [&](std::string_view text) { problems.add(fmt::format("{}: {}", origin.text(), text)); };
  std::set<std::string> given;
  for (const std::string& assignment : assignments) {
    if (assignment.starts_with(label_prefix)) {
      if (std::string wrong = override_label(assignment, origin); !wrong.empty()) problem(wrong);
      continue;
    }
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0) {
      problem(fmt::format("'{}' is not an assignment; write OPTION=VALUE, such as model.width=128", assignment));
      continue;
    }
    const std::string key = assignment.substr(0, equals), text = assignment.substr(equals + 1);
    if (!given.insert(key).second)
      notes_.push_back(fmt::format("{} sets {} more than once; the last one counts: {}", origin.text(), key,
                                   assignment));
    if (key == "sweep.seeds" || key == "sweep.looks") {
      const std::string wrong = key == "sweep.seeds" ? override_seeds(text) : override_looks(text, origin);
      if (!wrong.empty()) problem(wrong);
      continue;
    }
    if (key.starts_with("sweep.") && std::ranges::count(sweep_options(), key.substr(6)) > 0) {
      override_sweep(key.substr(6), text, origin, problems);
      continue;
    }
    const Option* option = option_of_key(key);
    if (!option) {
      const std::string why = not_for_command_line(key);
      problem(why.empty() ? wrong_key(key) : why);
    } else if (names_block(key)) {
      ReadValue read = read_text(*option, key, text);
      if (read.value && text != "@default") set_in_block(block_overrides_, key, {*read.value, origin});
      else
        problem(text == "@default" ? fmt::format("{}: a block has no default of its own; give the value", key)
                                   : read.problem);
    } else if (text == "@default") {
      values_.erase(key);
      resets_[key] = origin;
    } else if (ReadValue read = read_text(*option, key, text); read.value) {
      values_[key] = {*read.value, origin};
      resets_.erase(key);
    } else {
      problem(read.problem);
    }
  }
  problems.refuse();
}

std::string Settings::override_seeds(const std::string& text) {
  const auto sweep = std::make_shared<SweepSpec>(*sweep_);
  if (text == "@default") {
    sweep->seeds.clear();
    sweep_ = sweep;
    return "";
  }
  try {
    const toml::table parsed = one_value("seeds", text);
    auto seeds = read_seeds(*parsed.get("seeds"));
    if (const auto* wrong = std::get_if<std::string>(&seeds)) return *wrong;
    sweep->seeds = std::move(std::get<0>(seeds));
    sweep->present = true;
    sweep_ = sweep;
    return "";
  } catch (const Refused&) {
    return fmt::format("sweep.seeds is '{}'; it must be a list such as [0, 1, 2], or how many", text);
  }
}

std::string Settings::override_looks(const std::string& text, const Origin& origin) {
  const auto sweep = std::make_shared<SweepSpec>(*sweep_);
  try {
    sweep->looks = {{}, origin};
    if (text != "@default") {
      const toml::table parsed = one_value("looks", text);
      auto looks = read_looks(*parsed.get("looks"));
      if (const auto* wrong = std::get_if<WrongNode>(&looks)) return wrong->why;
      sweep->looks.seeds = std::move(std::get<0>(looks));
      sweep->present = true;
    }
    sweep_ = sweep;
    return "";
  } catch (const Refused&) {
    return fmt::format("sweep.looks is '{}'; it must be a list such as [6, 10]", text);
  }
}

void Settings::override_sweep(const std::string& option, const std::string& text, const Origin& origin,
                              Problems& problems) {
  const auto sweep = std::make_shared<SweepSpec>(*sweep_);
  if (text == "@default") {
    SweepSpec before;
    if (option == "block") sweep->blocks.clear();
    else if (option == "match") sweep->match = before.match;
    else if (option == "reference") sweep->reference.clear();
    else if (option == "within") sweep->within.clear();
    else if (option == "tune") sweep->tune.reset();
    else if (option == "vary") sweep->vary.sources.clear();
    else if (option == "vary_values") sweep->vary.values = before.vary.values;
    else sweep->vary.fixings = before.vary.fixings;
    sweep_ = sweep;
    return;
  }
  std::optional<toml::table> parsed;
  try {
    parsed = one_value(option, text);
  } catch (const Refused&) {
    if (option != "match" && option != "reference" && option != "within")
      return problems.add(fmt::format("{}: sweep.{} is '{}'; it must be a value in the syntax of TOML, for example: "
                                      "sweep.block=[{{ grid = {{ \"model.width\" = [32, 64] }} }}]",
                                      origin.text(), option, text));
    parsed = one_value(option, toml_string(text)); // a word without its quotes
  }
  ConfigFile file;
  file.has_sweep = true;
  read_sweep(*parsed, origin.file, origin.layer, problems, file);
  merge_sweep(file, *sweep);
  sweep_ = sweep;
}

std::string Settings::override_label(const std::string& assignment, const Origin& origin) {
  const std::string rest = assignment.substr(label_prefix.size());
  const bool quoted = rest.starts_with('"');
  const std::size_t end = quoted ? rest.find('"', 1) : rest.find('=');
  const std::size_t equals = quoted && end != std::string::npos ? end + 1 : end;
  if (end == std::string::npos || equals >= rest.size() || rest[equals] != '=' || end == 0)
    return fmt::format(
        "'{}' is not an assignment; write report.label.NAME=TEXT, such as 'report.label.\"score = additive\"=additive'",
        assignment);
  const std::string name = quoted ? rest.substr(1, end - 1) : rest.substr(0, end), text = rest.substr(equals + 1);
  if (text == "@default") {
    report_labels_.erase(name);
    return "";
  }
  std::string wrong = wrong_label(name, text);
  if (wrong.empty()) report_labels_[name] = {text, origin};
  return wrong;
}

Settings Settings::with(const std::vector<Change>& changes) const {
  Settings out = *this;
  Problems problems;
  ++out.layer_;
  for (const Change& change : changes) {
    Origin origin = change.origin;
    if (origin.file.empty()) origin.file = "sweep";
    origin.layer = out.layer_;
    if (change.key == override_key) {
      replace_overrides(out.block_overrides_, change.overrides, out.layer_);
      continue;
    }
    const Option* option = option_of_key(change.key);
    const std::string wrong = option ? wrong_value(*option, change.key, change.value) : wrong_key(change.key);
    if (!wrong.empty()) problems.add(fmt::format("{}: {}", origin.text(), wrong));
    if (names_block(change.key)) {
      if (wrong.empty()) set_in_block(out.block_overrides_, change.key, {change.value, origin});
      continue;
    }
    out.values_[change.key] = {change.value, origin};
    out.resets_.erase(change.key);
  }
  problems.refuse();
  return out;
}

} // namespace heed
