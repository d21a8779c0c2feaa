#include "experiments/runs/run_store.hpp"

#include "experiments/config/config.hpp"
#include "experiments/config/numerics.hpp"
#include "experiments/system/content_hash.hpp"
#include "experiments/runs/queue_mark.hpp"
#include "experiments/system/threads.hpp"
#include "experiments/training/inspected_metrics.hpp"

#include <algorithm>
#include <charconv>
#include <dirent.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <memory>
#include <system_error>

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view checkpoint_prefix = "checkpoint-", checkpoint_suffix = ".safetensors";
constexpr std::size_t id_digits = 16;

/// The whole lines of a text with newlines: what follows the last newline was cut off.
std::vector<std::string_view> whole_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1))
    lines.push_back(text.substr(0, end));
  return lines;
}

/// None where there is no whole one.
std::optional<std::string_view> last_whole_line(std::string_view text) {
  const std::size_t end = text.rfind('\n');
  if (end == std::string_view::npos) return std::nullopt;
  text = text.substr(0, end);
  return text.substr(text.rfind('\n') + 1); // npos + 1 is 0
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool is_id(std::string_view text) {
  return text.size() == id_digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

} // namespace

std::string run_id(const Config& config, std::string_view fingerprint) { return run_id(flatten(config), fingerprint); }

std::string run_id(const std::vector<FlatOption>& options, std::string_view fingerprint) {
  return run_id_of(identity_text(options, fingerprint));
}

std::string run_id_of(std::string_view identity_text) { return content_hash(identity_text).substr(0, id_digits); }

std::string identity_text(const std::vector<FlatOption>& options, std::string_view fingerprint) {
  std::string identity = fmt::format("numerics {}\ndata {}\n", numerics_of(options), fingerprint);
  for (const FlatOption& option : options)
    if (option.identifies) identity += fmt::format("{} = {}\n", option.key, option.value);
  return identity;
}

std::string_view name_of(RunState state) {
  switch (state) {
    case RunState::missing: return "missing";
    case RunState::queued: return "queued";
    case RunState::running: return "running";
    case RunState::interrupted: return "interrupted";
    case RunState::failed: return "failed";
    case RunState::finished: return "finished";
  }
  return "unknown";
}

fs::path RunFolder::checkpoint(std::int64_t step) const {
  return path / fmt::format("{}{:06}{}", checkpoint_prefix, step, checkpoint_suffix);
}

RunFolder prepare_run(const fs::path& out, const std::string& id, std::string_view config_toml) {
  const RunFolder run{out / id};
  make_folder(run.path);
  if (const auto before = read_file(run.config()); before && *before == config_toml) return run;
  if (!is_there(run.config()) || (state_of(run) != RunState::finished && state_of(run) != RunState::running))
    // The folder is synchronised by the run. Without it, the next start writes the file once more.
    write_file(run.config(), config_toml, Durability::content);
  return run;
}

namespace {

/// metrics.jsonl; empty where there is none.
Parsed<std::string> metrics_text(const RunFolder& run) {
  auto text = read_file(run.metrics());
  return text || is_there(run.metrics()) ? text : Parsed<std::string>::ok("");
}

std::string wrong_metrics(const Parsed<std::string>& text, const Manifest& manifest) {
  constexpr std::string_view mend = "heed run with its configuration makes again what is missing";
  if (!text) return text.error;
  const auto last_line = last_whole_line(*text);
  const auto last = last_line ? metrics_from_json(*last_line) : Parsed<Metrics>::ok({});
  if (last && last->step < manifest.step)
    return fmt::format("its metrics.jsonl ends at step {}, but the run at step {}; {}", last->step, manifest.step,
                       mend);
  const bool changed = manifest.metrics.empty() ? !text->empty() && !text->ends_with('\n')
                                                : content_hash(*text) != manifest.metrics.back().hash;
  if (changed)
    return fmt::format("its metrics.jsonl is not what it was when the run finished (another checksum); {}", mend);
  return {};
}

/// As who has the claim sees it.
RunLook look_at_claimed(const RunFolder& run) {
  RunLook look;
  look.manifest = read_manifest(run);
  look.has_manifest = look.manifest || is_there(run.manifest());
  if (look.manifest) {
    if (look.manifest->outcome == "finished") {
      auto text = metrics_text(run);
      look.wrong_metrics = wrong_metrics(text, *look.manifest);
      look.state = look.wrong_metrics.empty() ? RunState::finished : RunState::interrupted;
      look.metrics = std::move(text.value);
    } else {
      look.state = look.manifest->outcome == "failed" ? RunState::failed : RunState::interrupted;
    }
    return look;
  }
  // What a run leaves behind is more to be trusted than the one file that is gone or damaged.
  const bool begun = look.has_manifest || is_there(run.metrics()) || !checkpoint_steps(run).empty();
  look.state = begun ? RunState::interrupted : RunState::missing;
  return look;
}

/// Of a run whose claim nobody has.
RunLook look_at_unclaimed(const RunFolder& run) {
  RunLook look = look_at_claimed(run);
  if (look.state != RunState::finished && waits_in_queue(run)) look.state = RunState::queued;
  return look;
}

} // namespace

RunLook look_at(const RunFolder& run) {
  if (!RunClaim::held(run)) return look_at_unclaimed(run);
  RunLook look = look_at_claimed(run);
  look.state = RunState::running;
  return look;
}

RunState state_of(const RunFolder& run) {
  return RunClaim::held(run) ? RunState::running : look_at_unclaimed(run).state;
}

std::vector<RunState> states_of(const std::vector<RunFolder>& runs) {
  std::vector<RunState> out(runs.size());
  for_each_in_threads(runs.size(), [&](std::size_t i) { out[i] = state_of(runs[i]); });
  return out;
}

RunState state_of_claimed(const RunFolder& run) { return look_at_claimed(run).state; }

Parsed<Manifest> read_manifest(const RunFolder& run) {
  const auto bytes = read_file(run.manifest());
  if (!bytes) return Parsed<Manifest>::wrong(bytes.error);
  auto manifest = manifest_from_json(*bytes);
  if (!manifest) manifest.error = fmt::format("'{}' is damaged: {}", run.manifest().string(), manifest.error);
  return manifest;
}

Config read_config(const RunFolder& run) {
  if (!is_there(run.config()))
    throw Refused(fmt::format("'{}' is not the folder of a run: it has no config.toml", run.path.string()));
  return Settings::load(run.config()).resolve();
}

Parsed<std::vector<Metrics>> read_metrics(const RunFolder& run) {
  const auto text = metrics_text(run);
  return text ? read_metrics(run, *text) : Parsed<std::vector<Metrics>>::wrong(text.error);
}

Parsed<std::vector<Metrics>> read_metrics(const RunFolder& run, std::string_view bytes) {
  using Result = Parsed<std::vector<Metrics>>;
  std::vector<Metrics> out;
  for (const std::string_view line : whole_lines(bytes)) {
    auto metrics = metrics_from_json(line);
    if (!metrics)
      return Result::wrong(fmt::format("'{}' is damaged in line {}: {}", run.metrics().string(), out.size() + 1,
                                       metrics.error));
    out.push_back(std::move(*metrics));
  }
  return Result::ok(std::move(out));
}

std::vector<std::pair<std::string, double>> values_of(const Metrics& line) {
  constexpr double microseconds = 1e6;
  auto out = line.values;
  if (line.tokens > 0 && line.step_seconds)
    out.emplace_back("time_per_token", microseconds * *line.step_seconds / static_cast<double>(line.tokens));
  add_summaries(out);
  return out;
}

std::optional<double> value_of(const Metrics& line, std::string_view name) {
  const auto in = [&](const std::vector<std::pair<std::string, double>>& values) -> std::optional<double> {
    for (const auto& [key, value] : values)
      if (key == name) return value;
    return std::nullopt;
  };
  const auto written = in(line.values);
  return written ? written : in(values_of(line));
}

std::optional<double> last_value(const std::vector<Metrics>& metrics, std::string_view name) {
  for (auto line = metrics.rbegin(); line != metrics.rend(); ++line)
    if (const auto value = value_of(*line, name)) return value;
  return std::nullopt;
}

std::string append_metrics(const RunFolder& run, const Metrics& metrics) {
  std::string line = to_json(metrics);
  append_line(run.metrics(), line);
  return line + '\n';
}

MetricsSum metrics_sum(const RunFolder& run, std::int64_t step) {
  const std::string text = read_file(run.metrics()).value.value_or("");
  // From the end: at a checkpoint there is nothing later, and one line is read.
  std::vector<std::string_view> lines = whole_lines(text);
  const auto later = [&] {
    const auto metrics = metrics_from_json(lines.back());
    return !metrics || metrics->step > step;
  };
  while (!lines.empty() && later()) lines.pop_back();
  const std::size_t length = lines.empty() ? 0 : static_cast<std::size_t>(lines.back().end() - text.data()) + 1;
  return {step, content_hash(std::string_view(text).substr(0, length))};
}

std::string wrong_metrics(const RunFolder& run, const Manifest& manifest) {
  return wrong_metrics(metrics_text(run), manifest);
}

void truncate_metrics(const RunFolder& run, std::int64_t step) {
  if (!is_there(run.metrics())) return;
  const auto text = read_file(run.metrics());
  if (!text) throw Failed(text.error);
  std::string kept;
  for (const std::string_view line : whole_lines(*text))
    if (const auto metrics = metrics_from_json(line); metrics && metrics->step <= step) kept.append(line) += '\n';
  if (kept != *text) write_file(run.metrics(), kept);
}

std::vector<std::int64_t> checkpoint_steps(const RunFolder& run) {
  std::vector<std::int64_t> steps;
  std::error_code error;
  for (fs::directory_iterator it(run.path, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with(checkpoint_prefix) || !name.ends_with(checkpoint_suffix)) continue;
    const char* first = name.data() + checkpoint_prefix.size();
    const char* last = name.data() + name.size() - checkpoint_suffix.size();
    std::int64_t step = 0;
    if (const auto [at, wrong] = std::from_chars(first, last, step); wrong == std::errc() && at == last && step >= 0)
      steps.push_back(step);
  }
  std::sort(steps.rbegin(), steps.rend());
  return steps;
}

void write_checkpoint(const RunFolder& run, std::int64_t step, const Checkpoint& checkpoint, std::int64_t keep) {
  // A checkpoint that survives a power cut must find the metrics up to its step.
  synchronise_file(run.metrics());
  write_file(run.checkpoint(step), to_safetensors(checkpoint));
  const auto steps = checkpoint_steps(run);
  for (auto i = static_cast<std::size_t>(keep); i < steps.size(); ++i) remove_file(run.checkpoint(steps[i]));
}

Parsed<Checkpoint> read_checkpoint(const RunFolder& run, std::int64_t step, CheckpointPart part) {
  const auto file = FileParts::open(run.checkpoint(step));
  if (!file) return Parsed<Checkpoint>::wrong(file.error);
  auto checkpoint = read_safetensors(*file, part);
  if (checkpoint) {
    const auto stated = step_of(*checkpoint);
    if (!stated)
      return Parsed<Checkpoint>::wrong(fmt::format("'{}' is damaged: {}", run.checkpoint(step).string(), stated.error));
    if (*stated != step)
      return Parsed<Checkpoint>::wrong(fmt::format("'{}' is the checkpoint of step {}", run.checkpoint(step).string(),
                                                   *stated));
  } else {
    checkpoint.error = fmt::format("'{}' is damaged: {}", run.checkpoint(step).string(), checkpoint.error);
  }
  return checkpoint;
}

namespace {
std::optional<KeptCheckpoint> newest_whole(const RunFolder& run, CheckpointPart part, std::vector<std::string>* damaged,
                                           const CheckpointProblem& problem) {
  for (const std::int64_t step : checkpoint_steps(run)) {
    auto checkpoint = read_checkpoint(run, step, part);
    std::string why = checkpoint ? problem(step, *checkpoint) : std::move(checkpoint.error);
    if (why.empty()) return KeptCheckpoint{step, std::move(*checkpoint)};
    if (damaged) damaged->push_back(std::move(why));
  }
  return std::nullopt;
}
} // namespace

std::optional<KeptCheckpoint> newest_checkpoint(const RunFolder& run, std::vector<std::string>* damaged,
                                                const CheckpointProblem& problem) {
  return newest_whole(run, CheckpointPart::all, damaged, problem);
}

std::optional<KeptCheckpoint> newest_weights(const RunFolder& run, std::vector<std::string>* damaged) {
  return newest_whole(run, CheckpointPart::weights, damaged, [](std::int64_t, const Checkpoint&) { return ""; });
}

Parsed<std::int64_t> step_of(const Checkpoint& checkpoint) {
  using Result = Parsed<std::int64_t>;
  const auto it = checkpoint.metadata.find("step");
  if (it == checkpoint.metadata.end()) return Result::wrong("its metadata has no step");
  const std::string& text = it->second;
  std::int64_t step = 0;
  const auto [at, wrong] = std::from_chars(text.data(), text.data() + text.size(), step);
  if (wrong != std::errc() || at != text.data() + text.size() || step < 0)
    return Result::wrong(fmt::format("its step is \"{}\", which is not a number 0, 1, 2, ...", text));
  return Result::ok(step);
}

std::vector<std::string> run_ids(const fs::path& out) {
  std::vector<std::string> ids;
  // By the system's own calls, since there may be very many: a path for each would take longer than all else.
  const auto close = [](DIR* folder) { ::closedir(folder); };
  const std::unique_ptr<DIR, decltype(close)> folder(::opendir(out.c_str()), close);
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr)
    if (is_id(entry->d_name)) ids.emplace_back(entry->d_name);
  std::sort(ids.begin(), ids.end());
  return ids;
}

RunFolder find_run(const fs::path& out, const std::string& run) {
  if (!run.empty() && is_there(fs::path(run) / "config.toml")) {
    fs::path path = fs::path(run).lexically_normal();
    return {path.has_filename() ? path : path.parent_path()}; // "runs/ab/" has no filename
  }
  const std::vector<std::string> ids = run_ids(out);
  std::vector<std::string> matching;
  std::copy_if(ids.begin(), ids.end(), std::back_inserter(matching),
               [&](const std::string& id) { return id.starts_with(run); });
  if (matching.size() == 1) return {out / matching.front()};
  if (ids.empty())
    throw Refused(fmt::format("run '{}': there are no runs in '{}'; run a configuration first (heed run FILE), or name "
                              "another folder with --out",
                              run, out.string()));
  constexpr std::size_t shown = 6;
  const auto list = [&](const std::vector<std::string>& of) {
    std::string text = fmt::format("{}", fmt::join(of.begin(),
                                                   of.begin() + static_cast<std::ptrdiff_t>(std::min(shown, of.size())),
                                                   ", "));
    return of.size() > shown ? text + fmt::format(" and {} more", of.size() - shown) : text;
  };
  if (!matching.empty())
    throw Refused(fmt::format("run '{}': {} runs in '{}' begin so: {}; give more of the ID", run, matching.size(),
                              out.string(), list(matching)));
  const std::string near = nearest(run, ids);
  throw Refused(fmt::format("run '{}': neither the folder of a run nor the beginning of an ID in '{}', which has {}{}",
                            run, out.string(), list(ids), near.empty() ? "" : "; did you mean " + near + "?"));
}

} // namespace heed
