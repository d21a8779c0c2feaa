#include "experiments/command_line/attention_heatmap.hpp"

#include "experiments/report/numbers.hpp"
#include "experiments/report/text_table.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <span>

namespace heed {

namespace {

constexpr std::size_t longest_drawn = 24, widest_label = 12, widest_line = 100;
constexpr std::size_t narrowest_key = 2, widest_key = 5;

struct Shade {
  double below;
  const char* sign;
};

constexpr Shade shades[] = {{0.005, " "}, {0.05, "·"}, {0.2, "░"},
                            {0.45, "▒"},  {0.75, "▓"}, {std::numeric_limits<double>::infinity(), "█"}};

const char* shade_of(double weight) {
  if (!std::isfinite(weight)) return "–";
  return std::ranges::find_if(shades, [&](const Shade& shade) { return weight < shade.below; })->sign;
}

/// The text on one line: a symbol replaces line ends.
std::string one_line(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\n' ? "⏎" : c == '\t' ? "⇥" : std::string(1, c);
  return out;
}

/// A token as visible text, also if it is blank or empty.
std::string visible(const std::string& token) {
  std::string out;
  for (const char c : one_line(token)) out += c == ' ' ? "␣" : std::string(1, c);
  return out.empty() ? "∅" : out;
}

/// `text` cut or padded to `width` columns.
std::string padded(const std::string& text, std::size_t width, bool right = false) {
  const std::string cut = cut_to(text, width);
  const std::string blanks(width - std::min(width, display_width(cut)), ' ');
  return right ? blanks + cut : cut + blanks;
}

bool drawn(const AttentionMap& map) { return map.queries.size() <= longest_drawn && map.keys.size() <= longest_drawn; }

std::size_t longest(const std::vector<std::string>& tokens) {
  std::size_t width = 0;
  for (const std::string& token : tokens) width = std::max(width, display_width(visible(token)));
  return width;
}

/// The columns for each key: its token and a space, limited by the space for all keys.
std::size_t key_width(const AttentionMap& map, std::size_t label) {
  const std::size_t wanted = std::clamp(longest(map.keys) + 1, narrowest_key, widest_key);
  return std::clamp((widest_line - label - 1) / map.keys.size(), narrowest_key, wanted);
}

/// The heads of one attention layer, side by side as far as they fit.
std::string draw(std::span<const AttentionMap> maps) {
  std::string out = fmt::format("\n  {}", maps.front().module);
  const std::size_t label = std::min(longest(maps.front().queries), widest_label);
  const std::size_t key_columns = key_width(maps.front(), label);
  const std::size_t width = label + 1 + key_columns * maps.front().keys.size() + 4;
  const std::size_t at_once = std::max<std::size_t>(1, widest_line / width);
  for (std::size_t first = 0; first < maps.size(); first += at_once) {
    const auto some = maps.subspan(first, std::min(at_once, maps.size() - first));
    std::string titles, keys;
    for (const AttentionMap& map : some) {
      titles += padded(std::string(label + 1, ' ') + fmt::format("head {}", map.head), width);
      keys += std::string(label + 1, ' ');
      for (const std::string& key : map.keys) keys += padded(cut_to(visible(key), key_columns - 1), key_columns);
      keys += "    ";
    }
    titles.erase(titles.find_last_not_of(' ') + 1);
    keys.erase(keys.find_last_not_of(' ') + 1);
    out += fmt::format("\n  {}\n  {}\n", titles, keys);
    for (std::size_t q = 0; q < maps.front().queries.size(); ++q) {
      out += "  ";
      for (const AttentionMap& map : some) {
        out += padded(visible(map.queries[q]), label, true) + " ";
        for (std::size_t k = 0; k < map.keys.size(); ++k) {
          const char* shade = shade_of(map.weights[q * map.keys.size() + k]);
          for (std::size_t column = 0; column < key_columns; ++column) out += shade;
        }
        out += "    ";
      }
      out.erase(out.find_last_not_of(' ') + 1);
      out += "\n";
    }
  }
  return out;
}

/// The key with the largest weight over all queries, and its proportion.
std::string most_of(const AttentionMap& map) {
  std::vector<double> sums(map.keys.size());
  double all = 0;
  for (std::size_t i = 0; i < map.weights.size(); ++i) {
    sums[i % sums.size()] += map.weights[i];
    all += map.weights[i];
  }
  const auto most = static_cast<std::size_t>(std::ranges::max_element(sums) - sums.begin());
  if (!(all > 0)) return "-";
  return fmt::format("{} at {}, {:.0f} %", cut_to(visible(map.keys[most]), widest_label), most, 100 * sums[most] / all);
}

} // namespace

std::string attention_text(const AttentionExample& example, const Style& style) {
  std::string out = fmt::format("\n{}\n", style.bold(one_line(example.input)));
  if (example.output)
    out += fmt::format("  {} {}\n", example.forced ? "the given output" : "the output", one_line(*example.output));
  TextTable table{{"attention", "head", "queries x keys", "entropy", "distance", "most on"},
                  {Align::left, Align::right, Align::right, Align::right, Align::right, Align::left},
                  {}};
  bool all_drawn = true;
  for (const AttentionMap& map : example.heads) {
    all_drawn = all_drawn && drawn(map);
    table.rows.push_back({map.module, fmt::format("{}", map.head),
                          fmt::format("{} x {}", map.queries.size(), map.keys.size()), fixed(map.entropy, 3),
                          fixed(map.distance, 2), most_of(map)});
  }
  out += "\n" + to_text(table);
  for (auto first = example.heads.begin(); first != example.heads.end();) {
    const auto end = std::find_if(first, example.heads.end(),
                                  [&](const AttentionMap& m) { return m.module != first->module; });
    if (drawn(*first)) out += draw({first, end});
    first = end;
  }
  if (all_drawn)
    out += "\n  queries from top to bottom, keys from left to right; weights above 0.005 ·, 0.05 ░, 0.2 ▒, 0.45 ▓, "
           "0.75 █\n";
  const auto lost = [](const AttentionMap& map) {
    return !std::ranges::all_of(map.weights, [](double weight) { return std::isfinite(weight); });
  };
  if (std::ranges::any_of(example.heads, lost)) out += "  –: the weight is not a number, as the score is not\n";
  return out;
}

} // namespace heed
