// heed options: lists every configuration option, as text, as JSON, or as a JSON schema for editors.
#include "autograd/error.hpp"
#include "experiments/actions/results.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/result_output.hpp"
#include "experiments/config/schema.hpp"
#include "experiments/report/indented_json.hpp"

#include <boost/json/parse.hpp>

namespace heed {

namespace {

struct OptionsArguments {
  std::string table;
  bool schema = false;
  ResultOptions result;
};

int options(const OptionsArguments& arguments, Console& console) {
  ResultOptions result = arguments.result;
  if (arguments.schema) {
    if (!result.format.empty() || result.json || !arguments.table.empty())
      throw Refused("options: --schema is of a whole config and has a format of its own; leave out TABLE, --format and "
                    "--json");
    result.format = "schema";
  }
  ResultOutput output("options", result);
  if (output.is("schema")) output.write(indented(boost::json::parse(json_schema())), console);
  else if (output.is("json"))
    output.write_result(OptionsResult{boost::json::parse(options_json(arguments.table))}, console);
  else console.out << options_text(arguments.table);
  return 0;
}

} // namespace

void add_options(Commands& commands) {
  add_command<OptionsArguments>(
      commands, "options", "list every option of a config: meaning, default, allowed values",
      "Examples:\n"
      "  heed options\n"
      "  heed options train\n"
      "  heed options weight                          options with this word in their names or descriptions\n"
      "  heed options --schema > heed.schema.json     for editors (Even Better TOML, Taplo)",
      [](Command& command, OptionsArguments& arguments) {
        command.add("TABLE", arguments.table,
                    "only this table or option, or only options with this word: train, attention.cosine, clip, weight, "
                    "...");
        add_result_options(command, arguments.result, {"terminal", "json"});
        command.add_flag("--schema", arguments.schema, "a JSON Schema of a whole config");
      },
      options);
}

} // namespace heed
