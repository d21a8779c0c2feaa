#include "experiments/runs/run_entry.hpp"

#include "experiments/config/catalogue.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/values.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <sys/stat.h>

namespace heed {
namespace {

namespace json = boost::json;

constexpr std::uint64_t longest_settings_header = std::uint64_t{1} << 26;

Cell cell_of(const Value& value) {
  struct ToCell {
    const Value& all;
    Cell operator()(bool v) const { return std::int64_t{v}; }
    Cell operator()(std::int64_t v) const { return v; }
    Cell operator()(double v) const { return v; }
    Cell operator()(const std::string& v) const { return v; }
    Cell operator()(const WordOrNumber& v) const { return v.word.empty() ? Cell(v.number) : Cell(v.word); }
    Cell operator()(const std::vector<std::int64_t>&) const { return value_text(all); }
    Cell operator()(const std::vector<double>&) const { return value_text(all); }
    Cell operator()(const std::vector<std::string>&) const { return value_text(all); }
  };
  return std::visit(ToCell{value}, value);
}

std::vector<MetricEntry> metric_entries(const Config& config, const std::vector<Metrics>& lines) {
  const std::vector<MetricInfo> known = metrics_of(config);
  std::vector<MetricEntry> out;
  std::map<std::string, std::size_t> places;
  for (const Metrics& line : lines)
    for (const auto& [name, value] : values_of(line)) {
      const auto [place, is_new] = places.try_emplace(name, out.size());
      if (is_new) out.push_back({name, value, line.step, {}, {}});
      MetricEntry& entry = out[place->second];
      entry.last = value;
      entry.step = line.step;
      const auto info = std::find_if(known.begin(), known.end(),
                                     [&name = name](const MetricInfo& m) { return m.name == name; });
      if (info == known.end() || !std::isfinite(value)) continue;
      if (entry.best && (info->higher_is_better ? value <= *entry.best : value >= *entry.best)) continue;
      entry.best = value;
      entry.best_step = line.step;
    }
  return out;
}

/// Why a manifest and a configuration don't belong to the folder; empty where they do.
std::string foreign(const RunFolder& run, const Manifest& manifest, const Config& config) {
  if (manifest.run != run.id()) return fmt::format("its manifest.json is that of run {}", manifest.run);
  if (manifest.numerics != 0 && manifest.numerics != numerics_version)
    return fmt::format("it is from another version of Heed (heed {}, numerics {}; this one has numerics {}), whose "
                       "bits are not comparable",
                       manifest.build.version, manifest.numerics, numerics_version);
  if (!manifest.data.empty() && run_id(config, manifest.data) != run.id())
    return fmt::format("its config.toml no longer hashes to its ID: it was edited after the run was planned, or is "
                       "from another version of Heed ({}); where the folder is removed, the original file "
                       "makes the run anew",
                       manifest.build.version);
  return {};
}

} // namespace

const MetricEntry* RunEntry::metric(std::string_view name) const {
  const auto found = std::ranges::find(metrics, name, &MetricEntry::name);
  return found == metrics.end() ? nullptr : &*found;
}

const Option* option_of_flat(const std::string& key) {
  if (!key.starts_with("block[")) return find_option(key);
  const auto end = key.find("].");
  if (end == std::string::npos) return nullptr;
  const std::string name = key.substr(end + 2);
  const Option* whole = find_option(name);
  return whole && name.find('.') != std::string::npos ? whole : find_option("block." + name);
}

Cell option_cell(const std::string& key, const std::string& toml_value) {
  const Option* option = option_of_flat(key);
  if (!option) return toml_value;
  const ReadValue read = read_text(*option, key, toml_value);
  return read.value ? cell_of(*read.value) : Cell(toml_value);
}

std::optional<std::int64_t> parameters_in(const std::filesystem::path& checkpoint) {
  std::uint64_t length = 0;
  const auto size = read_beginning(checkpoint, sizeof length);
  if (!size || size->size() < sizeof length) return std::nullopt;
  std::memcpy(&length, size->data(), sizeof length);
  if (length > longest_settings_header) return std::nullopt;
  const auto beginning = read_beginning(checkpoint, sizeof length + length);
  if (!beginning || beginning->size() < sizeof length + length) return std::nullopt;
  const std::string_view header = std::string_view(*beginning).substr(sizeof length);
  json::error_code error;
  const json::value parsed = json::parse(header, error);
  const json::object* tensors = error ? nullptr : parsed.if_object();
  if (!tensors) return std::nullopt;
  std::int64_t count = 0;
  for (const auto& [name, about] : *tensors) {
    if (name == "__metadata__" || name.starts_with("optimizer.")) continue;
    const json::object* object = about.if_object();
    const json::value* shape = object ? object->if_contains("shape") : nullptr;
    const json::array* extents = shape ? shape->if_array() : nullptr;
    if (!extents) return std::nullopt;
    std::int64_t size = 1;
    for (const json::value& extent : *extents) {
      const std::int64_t* n = extent.if_int64();
      if (!n || *n < 0 || __builtin_mul_overflow(size, *n, &size)) return std::nullopt;
    }
    if (__builtin_add_overflow(count, size, &count)) return std::nullopt;
  }
  return count;
}

std::string signature_of(const RunFolder& run) {
  std::string out;
  for (const std::filesystem::path& path : {run.config(), run.manifest(), run.metrics()}) {
    struct stat about = {};
    if (::stat(path.c_str(), &about) != 0) out += "- ";
    else
      out += fmt::format("{}.{:09}/{}/{} ", about.st_mtim.tv_sec, about.st_mtim.tv_nsec, about.st_size, about.st_ino);
  }
  return out;
}

Parsed<RunEntry> read_entry(const RunFolder& run) {
  using Result = Parsed<RunEntry>;
  RunEntry entry;
  entry.id = run.id();
  std::error_code error;
  if (!std::filesystem::exists(run.config(), error)) return Result::wrong("it is half-written: it has no config.toml");
  Config config;
  try {
    config = read_config(run);
  } catch (const Refused& refused) {
    return Result::wrong(fmt::format("its config.toml is damaged, or from another version of Heed: {}",
                                     refused.what()));
  }
  entry.state = state_of(run);
  if (std::filesystem::exists(run.manifest(), error)) {
    auto manifest = read_manifest(run);
    if (!manifest) return Result::wrong(manifest.error);
    if (std::string why = foreign(run, *manifest, config); !why.empty()) return Result::wrong(std::move(why));
    if (manifest->outcome == "finished" && entry.state == RunState::interrupted)
      if (std::string why = wrong_metrics(run, *manifest); !why.empty()) return Result::wrong(std::move(why));
    entry.manifest = std::move(*manifest);
  } else if (entry.state == RunState::interrupted) {
    return Result::wrong("it is half-written: something ran in it, but its manifest.json is missing");
  }
  const auto metrics = read_metrics(run);
  if (!metrics) return Result::wrong(metrics.error);
  entry.metrics = metric_entries(config, *metrics);
  for (const FlatOption& option : flatten(config))
    entry.options.emplace_back(option.key, option_cell(option.key, option.value));
  for (const std::int64_t step : checkpoint_steps(run)) {
    entry.parameters = parameters_in(run.checkpoint(step));
    if (entry.parameters) break;
  }
  return Result::ok(std::move(entry));
}

} // namespace heed
