#include "experiments/report/svg_picture.hpp"

#include "experiments/report/text_table.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace heed::svg {

const Palette light{"#fdfcf9", "#1d1f23",
                    "#5c6068", "#eceae4",
                    "#0067a8", "#bf4a00",
                    "#00735a", "#6d7078",
                    "#00735a", {"#1d1f23", "#0072b2", "#d55e00", "#009e73", "#b3588f", "#c98500", "#3a9bd5"}};
const Palette night{"#15171b", "#e6e3dc",
                    "#a9abb0", "#272a30",
                    "#62b5f0", "#ff9050",
                    "#3fc7a0", "#9da0a7",
                    "#3fc7a0", {"#e6e3dc", "#4ea8e6", "#ff8b45", "#2fc49a", "#dd94bf", "#e8ad35", "#93d0f7"}};

const Palette named{
    "var(--paper)",
    "var(--ink)",
    "var(--soft)",
    "var(--hair)",
    "var(--better)",
    "var(--worse)",
    "var(--same)",
    "var(--undecided)",
    "var(--same)",
    {"var(--arm-0)", "var(--arm-1)", "var(--arm-2)", "var(--arm-3)", "var(--arm-4)", "var(--arm-5)", "var(--arm-6)"}};

double width_of(const std::string& text) { return letter * static_cast<double>(display_width(text)); }

std::vector<std::string> lines_of(const std::string& name, double first, double room) {
  std::vector<std::string> words, lines{""};
  std::istringstream in(name);
  for (std::string word, value; in >> word;) {
    const bool joined = word == "=" && !words.empty() && in >> value;
    const std::string whole = joined ? words.back() + " = " + value : word;
    if (joined && width_of(whole) <= std::max(first, room)) words.back() = whole;
    else words.push_back(joined ? "= " + value : word);
  }
  for (const std::string& word : words) {
    const std::string longer = lines.back().empty() ? word : lines.back() + " " + word;
    const double most = lines.size() == 1 ? first : room;
    if (width_of(longer) > most && (!lines.back().empty() || most < room)) lines.push_back(word);
    else lines.back() = longer;
  }
  for (std::string& line : lines) line = cut_to(line, static_cast<std::size_t>(std::max(first, room) / letter));
  return lines;
}

std::string number_text(const std::string& text) { return replaced(text, {{'-', "\u2212"}}); }

Ticks ticks_with_room(const Scale& x, int most) {
  const Ticks ticks = ticks_between(x.low, x.high, most);
  double widest = 0;
  for (const std::string& label : ticks.labels) widest = std::max(widest, 1.15 * width_of(label));
  const bool fits = ticks.places.size() < 2 || x(ticks.places[1]) - x(ticks.places[0]) > widest + 10;
  return fits || most < 2 ? ticks : ticks_with_room(x, most - 1);
}

std::string label_of(const document::Axis& axis, int power) {
  return power == 0 ? axis.label : fmt::format("{}, times 1e{:+03d}", axis.label, power);
}

Mark mark_of(AnswerWord answer, const Palette& palette) {
  switch (answer) {
    case AnswerWord::better:
    case AnswerWord::differs: return {palette.better, Symbol::triangle};
    case AnswerWord::worse: return {palette.worse, Symbol::square};
    case AnswerWord::same:
    case AnswerWord::not_worse:
    case AnswerWord::equal: return {palette.same, Symbol::diamond};
    case AnswerWord::undecided:
    case AnswerWord::underpowered:
    case AnswerWord::none: break;
  }
  return {palette.open, Symbol::circle, true};
}

Look look_of(const document::Series& series, const Palette& palette) {
  static constexpr std::array<std::string_view, 4> dashes{"", "7 3", "2 3", "8 3 2 3"};
  if (series.look == 0) return {palette.lines[0], "", Symbol::circle};
  const std::size_t place = series.look - 1;
  return {palette.lines[1 + place % 6], dashes[place / 6 % dashes.size()], static_cast<Symbol>(series.look % 7)};
}

double Scale::operator()(double value) const {
  const auto on = [&](double x) { return logarithmic ? std::log(std::max(x, 1e-300)) : x; };
  return from + (to - from) * (on(value) - on(low)) / (on(high) - on(low));
}

std::string upright(double x, double from, double to) {
  return fmt::format("M{} {}V{}", svg_at(x), svg_at(from), svg_at(to));
}

std::string level(double y, double from, double to) {
  return fmt::format("M{} {}H{}", svg_at(from), svg_at(y), svg_at(to));
}

namespace {

/// The outline of a symbol, from its middle, of about the same area as the others.
std::string_view outline(Symbol symbol) {
  constexpr std::array<std::string_view, 7> outlines{
      "m-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z",
      "m-4-4h8v8h-8z",
      "m0-5.6l4.9 8.5h-9.8z",
      "m0-6l4.6 6l-4.6 6l-4.6-6z",
      "m-1.6-5h3.2v3.4h3.4v3.2h-3.4v3.4h-3.2v-3.4h-3.4v-3.2h3.4z",
      "m0-6l1.4 4.1h4.3l-3.5 2.6l1.3 4.2l-3.5-2.6l-3.5 2.6l1.3-4.2l-3.5-2.6h4.3z",
      "m-1.5-.9l-3.5-2.1l1.6-2.6l3.4 2.2l3.4-2.2l1.6 2.6l-3.5 2.1v5.9h-3z"};
  return outlines[static_cast<std::size_t>(symbol)];
}

} // namespace

void Picture::text(double x, double y, std::string_view anchor, const std::string& what, std::string_view colour,
                   std::string_view more) {
  add(R"(<text x="{}" y="{}" text-anchor="{}" fill="{}"{}{}>{}</text>)", svg_at(x), svg_at(y), anchor, colour,
      more.empty() ? "" : " ", more, svg_text(what));
}

void Picture::symbols(const std::vector<Place>& places, Symbol symbol, std::string_view colour, bool hollow) {
  std::string path;
  for (const auto& [x, y] : places) path += fmt::format("M{} {}{}", svg_at(x), svg_at(y), outline(symbol));
  add(R"(<path class="symbol" d="{}" fill="{}" stroke="{}" stroke-width="{}"/>)", path,
      hollow ? palette_.paper : colour, hollow ? colour : palette_.paper, hollow ? "1.6" : "1");
}

void Picture::stroke(const std::string& path, std::string_view colour, double width, std::string_view dash) {
  add(R"(<path d="{}" fill="none" stroke="{}" stroke-width="{}"{}/>)", path, colour, width,
      dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dash));
}

void Picture::axis_below(const Scale& x, const document::Axis& axis, const Ticks& ticks, double floor) {
  std::string path = level(floor, x.from, x.to);
  double free = -1e9; // what the last number leaves
  for (std::size_t i = 0; i < ticks.places.size(); ++i) {
    const double at = x(ticks.places[i]), half = width_of(ticks.labels[i]) / 2;
    path += upright(at, floor, floor + 5);
    if (at - half < free) continue;
    add(R"(<text class="tick" x="{}" y="{}" text-anchor="middle" fill="{}">{}</text>)", svg_at(at), svg_at(floor + 19),
        palette_.soft, number_text(ticks.labels[i]));
    free = at + half + 8;
  }
  stroke(path, palette_.soft, 1);
  text((x.from + x.to) / 2, floor + 38, "middle", label_of(axis, ticks.power), palette_.soft);
}

void Picture::hit(double x, double y, double width, double height) {
  if (!medium_.is_file())
    add(R"(<rect class="hit" x="{}" y="{}" width="{}" height="{}"/>)", svg_at(x), svg_at(y), svg_at(width),
        svg_at(height));
}

std::string Picture::whole(double width, double height, const document::Figure& figure) const {
  width = std::ceil(width);
  height = std::ceil(height);
  const std::string group = figure.group.empty() ? "" : figure.group + ": ";
  if (medium_.is_file())
    return svg_begin(width, height, group + figure.caption, palette_.ink, palette_.paper) + content_ + "</svg>\n";
  return fmt::format("<svg class=\"picture {0}\" data-figure=\"{1}\" width=\"{2}\" height=\"{3}\" "
                     "viewBox=\"0 0 {2} {3}\" role=\"group\" aria-label=\"{4}\">\n{5}</svg>\n",
                     medium_.name, medium_.place, width, height, svg_text(group + figure.title), content_);
}

} // namespace heed::svg

namespace heed {

namespace {

// What all pictures begin with, before and after their size and description.
constexpr std::string_view picture_begin = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"";
constexpr std::string_view picture_style = "\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#";

} // namespace

std::string svg_begin(double width, double height, const std::string& description, std::string_view ink,
                      std::string_view paper) {
  return fmt::format("{3}{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"{2}{4}{5}\">\n"
                     "<rect width=\"{0}\" height=\"{1}\" fill=\"{6}\"/>\n",
                     width, height, svg_text(description), picture_begin, picture_style, ink.substr(1), paper);
}

bool is_picture_of_heed(std::string_view beginning) {
  return beginning.starts_with(picture_begin) && beginning.find(picture_style) != std::string_view::npos;
}

std::string svg_text(std::string_view text) {
  return replaced(text, {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}});
}

// The small term keeps rounding of exact halves the same on all CPUs.
double svg_at(double x) { return std::round(10 * x + 1e-3) / 10; }

} // namespace heed
