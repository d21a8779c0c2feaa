#include "experiments/report/picture_files.hpp"

#include "autograd/error.hpp"
#include "experiments/system/child.hpp"
#include "experiments/system/text.hpp"

#include <fmt/format.h>
#include <utility>
#include <vector>

namespace heed {

namespace {

constexpr const char* converter = "rsvg-convert";

} // namespace

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

} // namespace heed
