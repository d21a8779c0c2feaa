#include "experiments/command_line/command.hpp"

#include <CLI/CLI.hpp>
#include <utility>

namespace heed {

Argument Argument::required() { return option_->required(), *this; }
Argument Argument::value_name(const std::string& name) { return option_->type_name(name), *this; }
Argument Argument::description(const std::string& text) { return option_->description(text), *this; }

Argument Argument::one_of(const std::vector<std::string>& words) {
  return option_->check(CLI::IsMember(words).description("")), *this;
}

Argument Argument::within_integers(std::int64_t low, std::int64_t high) {
  return option_->check(CLI::Range(low, high).description(""))->type_name("N"), *this;
}

Argument Argument::within(double low, double high) {
  return option_->check(CLI::Range(low, high).description(""))->type_name("N"), *this;
}

Argument Argument::repeatable() {
  return option_->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll), *this;
}

Argument Argument::separated_by(char character) { return option_->delimiter(character), *this; }
Argument Argument::excludes(Argument other) { return option_->excludes(other.option_), *this; }

template <class Value> Argument Command::bind(const std::string& name, Value& value, const std::string& meaning) {
  return Argument(app_->add_option(name, value, meaning));
}

Argument Command::add(const std::string& name, std::string& value, const std::string& meaning) {
  return bind(name, value, meaning);
}
Argument Command::add(const std::string& name, std::optional<std::string>& value, const std::string& meaning) {
  return bind(name, value, meaning);
}
Argument Command::add(const std::string& name, std::vector<std::string>& value, const std::string& meaning) {
  return bind(name, value, meaning);
}
Argument Command::add(const std::string& name, int& value, const std::string& meaning) {
  return bind(name, value, meaning);
}
Argument Command::add(const std::string& name, std::int64_t& value, const std::string& meaning) {
  return bind(name, value, meaning);
}
Argument Command::add(const std::string& name, std::optional<std::int64_t>& value, const std::string& meaning) {
  return bind(name, value, meaning);
}
Argument Command::add(const std::string& name, std::optional<std::uint64_t>& value, const std::string& meaning) {
  return bind(name, value, meaning);
}
Argument Command::add(const std::string& name, std::vector<std::int64_t>& value, const std::string& meaning) {
  return bind(name, value, meaning);
}
Argument Command::add(const std::string& name, std::optional<double>& value, const std::string& meaning) {
  return bind(name, value, meaning);
}

Argument Command::add_flag(const std::string& name, bool& value, const std::string& meaning) {
  return Argument(app_->add_flag(name, value, meaning));
}

Argument Command::argument(const std::string& name) { return Argument(app_->get_option(name)); }
void Command::hide() { app_->group(""); }
void Command::when_chosen(std::function<void()> act) { app_->callback(std::move(act)); }

} // namespace heed
