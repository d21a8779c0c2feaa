#include "experiments/runs/run_folder.hpp"

#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/runs/names.hpp"
#include "experiments/runs/run_records.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/system/bounds.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <system_error>

namespace heed {

namespace fs = std::filesystem;

RunFolder prepare_run(const fs::path& out, const std::string& id, std::string_view config_toml) {
  const RunFolder run{out / id};
  run.folder().make_folder();
  const auto before = read_config_text(run);
  // If the file can't be read, the run itself reports it.
  if (before.is_unreadable() || (before && *before == config_toml)) return run;
  if (before.is_missing() || (state_of(run) != RunState::finished && state_of(run) != RunState::running))
    // The run synchronises the folder later. If the file is lost before, the next start writes it again.
    run.config().write(config_toml, Durability::content);
  return run;
}

Parsed<std::string> read_config_text(const RunFolder& run) { return run.config().read(largest_config_file); }

Config read_config(const RunFolder& run) {
  const auto text = read_config_text(run);
  if (text.is_missing())
    throw Refused(fmt::format("'{}' is not the folder of a run: it has no config.toml", run.path.string()));
  require_readable(text);
  if (!text) throw Refused(text.error);
  // The options of another version may mean something else.
  if (const auto manifest = read_manifest(run); manifest.problem == ReadProblem::other_format)
    throw Refused(manifest.error);
  return Settings::parse_saved(*text, run.config().string()).resolve();
}

std::vector<std::string> run_ids(const fs::path& out) {
  std::vector<std::string> ids;
  // Uses system calls, because there may be very many runs: a path object for each would take most of the time.
  const auto close = [](DIR* folder) { ::closedir(folder); };
  errno = 0;
  const std::unique_ptr<DIR, decltype(close)> folder(::opendir(out.c_str()), close);
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr)
    if (is_run_id(entry->d_name)) ids.emplace_back(entry->d_name);
  // A folder that can't be listed is an error, not an empty folder.
  if (errno != 0 && errno != ENOENT && errno != ENOTDIR)
    throw Refused(fmt::format("cannot read the folder '{}': {}", out.string(), std::strerror(errno)));
  std::sort(ids.begin(), ids.end());
  return ids;
}

namespace {

/// As complete_id. `what`: what the text is not, if no ID begins with it.
std::string completed_id(const fs::path& out, const std::string& run, std::string_view what) {
  const std::vector<std::string> ids = run_ids(out);
  std::vector<std::string> matching;
  std::copy_if(ids.begin(), ids.end(), std::back_inserter(matching),
               [&](const std::string& id) { return id.starts_with(run); });
  if (matching.size() == 1) return matching.front();
  if (ids.empty())
    throw Refused(fmt::format("run '{}': there are no runs in '{}'; run a configuration first (heed run FILE), or name "
                              "another folder with --out",
                              run, out.string()));
  if (!matching.empty())
    throw Refused(fmt::format("run '{}': {} runs in '{}' begin like this: {}; give more of the ID", run,
                              matching.size(), out.string(), first_words(matching)));
  const std::string near = nearest(run, ids);
  throw Refused(fmt::format("run '{}': {} the beginning of an ID in '{}', which has {}{}", run, what, out.string(),
                            first_words(ids), near.empty() ? "" : "; did you mean " + near + "?"));
}

} // namespace

std::string complete_id(const fs::path& out, const std::string& beginning) {
  return completed_id(out, beginning, "not");
}

RunFolder find_run(const fs::path& out, const std::string& run) {
  // A path is given by the user, so it may contain links.
  if (std::error_code error; !run.empty() && fs::exists(fs::path(run) / "config.toml", error)) {
    fs::path path = fs::path(run).lexically_normal();
    if (!path.has_filename()) path = path.parent_path(); // "runs/ab/" has no filename
    return {fs::is_symlink(path, error) ? fs::canonical(path, error) : path};
  }
  return {out / completed_id(out, run, "neither the folder of a run nor")};
}

} // namespace heed
