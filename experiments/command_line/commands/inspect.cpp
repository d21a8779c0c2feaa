// heed inspect: shows statistics of the heads, layers and modules of a run's model, or of a configuration's untrained
// model.
#include "experiments/actions/inspection_json.hpp"
#include "experiments/actions/results.hpp"
#include "experiments/actions/trained_run.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/messages.hpp"
#include "experiments/command_line/result_output.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/text_table.hpp"
#include "experiments/sweep/preparation.hpp"

#include <boost/json/object.hpp>
#include <fmt/format.h>

namespace heed {

namespace {

struct InspectArguments {
  std::string run, out = "runs", split = "validation";
  std::vector<std::string> overrides;
  std::int64_t examples = 0, average = 1;
  ResultOptions result;
};

/// Does the argument name a configuration file rather than a run?
bool is_file(const InspectArguments& arguments) {
  std::error_code error;
  return std::filesystem::is_regular_file(arguments.run, error) || arguments.run.ends_with(".toml");
}

std::string three_digits(std::optional<double> value) { return value ? fmt::format("{:.3g}", *value) : "-"; }

InspectResult result_of(const std::string& subject, const InspectArguments& arguments, const Inspection& found) {
  InspectResult out{
      .step = found.step, .average = arguments.average, .split = arguments.split, .rows = found.sequences};
  (is_file(arguments) ? out.config : out.run) = subject;
  boost::json::object of = inspection_json(found);
  out.heads = std::move(of.at("heads").as_array());
  out.layers = std::move(of.at("layers").as_array());
  out.modules = std::move(of.at("modules").as_array());
  return out;
}

void print_heads(const Inspection& found, Console& console) {
  TextTable table{
      {"attention", "head", "entropy", "distance", "first key", "variance", "importance", ""},
      {Align::left, Align::right, Align::right, Align::right, Align::right, Align::right, Align::right, Align::left},
      {}};
  for (const HeadInspection& h : found.heads)
    table.rows.push_back({h.attention, fmt::format("{}", h.head), fixed(h.entropy, 3), fixed(h.distance, 2),
                          fixed(h.first_key, 3), three_digits(h.score_variance),
                          h.importance ? signed_fixed(*h.importance, 4) : "-", is_localised(h) ? "localised" : ""});
  console.out << "\n"
              << to_text(table)
              << "\n"
                 "  entropy: of a query's weights, in nats; 0: all weight on one key, ln n: equal weights on n keys\n"
                 "  distance: mean number of positions between query and key, by weight; localised: below "
              << fmt::format("{}\n", localised_below)
              << "  first key: its share of the weights of queries after the first\n"
                 "  variance: of the scores before the normaliser\n"
              << "  importance: how much the loss rises if the head's output is set to 0, in nats per target\n";
}

void print_states(const Inspection& found, Console& console) {
  TextTable table{{"recurrence", "head", "half-life", "norm", "rank"},
                  {Align::left, Align::right, Align::right, Align::right, Align::right},
                  {}};
  for (const HeadInspection& h : found.heads)
    if (h.state_norm)
      table.rows.push_back({h.attention, fmt::format("{}", h.head), three_digits(h.half_life),
                            three_digits(h.state_norm), three_digits(h.state_rank)});
  if (table.rows.empty()) return;
  console.out << "\n"
              << to_text(table)
              << "\n"
                 "  half-life: the number of tokens in which the state halves by its decay; -: it has no decay\n"
                 "  norm and rank: size of the state after a sequence's last token, and its number of directions\n";
}

void print_layers(const Inspection& found, Console& console) {
  TextTable table{
      {"layer", "residual", "gradient", "weights"}, {Align::left, Align::right, Align::right, Align::right}, {}};
  for (const LayerInspection& l : found.layers)
    table.rows.push_back({l.layer, three_digits(l.rank_residual), three_digits(l.gradient), three_digits(l.weight)});
  console.out
      << "\n"
      << to_text(table)
      << "\n"
         "  residual: how far a sequence's tokens are from one vector, relative to their size; 0: all are equal\n"
         "  gradient and weights: norms over all of the layer's modules\n";
}

void print_modules(const Inspection& found, Console& console) {
  TextTable table{
      {"module", "output", "gradient", "weights"}, {Align::left, Align::right, Align::right, Align::right}, {}};
  for (const ModuleInspection& m : found.modules)
    table.rows.push_back({m.module, three_digits(m.activation), three_digits(m.gradient), three_digits(m.weight)});
  console.out << "\n"
              << to_text(table)
              << "\n"
                 "  output: root mean square of the module's output\n"
                 "  gradient: norm of the mean loss's gradient in the module's parameters\n"
                 "  weights: norm of the module's parameters\n";
}

/// The inspected model: a run's trained model, or a configuration's model at initialisation.
struct Subject {
  std::string name;  ///< the run's ID, or the file's name
  std::string words; ///< the text above the tables
  Inspection found;
};

Subject look(const InspectArguments& arguments, Console& console) {
  const Split split = arguments.split == "validation" ? Split::validation : Split::train;
  if (is_file(arguments)) {
    if (arguments.average > 1)
      throw Refused("--average needs a run's checkpoints, and a configuration's model has none; leave it out");
    const Config config = load_settings(arguments.run, arguments.overrides).resolve();
    if (const std::string& start = config.train.start; !start.empty())
      throw Refused(
          fmt::format("{}: its model starts from run {} (train.start), and heed inspect shows initial weights "
                      "of a file; inspect that run, or run the file with train.steps=0 and inspect its run",
                      arguments.run, start));
    const std::unique_ptr<Task> task = make_task(config);
    const Engine& with = engine(config);
    with.check(config, *task);
    return {arguments.run, fmt::format("{} before any step, with seed {}", arguments.run, config.general.seed),
            with.inspect(config, *task, nullptr, split, arguments.examples)};
  }
  if (!arguments.overrides.empty())
    throw Refused(fmt::format(
        "{}: a run's options can't be changed, only those of a configuration's file, and there is no file {}",
        arguments.overrides.front(), arguments.run));
  const TrainedRun run = trained_run(arguments.out, arguments.run, arguments.average, console);
  Inspection found = run.engine().inspect(run.config, *run.task, &run.checkpoint, split, arguments.examples);
  return {run.id, fmt::format("run {} at step {}", run.id, found.step), std::move(found)};
}

int inspect(const InspectArguments& arguments, Console& console) {
  ResultOutput output("inspect", arguments.result);
  const auto [name, words, found] = look(arguments, console);
  if (output.is("json")) {
    output.write_result(result_of(name, arguments, found), console);
    return 0;
  }
  console.out << fmt::format("{}, {} examples of the {} split{}\n", words, with_commas(found.sequences),
                             arguments.split, average_in_words(arguments.average));
  if (!found.heads.empty()) print_heads(found, console);
  print_states(found, console);
  if (!found.layers.empty()) print_layers(found, console);
  print_modules(found, console);
  return 0;
}

} // namespace

void add_inspect(Commands& commands) {
  add_command<InspectArguments>(
      commands, "inspect",
      "measure heads, layers and modules inside a run's model, or inside a config's untrained model",
      "Examples:\n"
      "  heed inspect 3f2a\n"
      "  heed inspect 3f2a --rows 64\n"
      "  heed inspect 3f2a --split train --json\n"
      "  heed inspect my.toml model.layers=12        before any step\n"
      "RUN is the path of a run's folder, or a unique beginning of its ID; or a config, whose untrained model is\n"
      "inspected (of a sweep, the reference's). The loss is computed once for each head. Large models therefore take\n"
      "a while: --rows limits the time. [train] inspect measures the same values during training. Nothing is saved.",
      [](Command& command, InspectArguments& arguments) {
        add_config(command, arguments.run, arguments.overrides);
        command.argument("CONFIG").description("the TOML file, or a run: its path, or a unique beginning of its ID");
        command.add("--split SPLIT", arguments.split, "train or validation [validation]")
            .one_of({"train", "validation"});
        command.add("--rows", arguments.examples, "number of examples of the split, the first ones [0: all]")
            .within(0, std::int64_t{1} << 40);
        add_average(command, arguments.average);
        add_result_options(command, arguments.result, {"terminal", "json"});
        command.add("--out FOLDER", arguments.out, "the folder with the runs [runs]");
      },
      inspect);
}

} // namespace heed
