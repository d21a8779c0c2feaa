// Declares a command's arguments and binds them to variables. CLI11 parses them. Its header takes long to compile, so
// only command_line.cpp includes it and defines the functions below.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace heed {

/// One option or positional argument of a command; the chained calls set its properties.
class Argument {
public:
  explicit Argument(CLI::Option* option) : option_(option) {}

  Argument required();
  /// The placeholder of the value in the help: "FOLDER"; "" for none.
  Argument value_name(const std::string& name);
  Argument description(const std::string& text);
  /// Only these words are accepted.
  Argument one_of(const std::vector<std::string>& words);
  /// Only numbers in this range are accepted.
  Argument within(std::integral auto low, std::integral auto high) { return within_integers(low, high); }
  Argument within(double low, double high);
  /// May be given several times with one value each; all values are stored.
  Argument repeatable();
  /// One argument contains several values, separated by this character.
  Argument separated_by(char character);
  /// The two arguments cannot be given together.
  Argument excludes(Argument other);

private:
  Argument within_integers(std::int64_t low, std::int64_t high);

  CLI::Option* option_;
};

/// A command that is being declared.
class Command {
public:
  explicit Command(CLI::App* app) : app_(app) {}

  /// Binds `value` to an option ("--out") or, without dashes, to a positional argument ("RUN"). `value` must outlive
  /// the parsing of the command line. It is unchanged if the argument is not given. Values are strings, numbers,
  /// std::optional of these (empty if the argument is not given), and lists of these: the types for which
  /// command_line.cpp instantiates this template.
  template <class Value> Argument add(const std::string& name, Value& value, const std::string& meaning);
  /// A flag without a value: `value` is true if it is given.
  Argument add_flag(const std::string& name, bool& value, const std::string& meaning);

  /// An argument that was added before.
  Argument argument(const std::string& name);
  /// Hides the command in the list of commands.
  void hide();
  /// `act` is called after the command line has been parsed, if it names this command.
  void when_chosen(std::function<void()> act);

private:
  CLI::App* app_;
};

} // namespace heed
