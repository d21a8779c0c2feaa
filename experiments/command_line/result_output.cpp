#include "experiments/command_line/result_output.hpp"

#include "autograd/error.hpp"
#include "experiments/config/values.hpp"
#include "experiments/system/stop_signals.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace heed {

namespace {

bool is_never_own(std::string_view) { return false; }

std::string chosen_format(const std::string& command, const ResultOptions& options, std::string_view fallback) {
  const char* const flag = options.json ? "json" : options.csv ? "csv" : nullptr;
  if (options.json && options.csv)
    throw Refused(fmt::format("{}: --json and --csv are two formats of one result; leave out one", command));
  if (flag && !options.format.empty() && options.format != flag)
    throw Refused(fmt::format("{0}: --{1} is short for --format {1}, and --format {2} is given, too; leave out one",
                              command, flag, options.format));
  return flag ? flag : options.format.empty() ? std::string(fallback) : options.format;
}

} // namespace

void add_result_options(Command& command, ResultOptions& options, const std::vector<std::string>& formats) {
  const auto has = [&](const char* format) { return std::ranges::count(formats, format) > 0; };
  command.add("--format FORMAT", options.format, fmt::format("{} [{}]", fmt::join(formats, ", "), formats.front()))
      .one_of(formats);
  command.add("--output FILE", options.file, "write the result to this file; -: to standard output");
  command.add_flag("--force", options.force, "with --output: replace any other file, too");
  if (has("json")) command.add_flag("--json", options.json, "short for --format json");
  if (has("csv")) command.add_flag("--csv", options.csv, "short for --format csv");
}

ResultOutput::ResultOutput(const std::string& command, const ResultOptions& options, std::string_view fallback,
                           bool (*is_own)(std::string_view))
    : format_(chosen_format(command, options, fallback)) {
  const bool to_file = !options.file.empty() && options.file != "-";
  if (format_ == "terminal" && !options.file.empty())
    throw Refused(fmt::format("{}: --output {} does nothing with the format terminal, which is printed for people; "
                              "choose another with --format",
                              command, options.file));
  if (options.force && !to_file)
    throw Refused(fmt::format("{}: --force does nothing here, because no file is written; leave it out", command));
  if (to_file) file_.emplace(options.file, Replacing{.is_own = is_own ? is_own : is_never_own, .force = options.force});
}

void ResultOutput::write(std::string_view text, Console& console) {
  if (!file_) {
    console.data << text;
    return;
  }
  {
    std::optional<StopSignals> whole; // Ctrl-C ends the program at once elsewhere, and leaves no part of a file here
    if (file_->is_file()) whole.emplace();
    file_->write(file_->is_terminal() ? without_controls(std::string(text)) : text);
  }
  if (file_->is_file()) print(console.data, "{}\n", file_->path().string());
}

} // namespace heed
