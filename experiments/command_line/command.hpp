// A command's arguments, bound to variables. CLI11 reads them; its header, which takes long to compile, is known to
// command_line.cpp alone, where the functions below are.
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

/// One option or positional argument of a command; the chained calls state the rest.
class Argument {
public:
  explicit Argument(CLI::Option* option) : option_(option) {}

  Argument required();
  /// What stands for the value in the help: "FOLDER"; "" for nothing.
  Argument value_name(const std::string& name);
  Argument description(const std::string& text);
  /// Any other word is refused.
  Argument one_of(const std::vector<std::string>& words);
  /// Any other number is refused.
  Argument within(std::integral auto low, std::integral auto high) { return within_integers(low, high); }
  Argument within(double low, double high);
  /// May be given several times, with one value each time; all are kept.
  Argument repeatable();
  /// One word holds several values with this character between them.
  Argument separated_by(char character);
  /// The two can't be given together.
  Argument excludes(Argument other);

private:
  Argument within_integers(std::int64_t low, std::int64_t high);

  CLI::Option* option_;
};

/// A command as it is being declared.
class Command {
public:
  explicit Command(CLI::App* app) : app_(app) {}

  /// Binds `value` to an option ("--out") or, without dashes, to a positional argument ("RUN"). `value` must outlive
  /// the reading of the command line; it keeps its content where the argument isn't given.
  /// Values are texts, numbers, these as std::optional (empty where the argument isn't given), and lists of them: the
  /// types for which command_line.cpp instantiates it.
  template <class Value> Argument add(const std::string& name, Value& value, const std::string& meaning);
  /// True where the option is given; it takes no value.
  Argument add_flag(const std::string& name, bool& value, const std::string& meaning);

  /// One that was added before.
  Argument argument(const std::string& name);
  /// Left out of the list of commands.
  void hide();
  /// Called when the command line has been read, and names this command.
  void when_chosen(std::function<void()> act);

private:
  CLI::App* app_;
};

} // namespace heed
