// heed show: a configuration with every option's value, or what it changes.
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/preparation.hpp"
#include "experiments/config/difference.hpp"
#include "experiments/report/text_table.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

namespace heed {

namespace {

struct ShowArguments {
  std::string config, diff_from;
  std::vector<std::string> overrides;
};

void print_difference(const Config& from, const Config& to, const std::string& here, const std::string& there,
                      Console& console) {
  TextTable table{{"option", there, here}, {Align::left, Align::left, Align::left}, {}};
  for (const Difference& d : difference(from, to))
    table.rows.push_back({d.key, d.a.empty() ? "-" : d.a, d.b.empty() ? "-" : d.b});
  if (table.rows.empty()) console.out << "  no difference\n";
  else console.out << to_text(table);
}

int show(const ShowArguments& arguments, Console& console) {
  if (arguments.diff_from == "reference") {
    Tasks tasks;
    const Preparation prepared = prepare(arguments.config, arguments.overrides, tasks);
    if (prepared.plan.arms.size() == 1) console.out << "only the reference: the file has no [sweep] that changes it\n";
    for (std::size_t i = 1; i < prepared.arms.size(); ++i) {
      fmt::print(console.out, "{}{}\n", i > 1 ? "\n" : "", console.out_style.bold(prepared.plan.arms[i].label));
      print_difference(prepared.arms.front().config, prepared.arms[i].config, "arm", "reference", console);
    }
    return 0;
  }
  const Settings settings = load_settings(arguments.config, arguments.overrides);
  const Config config = settings.resolve();
  if (arguments.diff_from == "defaults") {
    print_difference(default_config(), config, "here", "default", console);
    return 0;
  }
  for (const std::string& sentence : settings.dropped()) fmt::print(console.out, "# dropped: {}\n", sentence);
  console.out << to_toml(config);
  return 0;
}

} // namespace

void add_show(Commands& commands) {
  add_command<ShowArguments>(
      commands, "show", "a config resolved: every option with its value, as TOML that resolves to the same",
      "Examples:\n"
      "  heed show configs/quickstart.toml\n"
      "  heed show configs/quickstart.toml --diff-from defaults\n"
      "  heed show configs/quickstart.toml --diff-from reference     what each arm of the sweep changes\n"
      "Settings of variants that a later layer did not choose are dropped; comments at the top say which." +
          std::string(exit_statuses),
      [](CLI::App& command, ShowArguments& arguments) {
        add_config(command, arguments.config, arguments.overrides);
        command.add_option("--diff-from", arguments.diff_from, "only what differs from: defaults, reference")
            ->check(CLI::IsMember({"defaults", "reference"}).description(""))->type_name("WHAT");
      },
      show);
}

} // namespace heed
