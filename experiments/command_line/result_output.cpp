#include "experiments/command_line/result_output.hpp"

#include "autograd/error.hpp"
#include "experiments/config/values.hpp"
#include "experiments/system/child.hpp"
#include "experiments/system/stop_signals.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <boost/describe/class.hpp>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value_from.hpp>
#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace heed {

// The fields that boost::json::value_from writes, in this order.
BOOST_DESCRIBE_STRUCT(HeadInspection, (),
                      (attention, head, entropy, distance, importance, first_key, score_variance, half_life, state_norm,
                       state_rank))
BOOST_DESCRIBE_STRUCT(ModuleInspection, (), (module, activation, gradient, weight))
BOOST_DESCRIBE_STRUCT(LayerInspection, (), (layer, rank_residual, gradient, weight))

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

bool is_plain(const boost::json::value& value) { return !value.is_object() && !value.is_array(); }

void write(std::string& out, const boost::json::value& value, std::size_t depth) {
  const std::string pad(2 * (depth + 1), ' '), end(2 * depth, ' ');
  if (const auto* object = value.if_object(); object && !object->empty()) {
    out += "{\n";
    bool first = true;
    for (const auto& [key, member] : *object) {
      out += (first ? "" : ",\n") + pad + boost::json::serialize(boost::json::string(key)) + ": ";
      write(out, member, depth + 1);
      first = false;
    }
    out += "\n" + end + "}";
  } else if (const auto* array = value.if_array(); array && !array->empty()) {
    const bool one_line = std::all_of(array->begin(), array->end(), is_plain);
    out += one_line ? "[" : "[\n";
    for (std::size_t i = 0; i < array->size(); ++i) {
      out += i == 0 ? "" : one_line ? ", " : ",\n";
      if (!one_line) out += pad;
      write(out, (*array)[i], depth + 1);
    }
    out += one_line ? "]" : "\n" + end + "]";
  } else if (const double* number = value.if_double()) {
    // Boost would write 1E-1; this writes the shortest text that is read as the same number.
    out += fmt::format("{}", *number);
  } else {
    out += boost::json::serialize(value);
  }
}

constexpr const char* converter = "rsvg-convert";

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

std::string picture_format(const std::filesystem::path& file) {
  const std::string ending = file.extension().string();
  if (ending.empty() || ending == ".svg") return "svg";
  if (ending != ".pdf" && ending != ".png")
    throw Refused(fmt::format("{}: pictures are written as .svg, .pdf or .png, by the ending of the name",
                              file.string()));
  if (!has_program(converter))
    throw Refused(
        fmt::format("{}: {} makes {} from SVG, and it is not installed; install Debian's librsvg2-bin, or name "
                    "a file that ends in .svg",
                    file.string(), converter, ending));
  return ending.substr(1);
}

std::string picture_in(const std::string& format, const std::string& svg) {
  if (format == "svg") return svg;
  std::vector<std::string> words{converter, "--format", format};
  if (format == "png") words.insert(words.end(), {"--zoom", "2"}); // sharp on fine screens
  ChildResult result = run_child(words, svg);
  if (!result.well())
    throw Failed(fmt::format("{} could not make {} from the picture: {}", converter, format, cut(result.err)));
  return std::move(result.out);
}

std::string indented(const boost::json::value& value) {
  std::string out;
  write(out, value, 0);
  return out + "\n";
}

bool is_localised(const HeadInspection& head) { return head.distance && *head.distance < localised_below; }

boost::json::object inspection_json(const Inspection& found) {
  boost::json::array heads;
  for (const HeadInspection& head : found.heads) {
    boost::json::object fields = boost::json::value_from(head).as_object();
    fields["localised"] = is_localised(head);
    heads.push_back(std::move(fields));
  }
  return {{"heads", std::move(heads)},
          {"layers", boost::json::value_from(found.layers)},
          {"modules", boost::json::value_from(found.modules)}};
}

} // namespace heed
