#include "options/options.hpp"

#include <algorithm>
#include <type_traits>

namespace heed {

Value::Value() = default;
Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;

Option::Option() = default;
Option::Option(std::string_view its_name, std::string_view its_meaning, OptionType its_type)
    : name(its_name), meaning(its_meaning), type(its_type) {}
Option::Option(const Option&) = default;
Option::Option(Option&&) noexcept = default;
Option& Option::operator=(const Option&) = default;
Option& Option::operator=(Option&&) noexcept = default;
Option::~Option() = default;

OptionValues without_defaults(const std::vector<Option>& options, OptionValues values) {
  for (const Option& o : options)
    if (const auto found = values.find(o.name); found != values.end() && found->second == o.default_value)
      values.erase(found);
  return values;
}

bool is_given(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return !text->empty();
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number != 0;
  if (const auto* number = std::get_if<double>(&value)) return *number != 0;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) return !list->empty();
  return true;
}

std::string choice_word(const Value& value) {
  if (const auto* yes = std::get_if<bool>(&value)) return *yes ? "true" : "false";
  if (const auto* either = std::get_if<WordOrNumber>(&value)) return either->word;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  const auto* word = std::get_if<std::string>(&value);
  return word ? *word : "";
}

bool is_listed(const std::vector<std::string>& words, const Value& value) {
  if (const auto* number = std::get_if<double>(&value); number && words.front() != OptionCondition::anything)
    return std::ranges::any_of(words, [&](const std::string& word) { return std::stod(word) == *number; });
  return words.front() == OptionCondition::anything ? is_given(value)
                                                    : std::ranges::find(words, choice_word(value)) != words.end();
}

namespace detail {

namespace {

/// Calls `use(T&)` with the member at an address.
template <class Use> auto with_member(OptionType type, auto* at, const Use& use) {
  const auto as = [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_const_v<std::remove_pointer_t<decltype(at)>>) return use(*static_cast<const T*>(at));
    else return use(*static_cast<T*>(at));
  };
  switch (type) {
    case OptionType::boolean: return as(std::type_identity<bool>{});
    case OptionType::integer: return as(std::type_identity<std::int64_t>{});
    case OptionType::real: return as(std::type_identity<double>{});
    case OptionType::text: return as(std::type_identity<std::string>{});
    case OptionType::word_or_number: return as(std::type_identity<WordOrNumber>{});
    case OptionType::integers: return as(std::type_identity<std::vector<std::int64_t>>{});
    case OptionType::reals: return as(std::type_identity<std::vector<double>>{});
    case OptionType::texts: return as(std::type_identity<std::vector<std::string>>{});
  }
  throw std::bad_variant_access();
}

void set_member(OptionType type, void* at, const Value& value) {
  with_member(type, at, [&]<class T>(T& member) { member = std::get<T>(value); });
}

Value member_value(OptionType type, const void* at) {
  return with_member(type, at, [](const auto& member) { return Value(member); });
}

} // namespace

void set_text(std::string& to, std::string_view text) { to = text; }

void set_words(Option& option, std::initializer_list<std::string_view> words) {
  option.words.assign(words.begin(), words.end());
}

void add_condition(Option& option, std::string_view on, std::initializer_list<std::string_view> words, bool unless) {
  option.conditions.push_back({"", std::string(on), {words.begin(), words.end()}, unless});
}

void add_case(Option& option, std::string_view on, std::initializer_list<std::string_view> words, bool unless) {
  option.conditions.back().others.push_back({"", std::string(on), {words.begin(), words.end()}, unless});
}

void MemberTable::add(Option&& option, const void* owner, const void* member) {
  option.default_value = member_value(option.type, member);
  options_.push_back(std::move(option));
  places_.push_back(static_cast<const char*>(member) - static_cast<const char*>(owner));
}

void MemberTable::read(void* owner, const OptionValues& values) const {
  for (std::size_t i = 0; i < options_.size(); ++i)
    if (const auto found = values.find(options_[i].name); found != values.end())
      set_member(options_[i].type, static_cast<char*>(owner) + places_[i], found->second);
}

void MemberTable::read_all(void* owner, const std::vector<Value>& values) const {
  for (std::size_t i = 0; i < options_.size(); ++i)
    set_member(options_[i].type, static_cast<char*>(owner) + places_[i], values.at(i));
}

OptionValues MemberTable::write(const void* owner) const {
  OptionValues out;
  for (std::size_t i = 0; i < options_.size(); ++i)
    out[options_[i].name] = member_value(options_[i].type, static_cast<const char*>(owner) + places_[i]);
  return out;
}

std::vector<Value> MemberTable::write_all(const void* owner) const {
  std::vector<Value> out;
  out.reserve(options_.size());
  for (std::size_t i = 0; i < options_.size(); ++i)
    out.push_back(member_value(options_[i].type, static_cast<const char*>(owner) + places_[i]));
  return out;
}

} // namespace detail

} // namespace heed
