// Descriptions of the options in [sweep], [[sweep.block]], [sweep.tune] and [report.label], for people, programs and
// editors. The code that reads them is in sweep_file.cpp and config_file.cpp. They are not options of a run, and no arm
// can change them.

#include "autograd/error.hpp"
#include "experiments/config/sweep_blocks.hpp"
#include "experiments/config/values.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace heed {
namespace {

constexpr std::string_view labels_table = "report.label";
constexpr std::string_view some_grid =
    "grid = { \"attention.score\" = [\"dot\", \"additive\"], \"model.heads\" = [1, 2] }";
constexpr std::string_view some_draws = "random = { \"train.learning_rate\" = { log_uniform = [1e-4, 1e-2] } }\n"
                                        "count = 10";
constexpr std::string_view conditions_take = "a list of tables of options and values; an entry matches an arm if all "
                                             "of its options have these values in the arm";

/// A description of how the changes of a kind are written.
std::string takes(SweepForm form) {
  switch (form) {
    case SweepForm::crossed: return "a table: options by full name, each with a list of values";
    case SweepForm::paired: return "a table: options by full name, each with a list of values, all of one length";
    case SweepForm::sets: return "a table: names, each with a table of options and values";
    case SweepForm::arms: return "a list of tables of options and values; or names, each with such a table";
    case SweepForm::draws: break;
  }
  return fmt::format("a table: options by full name, each with one distribution ({})",
                     joined(distributions(), "; ",
                            [](const Distribution& d) { return fmt::format("{} = {}", d.name, d.takes); }));
}

std::string example(const SweepKind& kind) {
  const std::string stated = fmt::format("kind = \"{}\"\n", kind.name);
  switch (kind.form) {
    case SweepForm::crossed: return std::string(some_grid);
    case SweepForm::paired: return "zip = { \"model.width\" = [32, 64], \"model.heads\" = [1, 2] }";
    case SweepForm::sets:
      return fmt::format("{}{}.residual = {{ \"block.residual\" = \"none\" }}", stated, kind.holder);
    case SweepForm::arms:
      return "arms = [{ \"attention.score\" = \"dot\" }, { \"model.heads\" = 1, \"model.width\" = 32 }]";
    case SweepForm::draws: break;
  }
  return std::string(some_draws);
}

/// The options that contain changes; kinds may share one.
std::vector<SweepOption> holders() {
  std::vector<SweepOption> out;
  for (const SweepKind& kind : sweep_kinds()) {
    const std::string meaning = fmt::format("Of kind {}: {}.", kind.name, kind.meaning);
    const auto known = std::ranges::find(out, kind.holder, &SweepOption::name);
    if (known == out.end()) out.push_back({kind.holder, meaning, takes(kind.form), example(kind)});
    else known->meaning += " " + meaning;
  }
  return out;
}

SweepTable block_table() {
  SweepTable out{"sweep.block", "[[sweep.block]]", "Arms. A sweep has the arms of all its blocks", {}};
  const std::vector<SweepOption> held = holders();
  out.options.push_back({"kind",
                         fmt::format("How the block makes arms. Without it, the option that the block has decides: {}.",
                                     joined(held, ", ", &SweepOption::name)),
                         fmt::format("one of {}", list_in_words(names_of(sweep_kinds()))),
                         example(sweep_kinds().front())});
  out.options.insert(out.options.end(), held.begin(), held.end());
  out.options.push_back({"count", "Of kind random: the number of arms to draw.", "an integer from 1 to 10000",
                         std::string(some_draws)});
  out.options.push_back({"seed", "Of kind random: the seed of the draws. Without it, 0.", "an integer from 0 on",
                         fmt::format("{}\nseed = 1", some_draws)});
  out.options.push_back({"exclude", "Drops each arm that matches at least one entry.", std::string(conditions_take),
                         fmt::format("{}\nexclude = [{{ \"attention.score\" = \"additive\", \"model.heads\" = 2 }}]",
                                     some_grid)});
  out.options.push_back({"require", "Keeps only the arms that match at least one entry.", std::string(conditions_take),
                         fmt::format("{}\nrequire = [{{ \"model.heads\" = 1 }}]", some_grid)});
  return out;
}

std::vector<SweepTable> make_tables() {
  return {
      {"sweep",
       "[sweep]",
       "What to compare with the file's own configuration",
       {{"seeds", "Seeds of the replicates: every arm runs once with each seed. Without it, only the file's seed.",
         "a list of integers from 0 on, or how many", "seeds = [0, 1, 2, 3, 4, 5]"},
        {"looks",
         "Numbers of seeds at which you look at the answers; the last is the number of all seeds. All looks together "
         "have an error rate of 5 %. Without it, one look at all seeds.",
         "a rising list of integers of 2 or more; the last is the number of seeds", "seeds = 10\nlooks = [6, 10]"},
        {"match",
         "Gives every arm as many parameters or FLOPs as the reference, by the width of its feed-forward sublayers, or "
         "a state of the same size while it decodes the longest sequence, by model.width.",
         "one of none, parameters, flops, state; without it, none", "match = \"parameters\""},
        {"reference",
         "The reference's name in reports. Without it: \"reference\", followed by its values of the options that arms "
         "change if these are few.",
         "a text", "reference = \"no positions\""},
        {"within",
         "Options by full name. Arms with the same values of these options are a group, and each group is compared "
         "with its own reference.",
         "the name of an option, or a list of names", "within = \"task.copy.length\""},
        {"vary",
         "Sources of chance. Further runs of the reference measure how much each contributes to the variance: one "
         "source varies, and the others are fixed.",
         "a list of init, order, dropout, split", "vary = [\"init\", \"order\"]"},
        {"vary_values", "Values of each source of vary, in each fixing of the others. Without it, 6.",
         "an integer from 2 to 1000", "vary = [\"init\"]\nvary_values = 8"},
        {"vary_fixings", "Fixings of the other sources in which each source varies. Without it, 3.",
         "an integer from 1 to 1000", "vary = [\"init\"]\nvary_fixings = 5"}}},
      block_table(),
      {"sweep.tune",
       "[sweep.tune]",
       "Tuning: each arm tries these values, and its replicates then run with its best",
       {{"grid", "Values to try. Every arm tries every combination.",
         "a table: options by full name, each with a list of values",
         "grid = { \"train.learning_rate\" = [1e-3, 3e-3] }\nseeds = [100]"},
        {"seeds", "Seeds of the trials. They must differ from all of sweep.seeds.", "a list of integers from 0 on",
         "grid = { \"train.learning_rate\" = [1e-3, 3e-3] }\nseeds = [100, 101]"}}},
      {std::string(labels_table),
       "[report.label]",
       "What reports call a metric or an arm, as a paper names it",
       {{"NAME",
         "A metric of the report, an arm (by its name within its group), or \"reference\". Runs and their IDs do not "
         "depend on it.",
         "a text", "val_loss = \"validation loss\"\nreference = \"baseline\""}}}};
}

} // namespace

const std::vector<SweepTable>& sweep_tables() {
  static const std::vector<SweepTable> all = make_tables();
  return all;
}

bool names_sweep(std::string_view name) {
  const auto within = [&](std::string_view table) {
    return name == table || (name.starts_with(table) && name.substr(table.size()).starts_with('.'));
  };
  return within("sweep") || within(labels_table);
}

std::vector<SweepTable> sweep_tables(std::string_view filter) {
  std::vector<SweepTable> out;
  std::vector<std::string> names;
  for (const SweepTable& table : sweep_tables()) {
    names.push_back(table.table);
    SweepTable shown{table.table, table.heading, table.title, {}};
    const bool whole = filter.empty() || table.table == filter || table.table.starts_with(fmt::format("{}.", filter));
    for (const SweepOption& option : table.options) {
      names.push_back(fmt::format("{}.{}", table.table, option.name));
      if (whole || names.back() == filter) shown.options.push_back(option);
    }
    if (!shown.options.empty()) out.push_back(std::move(shown));
  }
  if (out.empty()) {
    const std::string near = did_you_mean(filter, names);
    throw Refused(fmt::format("there is no option or table '{}'{}", filter,
                              near.empty() ? "; there are " + list_in_words(names) : near));
  }
  return out;
}

} // namespace heed
