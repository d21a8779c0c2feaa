#include "experiments/index/run_entry.hpp"

#include "experiments/config/block_keys.hpp"
#include "experiments/config/catalogue.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/values.hpp"
#include "experiments/metrics/catalogue.hpp"
#include "experiments/metrics/metric.hpp"
#include "experiments/metrics/record.hpp"
#include "experiments/runs/checkpoints.hpp"
#include "experiments/runs/run_identity.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>

namespace heed {
namespace {

namespace json = boost::json;

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

/// Collects the summaries of a run's metrics, line by line.
class MetricEntries {
public:
  explicit MetricEntries(const std::vector<Metric>& known) : known_(known) {}

  void add(const MetricsRecord& line) {
    for (const auto& [name, value] : values_of(line)) {
      const auto [place, is_new] = places_.try_emplace(name, entries.size());
      if (is_new) entries.push_back({name, value, line.step, {}, {}});
      MetricEntry& entry = entries[place->second];
      entry.last = value;
      entry.step = line.step;
      const auto info = std::ranges::find(known_, name, &Metric::name);
      if (info == known_.end() || !info->is_goal() || !std::isfinite(value)) continue;
      if (entry.best && !is_better(value, *entry.best, info->direction)) continue;
      entry.best = value;
      entry.best_step = line.step;
    }
  }

  std::vector<MetricEntry> entries;

private:
  const std::vector<Metric>& known_;
  std::map<std::string, std::size_t> places_;
};

/// The text of a configuration file without its seed, and the seed.
struct SeedlessText {
  std::string text;
  std::int64_t seed = 0;
};

/// None unless the seed is written as Heed writes it: `seed = 12`, before any table, once and in plain digits. Also
/// none if a multi-line text could contain such a line, or if the file extends another file.
std::optional<SeedlessText> without_seed(const std::string& toml) {
  constexpr std::string_view line = "\nseed = ";
  const std::string_view top = std::string_view(toml).substr(0, toml.find("\n["));
  const std::size_t at = top.find(line), digits = at + line.size();
  const bool plain = toml.find("\"\"\"") == std::string::npos && toml.find("'''") == std::string::npos;
  if (at == std::string_view::npos || !plain || top.find("extends") != std::string_view::npos) return std::nullopt;
  SeedlessText out;
  const char* const end = toml.data() + toml.size();
  const auto [last, error] = std::from_chars(toml.data() + digits, end, out.seed);
  const std::string_view written(toml.data() + digits, static_cast<std::size_t>(last - toml.data()) - digits);
  const bool canonical = error == std::errc() && last != end && *last == '\n' && out.seed >= 0 &&
                         out.seed <= largest_seed && (written == "0" || written.front() != '0');
  if (!canonical) return std::nullopt;
  const auto parts = SeedText::around(toml, out.seed);
  if (!parts) return std::nullopt;
  out.text = parts->before + parts->after;
  return out;
}

/// Why a manifest and a configuration don't belong to the folder; empty if they do.
/// @param numerics  of the configuration
/// @param id_of  returns the configuration's ID for given data
template <class IdOf>
std::string foreign(const RunFolder& run, const Manifest& manifest, const std::string& numerics, const IdOf& id_of) {
  if (manifest.run != run.id()) return fmt::format("its manifest.json is that of run {}", cut(manifest.run));
  if (!manifest.numerics.empty() && manifest.numerics != numerics)
    return fmt::format("it is from another version of Heed (heed {}, numerics {}; here it has numerics {}), whose "
                       "bits are not comparable",
                       cut(manifest.build.version), cut(manifest.numerics), numerics);
  if (!manifest.data.empty() && id_of(manifest.data) != run.id())
    return fmt::format("its config.toml no longer hashes to its ID: it was edited after the run was planned, or is "
                       "from another version of Heed ({}); remove the folder, and the original file repeats the run",
                       cut(manifest.build.version));
  return {};
}

} // namespace

/// Data shared by runs whose configurations differ only in the seed.
struct EntryReader::Shared {
  std::vector<FlatOption> flat;
  std::string numerics;                              ///< of the configuration
  std::vector<std::pair<std::string, Cell>> options; ///< values of `flat` as cells
  std::vector<Metric> metrics;
  std::map<std::string, SeedText, std::less<>> identities; ///< the text whose hash is the ID, by the data's fingerprint

  explicit Shared(const Config& config)
      : flat(flatten(config)), numerics(numerics_of(flat)), metrics(metrics_of(config)) {
    for (const FlatOption& option : flat) options.emplace_back(option.key, option_cell(option.key, option.value));
  }

  std::vector<std::pair<std::string, Cell>> options_of(std::int64_t seed) const {
    auto out = options;
    for (auto& [key, value] : out)
      if (key == seed_key) value = seed;
    return out;
  }

  std::string run_id(std::string_view fingerprint, std::int64_t seed) {
    auto known = identities.find(fingerprint);
    if (known == identities.end()) {
      std::vector<FlatOption> with = flat;
      const auto text = [&](const char* value) {
        for (FlatOption& option : with)
          if (option.key == seed_key) option.value = value;
        return identity_text(with, fingerprint);
      };
      std::string with_0 = text("0");
      known = identities.emplace(fingerprint, SeedText::between(with_0, text("1"))).first;
    }
    return run_id_of(known->second.with(seed));
  }
};

struct EntryReader::Known {
  static constexpr std::size_t most = 10'000;
  std::unordered_map<std::string, std::shared_ptr<Shared>> shared; ///< by the configuration's text without its seed

  /// The shared data of the run's configuration, and its seed. Throws heed::Refused as read_config does.
  std::pair<std::shared_ptr<Shared>, std::int64_t> of(const RunFolder& run) {
    const auto toml = read_config_text(run);
    const auto seedless = toml ? without_seed(*toml) : std::nullopt;
    if (seedless)
      if (const auto known = shared.find(seedless->text); known != shared.end()) return {known->second, seedless->seed};
    const Config config = read_config(run);
    auto read = std::make_shared<Shared>(config);
    // The file may have been replaced between the two reads; the seed can then be different.
    if (seedless && config.general.seed == seedless->seed && read_config_text(run).value == toml.value) {
      if (shared.size() >= most) shared.clear();
      shared.emplace(seedless->text, read);
    }
    return {std::move(read), config.general.seed};
  }
};

const MetricEntry* RunEntry::metric(std::string_view name) const {
  const auto found = std::ranges::find(metrics, name, &MetricEntry::name);
  return found == metrics.end() ? nullptr : &*found;
}

const Option* option_of_flat(const std::string& key) { return option_of_key(key); }

Cell option_cell(const std::string& key, const std::string& toml_value) {
  const Option* option = option_of_flat(key);
  if (!option) return toml_value;
  const ReadValue read = read_text(*option, key, toml_value);
  return read.value ? cell_of(*read.value) : Cell(toml_value);
}

std::optional<std::int64_t> parameters_in(const FileParts& checkpoint) {
  std::uint64_t length = 0;
  if (checkpoint.size() < sizeof length) return std::nullopt;
  if (!checkpoint.read(0, std::as_writable_bytes(std::span(&length, 1))).empty()) return std::nullopt;
  if (length > longest_header || length > checkpoint.size() - sizeof length) return std::nullopt;
  std::string header(static_cast<std::size_t>(length), '\0');
  if (!checkpoint.read(sizeof length, std::as_writable_bytes(std::span(header))).empty()) return std::nullopt;
  json::error_code error;
  const json::value parsed = json::parse(header, error);
  const json::object* tensors = error ? nullptr : parsed.if_object();
  if (!tensors) return std::nullopt;
  std::int64_t count = 0;
  for (const auto& [name, about] : *tensors) {
    if (name == "__metadata__" || std::string_view(name).starts_with(optimizer_prefix)) continue;
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

EntryReader::EntryReader() : known_(std::make_unique<Known>()) {}
EntryReader::~EntryReader() = default;
EntryReader::EntryReader(EntryReader&&) noexcept = default;
EntryReader& EntryReader::operator=(EntryReader&&) noexcept = default;

/// A record that passed the checks, with the data of its configuration.
struct EntryReader::Checked {
  RunRecord record;
  std::shared_ptr<Shared> shared;
  std::int64_t seed = 0;
};

Parsed<EntryReader::Checked> EntryReader::read(const RunFolder& run) {
  using Result = Parsed<Checked>;
  Checked out;
  RunRecord& record = out.record;
  if (const auto config = run.config().identity(); config.is_missing())
    return Result::wrong("it is half-written: it has no config.toml");
  else if (!config) return Result::wrong(config.error, config.problem);
  try {
    std::tie(out.shared, out.seed) = known_->of(run);
  } catch (const Unreadable& unreadable) {
    return Result::wrong(unreadable.what(), ReadProblem::unreadable);
  } catch (const Refused& refused) {
    if (auto manifest = read_manifest(run); manifest.problem == ReadProblem::other_format)
      return Result::wrong(std::move(manifest.error));
    return Result::wrong(fmt::format("its config.toml is damaged, or from another version of Heed: {}",
                                     refused.what()));
  }
  RunSnapshot look = snapshot_of(run);
  record.state = look.state;
  if (!look.unreadable.empty()) return Result::wrong(std::move(look.unreadable), ReadProblem::unreadable);
  if (look.has_manifest) {
    if (!look.manifest) return Result::wrong(look.manifest.error);
    const auto id_of = [&](const std::string& data) { return out.shared->run_id(data, out.seed); };
    if (std::string why = foreign(run, *look.manifest, out.shared->numerics, id_of); !why.empty())
      return Result::wrong(std::move(why));
    if (look.manifest->outcome == "finished" && record.state == RunState::interrupted && !look.wrong_metrics.empty())
      return Result::wrong(std::move(look.wrong_metrics));
    record.manifest = std::move(*look.manifest);
  } else if (record.state == RunState::interrupted) {
    return Result::wrong("it is half-written: something ran in it, but its manifest.json is missing");
  }
  return Result::ok(std::move(out));
}

Parsed<RunRecord> EntryReader::read_record(const RunFolder& run,
                                           const std::function<void(const MetricsRecord&)>& line) {
  auto checked = read(run);
  if (!checked) return Parsed<RunRecord>::wrong(std::move(checked.error), checked.problem);
  if (const auto lines = each_metrics_line(run.metrics(), line); !lines)
    return Parsed<RunRecord>::wrong(lines.error, lines.problem);
  return Parsed<RunRecord>::ok(std::move(checked->record));
}

Parsed<RunEntry> EntryReader::read_entry(const RunFolder& run) {
  using Result = Parsed<RunEntry>;
  auto checked = read(run);
  if (!checked) return Result::wrong(std::move(checked.error), checked.problem);
  MetricEntries metrics(checked->shared->metrics);
  if (const auto lines = each_metrics_line(run.metrics(), [&](const MetricsRecord& line) { metrics.add(line); });
      !lines)
    return Result::wrong(lines.error, lines.problem);
  RunEntry entry;
  entry.id = run.id();
  entry.state = checked->record.state;
  entry.manifest = std::move(checked->record.manifest);
  entry.metrics = std::move(metrics.entries);
  entry.options = checked->shared->options_of(checked->seed);
  try {
    for (const std::int64_t step : checkpoint_steps(run)) {
      const auto checkpoint = run.checkpoint(step).open();
      require_readable(checkpoint);
      if (checkpoint) entry.parameters = parameters_in(*checkpoint);
      if (entry.parameters) break;
    }
  } catch (const Unreadable& unreadable) {
    return Result::wrong(unreadable.what(), ReadProblem::unreadable);
  }
  return Result::ok(std::move(entry));
}

Parsed<RunEntry> read_entry(const RunFolder& run) { return EntryReader().read_entry(run); }

} // namespace heed
