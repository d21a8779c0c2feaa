#include "experiments/runs/run_store.hpp"

#include "experiments/config/config.hpp"
#include "experiments/config/numerics.hpp"
#include "experiments/runs/names.hpp"
#include "experiments/runs/queue_mark.hpp"
#include "experiments/system/content_hash.hpp"
#include "experiments/system/threads.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
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

OutputFile RunFolder::checkpoint(std::int64_t step) const {
  return folder() / fmt::format("{}{:06}{}", checkpoint_prefix, step, checkpoint_suffix);
}

RunFolder prepare_run(const fs::path& out, const std::string& id, std::string_view config_toml) {
  const RunFolder run{out / id};
  run.folder().make_folder();
  const auto before = run.config().read();
  if (before.is_unreadable() || (before && *before == config_toml)) return run; // of the first, the run itself says so
  if (before.is_missing() || (state_of(run) != RunState::finished && state_of(run) != RunState::running))
    // The folder is synchronised by the run. Without it, the next start writes the file once more.
    run.config().write(config_toml, Durability::content);
  return run;
}

RunLook look_at_claimed(const RunFolder& run) {
  RunLook look;
  look.manifest = read_manifest(run);
  look.has_manifest = !look.manifest.is_missing();
  look.state = RunState::interrupted;
  if (look.manifest) {
    if (look.manifest->outcome == "failed") look.state = RunState::failed;
    if (look.manifest->outcome != "finished") return look;
    auto wrong = wrong_metrics(run, *look.manifest);
    if (!wrong) look.unreadable = std::move(wrong.error);
    else if (wrong->empty()) look.state = RunState::finished;
    else look.wrong_metrics = std::move(*wrong);
    return look;
  }
  if (look.manifest.is_unreadable()) look.unreadable = look.manifest.error;
  // What a run leaves behind is more to be trusted than the one file that is gone or damaged.
  if (look.has_manifest || run.metrics().exists()) return look;
  try {
    if (checkpoint_steps(run).empty()) look.state = RunState::missing;
  } catch (const Unreadable& error) {
    look.unreadable = error.what();
  }
  return look;
}

namespace {

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
  const auto bytes = run.manifest().read();
  if (!bytes) return Parsed<Manifest>::wrong(bytes.error, bytes.problem);
  auto manifest = manifest_from_json(*bytes);
  if (!manifest) manifest.error = fmt::format("'{}' is damaged: {}", run.manifest().string(), manifest.error);
  return manifest;
}

Config read_config(const RunFolder& run) {
  constexpr std::uint64_t largest_config = std::uint64_t{1} << 20;
  const auto text = run.config().read(largest_config);
  if (text.is_missing())
    throw Refused(fmt::format("'{}' is not the folder of a run: it has no config.toml", run.path.string()));
  require_readable(text);
  if (!text) throw Refused(text.error);
  return Settings::parse_saved(*text, run.config().string()).resolve();
}

std::vector<std::int64_t> checkpoint_steps(const RunFolder& run) {
  std::vector<std::int64_t> steps;
  const auto names = run.folder().names();
  require_readable(names);
  for (const std::string& name : names ? *names : std::vector<std::string>()) {
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
  run.metrics().synchronise();
  run.checkpoint(step).write(to_safetensors(checkpoint));
  const auto steps = checkpoint_steps(run);
  for (auto i = static_cast<std::size_t>(keep); i < steps.size(); ++i) run.checkpoint(steps[i]).remove();
}

Parsed<Checkpoint> read_checkpoint(const RunFolder& run, std::int64_t step, CheckpointPart part) {
  const auto file = run.checkpoint(step).open();
  if (!file) return Parsed<Checkpoint>::wrong(file.error, file.problem);
  auto checkpoint = read_safetensors(*file, part);
  if (checkpoint) {
    const auto stated = step_of(*checkpoint);
    if (!stated)
      return Parsed<Checkpoint>::wrong(fmt::format("'{}' is damaged: {}", run.checkpoint(step).string(), stated.error));
    if (*stated != step)
      return Parsed<Checkpoint>::wrong(fmt::format("'{}' is the checkpoint of step {}", run.checkpoint(step).string(),
                                                   *stated));
  } else if (!checkpoint.is_unreadable()) {
    checkpoint.error = fmt::format("'{}' is damaged: {}", run.checkpoint(step).string(), checkpoint.error);
  }
  return checkpoint;
}

namespace {
std::optional<KeptCheckpoint> newest_whole(const RunFolder& run, CheckpointPart part, std::vector<std::string>* damaged,
                                           const CheckpointProblem& problem) {
  for (const std::int64_t step : checkpoint_steps(run)) {
    auto checkpoint = read_checkpoint(run, step, part);
    require_readable(checkpoint);
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
  errno = 0;
  const std::unique_ptr<DIR, decltype(close)> folder(::opendir(out.c_str()), close);
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr)
    if (is_run_id(entry->d_name)) ids.emplace_back(entry->d_name);
  // What can't be listed is not empty.
  if (errno != 0 && errno != ENOENT && errno != ENOTDIR)
    throw Refused(fmt::format("cannot read the folder '{}': {}", out.string(), std::strerror(errno)));
  std::sort(ids.begin(), ids.end());
  return ids;
}

RunFolder find_run(const fs::path& out, const std::string& run) {
  // A path is the user's own word, so that it may lead through links.
  if (std::error_code error; !run.empty() && fs::exists(fs::path(run) / "config.toml", error)) {
    fs::path path = fs::path(run).lexically_normal();
    if (!path.has_filename()) path = path.parent_path(); // "runs/ab/" has no filename
    return {fs::is_symlink(path, error) ? fs::canonical(path, error) : path};
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
