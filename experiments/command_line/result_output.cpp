#include "experiments/command_line/result_output.hpp"

#include "autograd/error.hpp"
#include "experiments/actions/build.hpp"
#include "experiments/config/values.hpp"
#include "experiments/report/indented_json.hpp"
#include "experiments/runs/run_records.hpp"
#include "experiments/system/stop_signals.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace heed {

namespace {

bool is_never_own(std::string_view) { return false; }

/// Texts of JSON are UTF-8, but names of files and what strangers' files say need not be. Other bytes are escaped as
/// where they are printed.
void make_utf8(boost::json::value& value) {
  if (auto* text = value.if_string(); text && each_utf8(*text, [](char32_t) {}) < text->size())
    *text = without_controls(std::string(*text));
  else if (auto* list = value.if_array())
    for (boost::json::value& item : *list) make_utf8(item);
  else if (auto* object = value.if_object())
    for (auto& member : *object) make_utf8(member.value());
}

} // namespace

std::string chosen_format(const std::string& command, const ResultOptions& options, std::string_view fallback) {
  const char* const flag = options.json ? "json" : options.csv ? "csv" : nullptr;
  if (options.json && options.csv)
    throw Refused(fmt::format("{}: --json and --csv are two formats of one result; leave out one", command));
  if (flag && !options.format.empty() && options.format != flag)
    throw Refused(fmt::format("{0}: --{1} is short for --format {1}, and --format {2} is given, too; leave out one",
                              command, flag, options.format));
  return flag ? flag : options.format.empty() ? std::string(fallback) : options.format;
}

void add_result_options(Command& command, ResultOptions& options, const std::vector<std::string>& formats) {
  const auto has = [&](const char* format) { return std::ranges::count(formats, format) > 0; };
  command.add("--format FORMAT", options.format, fmt::format("{} [{}]", fmt::join(formats, ", "), formats.front()))
      .one_of(formats);
  command.add("--output FILE", options.file, "write the result to this file; -: to standard output");
  command.add_flag("--force", options.force, "with --output: replace any other file, too");
  if (has("json")) command.add_flag("--json", options.json, "short for --format json");
  if (has("csv")) command.add_flag("--csv", options.csv, "short for --format csv");
}

void add_json_option(Command& command, ResultOptions& options) {
  command.add("--format FORMAT", options.format, "terminal, json [terminal]").one_of({"terminal", "json"});
  command.add_flag("--json", options.json, "short for --format json");
}

ResultOutput::ResultOutput(const std::string& command, const ResultOptions& options, std::string_view fallback,
                           bool (*is_own)(std::string_view))
    : command_(command), format_(chosen_format(command, options, fallback)) {
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

void ResultOutput::write_json(boost::json::value result, Console& console, int status) {
  make_utf8(result);
  write(indented(file_ ? result : envelope(command_, status, std::move(result), console.notes)), console);
  console.has_answered = true;
}

boost::json::object envelope(const std::string& command, int status, boost::json::value result,
                             std::span<const Diagnostic> diagnostics) {
  boost::json::array all;
  for (const Diagnostic& diagnostic : diagnostics) all.push_back(described::value_of(diagnostic));
  boost::json::value out = boost::json::object{{"heed", this_build().version},
                                               {"command", command},
                                               {"status", status},
                                               {"result", std::move(result)},
                                               {"diagnostics", std::move(all)}};
  make_utf8(out);
  return std::move(out.as_object());
}

std::string json_line(boost::json::value value) {
  make_utf8(value);
  return boost::json::serialize(value) + "\n";
}

bool asks_for_json(std::span<const std::string> arguments) {
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i)
    if (arguments[i] == "--json" || arguments[i] == "--json=true" || arguments[i] == "--format=json" ||
        (arguments[i] == "--format" && i + 1 < arguments.size() && arguments[i + 1] == "json"))
      return true;
  return false;
}

} // namespace heed
