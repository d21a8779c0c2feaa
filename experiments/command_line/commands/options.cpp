// heed options: lists every configuration option, as text, as JSON, or as a JSON schema for editors.
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/json_text.hpp"
#include "experiments/config/schema.hpp"

#include <boost/json/parse.hpp>
#include <ostream>

namespace heed {

namespace {

struct OptionsArguments {
  std::string table;
  bool json = false, schema = false;
};

int options(const OptionsArguments& arguments, Console& console) {
  if (arguments.schema) console.data << indented(boost::json::parse(json_schema()));
  else if (arguments.json) console.data << indented(boost::json::parse(options_json(arguments.table)));
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
      "  heed options --schema > heed.schema.json     for editors (Even Better TOML, Taplo)" +
          std::string(exit_statuses),
      [](Command& command, OptionsArguments& arguments) {
        command
            .add("TABLE", arguments.table,
                 "only this table or option, or only options with this word: train, attention.cosine, clip, weight, "
                 "...")
            .value_name("");
        const Argument json = command.add_flag("--json", arguments.json, "for programs");
        command.add_flag("--schema", arguments.schema, "a JSON Schema of a whole config").excludes(json);
      },
      options);
}

} // namespace heed
