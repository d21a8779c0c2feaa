// Task `group`: word problems. A sequence has elements of a finite group. The target at each place is the product of
// all elements up to there.
#include "autograd/error.hpp"
#include "experiments/system/text.hpp"
#include "experiments/tasks/generated_task.hpp"
#include "experiments/tasks/task_info.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace heed {

extern const TaskInfo task_group;

namespace {

struct GroupOptions {
  std::int64_t length = 32;
  std::int64_t min_length = 0;
  std::int64_t test_length = 0;
  std::string group = "S3";
  std::string generators = "all";
};

const OptionTable<GroupOptions>& group_option_table() {
  using O = GroupOptions;
  static const auto table = option_table<O>(
      option("length", &O::length, "the most elements of a sequence").between(1, 4096).unit("elements"),
      option("min_length", &O::min_length, "the fewest elements of a sequence")
          .between(0, 4096)
          .unit("elements")
          .default_means("0: all have the length"),
      option("test_length", &O::test_length,
             "the most elements of a sequence in the test split; its shortest has one more than training's longest")
          .between(0, 8192)
          .unit("elements")
          .default_means("0: as in training"),
      option("group", &O::group,
             "Zn, whole numbers modulo n; S3, S4 or S5, the permutations of 3, 4 or 5 things; A4 or A5, the even ones; "
             "or a product, such as Z2xZ30"),
      option("generators", &O::generators,
             "which elements a sequence has: all, or of S3, S4 and S5 only those that exchange two things (swaps), or "
             "these and those that move three things in a circle (swaps_and_3_cycles)")
          .one_of({"all", "swaps", "swaps_and_3_cycles"}));
  return table;
}

/// A finite group. Its elements are numbered; 0 is the neutral one.
struct Group {
  std::vector<std::string> words;     ///< of each element
  std::vector<std::int32_t> products; ///< [size, size]: the product of row and column, where the row's acts first
  std::vector<std::int32_t> drawn;    ///< the elements that sequences have

  std::int64_t size() const { return std::ssize(words); }
  std::int32_t product(std::int32_t first, std::int32_t second) const {
    return products[static_cast<std::size_t>(first) * words.size() + static_cast<std::size_t>(second)];
  }
};

constexpr std::int64_t most_elements = 1024;

using Permutation = std::vector<std::int32_t>;

bool is_even(const Permutation& p) {
  int inversions = 0;
  for (std::size_t i = 0; i < p.size(); ++i)
    for (std::size_t j = i + 1; j < p.size(); ++j) inversions += p[i] > p[j] ? 1 : 0;
  return inversions % 2 == 0;
}

std::int64_t moved_by(const Permutation& p) {
  std::int64_t moved = 0;
  for (std::size_t i = 0; i < p.size(); ++i) moved += p[i] != static_cast<std::int32_t>(i) ? 1 : 0;
  return moved;
}

/// The permutations of `n` things in lexicographic order of their images. `moved`: only those that move so many things
/// are drawn; empty: all.
Group permutations(int n, bool only_even, const std::vector<std::int64_t>& moved) {
  Permutation p(static_cast<std::size_t>(n));
  std::iota(p.begin(), p.end(), 0);
  std::vector<Permutation> all;
  do {
    if (!only_even || is_even(p)) all.push_back(p);
  } while (std::ranges::next_permutation(p).found);
  Group group;
  for (const Permutation& first : all) {
    if (moved.empty() || std::ranges::count(moved, moved_by(first)) > 0)
      group.drawn.push_back(static_cast<std::int32_t>(group.words.size()));
    group.words.push_back(fmt::format("{}", fmt::join(first, "")));
    for (const Permutation& second : all) {
      Permutation both;
      for (const std::int32_t image : first) both.push_back(second[static_cast<std::size_t>(image)]);
      group.products.push_back(static_cast<std::int32_t>(std::ranges::lower_bound(all, both) - all.begin()));
    }
  }
  return group;
}

Group numbers_modulo(std::int64_t n) {
  Group group;
  group.words = number_words(n);
  for (std::int64_t a = 0; a < n; ++a) {
    group.drawn.push_back(static_cast<std::int32_t>(a));
    for (std::int64_t b = 0; b < n; ++b) group.products.push_back(static_cast<std::int32_t>((a + b) % n));
  }
  return group;
}

/// Pairs of elements; the second counts fastest.
Group product_of(const Group& a, const Group& b) {
  Group group;
  const auto pair = [&](std::int32_t first, std::int32_t second) {
    return static_cast<std::int32_t>(first * b.size() + second);
  };
  for (std::int32_t i = 0; i < a.size(); ++i)
    for (std::int32_t j = 0; j < b.size(); ++j) {
      group.drawn.push_back(pair(i, j));
      group.words.push_back(a.words[static_cast<std::size_t>(i)] + "," + b.words[static_cast<std::size_t>(j)]);
      for (std::int32_t k = 0; k < a.size(); ++k)
        for (std::int32_t l = 0; l < b.size(); ++l) group.products.push_back(pair(a.product(i, k), b.product(j, l)));
    }
  return group;
}

Refused unknown(const std::string& name) {
  return Refused(fmt::format("[task.group] group = \"{}\" is no group that is known: take Zn with n from 2 to {}, S3, "
                             "S4, S5, A4, A5, or a product of these with at most {} elements, such as Z2xZ30",
                             name, most_elements, most_elements));
}

Group simple_group(const std::string& name, std::string_view part, const std::vector<std::int64_t>& moved) {
  const std::optional<std::int64_t> n = part.size() > 1 ? number_of<std::int64_t>(part.substr(1)) : std::nullopt;
  if (n && part[0] == 'Z' && *n >= 2 && *n <= most_elements) return numbers_modulo(*n);
  if (n && part[0] == 'S' && *n >= 3 && *n <= 5) return permutations(static_cast<int>(*n), false, moved);
  if (n && part[0] == 'A' && *n >= 4 && *n <= 5) return permutations(static_cast<int>(*n), true, {});
  throw unknown(name);
}

Group group_of(const GroupOptions& options) {
  std::vector<std::int64_t> moved;
  if (options.generators != "all") moved = {2};
  if (options.generators == "swaps_and_3_cycles") moved.push_back(3);
  if (!moved.empty() && (options.group.size() != 2 || options.group[0] != 'S'))
    throw Refused(
        fmt::format("[task.group] generators = \"{}\" are permutations of S3, S4 and S5, and group is \"{}\": "
                    "choose such a group, or generators = \"all\"",
                    options.generators, options.group));
  std::optional<Group> all;
  for (const std::string& name : parts_of(options.group, 'x')) {
    Group part = simple_group(options.group, name, moved);
    if (all && all->size() * part.size() > most_elements) throw unknown(options.group);
    all = all ? product_of(*all, part) : std::move(part);
  }
  return std::move(*all);
}

/// Guessing the most probable product at each place, and never looking at the elements. All lengths are equally likely.
Task::Chance chance_of_products(const Group& group, const Lengths& lengths) {
  const auto size = static_cast<std::size_t>(group.size());
  const double each = 1 / static_cast<double>(group.drawn.size());
  std::vector<double> here(size);
  here[0] = 1;
  double right = 0, nats = 0, places = 0, whole = 0;
  for (std::int64_t t = 1; t <= lengths.longest; ++t) {
    std::vector<double> next(size);
    for (std::size_t a = 0; a < size; ++a)
      for (const std::int32_t b : group.drawn)
        next[static_cast<std::size_t>(group.product(static_cast<std::int32_t>(a), b))] += here[a] * each;
    here = std::move(next);
    // So many of the lengths have this place.
    const auto having = static_cast<double>(lengths.longest - std::max(t, lengths.shortest) + 1);
    right += having * std::ranges::max(here);
    for (const double p : here)
      if (p > 0) nats -= having * p * std::log(p);
    places += having;
    if (t >= lengths.shortest) whole += std::pow(each, static_cast<double>(t));
  }
  const bool varied = lengths.shortest < lengths.longest;
  return {right / places, "the most probable product at each place",
          Task::Level{whole / static_cast<double>(lengths.longest - lengths.shortest + 1),
                      varied ? "the mean of (1 / elements)^length" : fmt::format("(1 / elements)^{}", lengths.longest)},
          Task::Level{nats / places, "the frequencies of products at each place"}};
}

Generator word_problem_of(const GroupOptions& options) {
  const Lengths lengths = input_lengths("group", options.length, options.min_length);
  Generator problem;
  problem.name = "group";
  problem.options = group_option_table().write(options);
  const auto group = std::make_shared<const Group>(group_of(options));
  problem.words = group->words;
  problem.longest_input = std::max(options.length, options.test_length);
  problem.places = true;
  problem.exact = true;
  problem.enlarge = "task.group.length";
  draw_by_lengths(
      problem, lengths, test_lengths("group", options.length, options.test_length),
      [=](RandomSource& random, const Lengths& which, Example& example) {
        const auto draw = [&](std::int64_t n) { return random.below(static_cast<std::uint64_t>(n)); };
        const std::int64_t length = which.shortest +
                                    static_cast<std::int64_t>(draw(which.longest - which.shortest + 1));
        example.input.clear();
        example.output.clear();
        std::int32_t product = 0;
        for (std::int64_t t = 0; t < length; ++t) {
          const std::int32_t element = group->drawn[draw(std::ssize(group->drawn))];
          product = group->product(product, element);
          example.input.push_back(element);
          example.output.push_back(product);
        }
      },
      [=](const Lengths& which) { return count_inputs(which, std::ssize(group->drawn)); });
  problem.chance = [=](bool) { return chance_of_products(*group, lengths); };
  make_other_lengths(problem, options, word_problem_of);
  return problem;
}

} // namespace

const TaskInfo task_group = {
    {.name = "group",
     .summary = "word problems: elements of a finite group; the target at each place is the product of all elements up "
                "to there, with the first acting first. Permutations are written as their images, 102: 0 and 1 are "
                "exchanged",
     .paper = "Barrington 1989 (S5 and A5 are complete for NC1); Merrill, Petty and Sabharwal 2024, arXiv 2404.08819; "
              "Grazzi et al. 2024, arXiv 2411.12537",
     .cost = "sequences of length tokens, each with a target; earlier targets are no inputs",
     .options = group_option_table().options(),
     .uses = {"train.evaluate_lengths"}},
    make_generated<group_option_table, word_problem_of>};

} // namespace heed
