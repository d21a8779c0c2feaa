// heed schema: prints the JSON Schema of what a command says in JSON, of configs, or of reports.
#include "experiments/actions/schemas.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/report/indented_json.hpp"

namespace heed {

namespace {

struct SchemaArguments {
  std::string name;
};

int schema(const SchemaArguments& arguments, Console& console) {
  if (arguments.name.empty()) {
    for (const std::string& name : schema_names()) console.data << name << "\n";
    return 0;
  }
  console.data << indented(schema_named(arguments.name));
  return 0;
}

} // namespace

void add_schema(Commands& commands) {
  add_command<SchemaArguments>(
      commands, "schema", "print a JSON Schema: of what a command says in JSON, of configs, of reports",
      "Examples:\n"
      "  heed schema                the names of all schemas\n"
      "  heed schema check          what heed check --format json says\n"
      "  heed schema config         a config, for editors and programs\n"
      "  heed schema run-line       a line of progress of heed run --format json\n"
      "Every command that has JSON says the same envelope: heed (the version), command, status, result, diagnostics.\n"
      "A file of --output has only the result.",
      [](Command& command, SchemaArguments& arguments) {
        command.add("NAME", arguments.name, "a command, config, report-document or run-line [lists the names]")
            .one_of(schema_names());
      },
      schema);
}

} // namespace heed
