// Options: how a module or an experiment declares its configurable values.
//
// An options struct has plain members, and one table names each member. Parsing, validation, printing, `heed options`
// and the JSON Schema are all derived from the table. The code does not compile if the table omits a member (see
// option_table).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace heed {

/// The value of an option that takes a word or a number, such as `scale = "sqrt"` or `scale = 0.125`.
struct WordOrNumber {
  std::string word; ///< empty for a number
  double number = 0.0;
  bool operator==(const WordOrNumber&) const = default;
};

/// A value of one option in a configuration file. (Its special members, like Option's, are defined in options.cpp, so
/// that they are not compiled again in each file that uses options.)
struct Value : std::variant<bool, std::int64_t, double, std::string, WordOrNumber, std::vector<std::int64_t>,
                            std::vector<double>, std::vector<std::string>> {
  using variant::variant;
  Value();
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();
};

/// The condition under which an option has an effect: the value of `on` is one of `words`, or, with `unless`, none of
/// them.
struct OptionCondition {
  /// As the only entry of `words`: any text except the empty one, any number except 0, or any list of integers except
  /// the empty one, of an option that takes more than fixed words.
  static constexpr const char* anything = "*";

  std::string option; ///< full name; a table's name means all options in the table. In Option::conditions: empty
  std::string on;
  std::vector<std::string> words;
  bool unless = false;
  std::vector<OptionCondition> others = {}; ///< it also has an effect under one of these; their `option` is empty
  bool operator==(const OptionCondition&) const = default;
};
/// "anything", as an option table writes it: only_if("data.path", {any_value}).
inline constexpr std::string_view any_value = OptionCondition::anything;

enum class OptionType { boolean, integer, real, text, word_or_number, integers, reals, texts };

/// The description of one option: everything except its current value.
struct Option {
  std::string name;    ///< the key within its table: "temperature"
  std::string meaning; ///< one sentence
  OptionType type = OptionType::text;
  Value default_value;
  std::string unit;                       ///< "tokens", "steps", ...; empty if there is none
  std::optional<double> minimum, maximum; ///< of the value, or of each entry of a list
  bool minimum_excluded = false, maximum_excluded = false;
  std::vector<std::string> words; ///< the allowed words of a text; empty: any text
  /// key of another choice ("attention.score"); the names of its variants are allowed words, too
  std::string variants_of;
  std::string default_meaning; ///< meaning of a special default: "0: the head width"
  std::string formula_like;    ///< for a formula: an example of one. A number is a formula, too
  bool of_tables = false;      ///< has one table per entry, named by the user; it can't be set as a whole
  /// In a table that blocks have: the option belongs to the whole model, so all blocks have the same value
  bool of_whole_model = false;
  bool changes_results = true; ///< false: not part of a run's ID (threads, report, ...)
  bool of_blocks = false;      ///< models without Transformer blocks do not use it
  /// It has an effect if all of them hold, on options of any table. Messages show the first one that does not hold.
  std::vector<OptionCondition> conditions;
  /// The value is only where learned numbers start. With `initial_if`, only while the variant's option of this name,
  /// such as "learned", is true.
  bool initial = false;
  std::string initial_if;

  Option();
  Option(std::string_view its_name, std::string_view its_meaning, OptionType its_type);
  Option(const Option&);
  Option(Option&&) noexcept;
  Option& operator=(const Option&);
  Option& operator=(Option&&) noexcept;
  ~Option();
};

/// True for a non-empty text, for a non-zero number, for a list of integers that is not empty, and for all values of
/// other types.
bool is_given(const Value& value);
/// The word of a choice: a text itself, the word of a word-or-number value, an integer's digits, or "true" or "false".
/// Empty for values of other types.
std::string choice_word(const Value& value);
/// True if the value is one of a condition's words; with `OptionCondition::anything`, if it is given.
bool is_listed(const std::vector<std::string>& words, const Value& value);

/// The values of one configuration table, by option name. They contain only known names and values of the right types.
using OptionValues = std::map<std::string, Value>;

/// The values that differ from the defaults of their options.
OptionValues without_defaults(const std::vector<Option>& options, OptionValues values);

template <class T> struct option_type_of;
template <> struct option_type_of<bool> { static constexpr auto value = OptionType::boolean; };
template <> struct option_type_of<std::int64_t> { static constexpr auto value = OptionType::integer; };
template <> struct option_type_of<double> { static constexpr auto value = OptionType::real; };
template <> struct option_type_of<std::string> { static constexpr auto value = OptionType::text; };
template <> struct option_type_of<WordOrNumber> { static constexpr auto value = OptionType::word_or_number; };
template <> struct option_type_of<std::vector<std::int64_t>> { static constexpr auto value = OptionType::integers; };
template <> struct option_type_of<std::vector<double>> { static constexpr auto value = OptionType::reals; };
template <> struct option_type_of<std::vector<std::string>> { static constexpr auto value = OptionType::texts; };

namespace detail {
void set_text(std::string& to, std::string_view text);
void set_words(Option& option, std::initializer_list<std::string_view> words);
void add_condition(Option& option, std::string_view on, std::initializer_list<std::string_view> words, bool unless);
/// Adds another case in which the last condition holds.
void add_case(Option& option, std::string_view on, std::initializer_list<std::string_view> words, bool unless = false);
} // namespace detail

/// An option bound to the struct member that holds its value. The chained calls set its other properties.
template <class Owner, class Member> struct BoundOption {
  Option option;
  Member Owner::*member;

  // clang-format off
  BoundOption&& at_least(double v) && { option.minimum = v; return std::move(*this); }
  BoundOption&& at_most(double v) && { option.maximum = v; return std::move(*this); }
  BoundOption&& between(double low, double high) && { return std::move(*this).at_least(low).at_most(high); }
  BoundOption&& above(double v) && { option.minimum = v; option.minimum_excluded = true; return std::move(*this); }
  BoundOption&& below(double v) && { option.maximum = v; option.maximum_excluded = true; return std::move(*this); }
  BoundOption&& unit(std::string_view u) && { detail::set_text(option.unit, u); return std::move(*this); }
  BoundOption&& one_of(std::initializer_list<std::string_view> w) && {
    detail::set_words(option, w); return std::move(*this);
  }
  BoundOption&& one_of(const std::vector<std::string>& w) && { option.words = w; return std::move(*this); }
  BoundOption&& or_variant_of(std::string_view key) && {
    detail::set_text(option.variants_of, key); return std::move(*this);
  }
  BoundOption&& default_means(std::string_view m) && {
    detail::set_text(option.default_meaning, m); return std::move(*this);
  }
  BoundOption&& formula_like(std::string_view f) && {
    detail::set_text(option.formula_like, f); return std::move(*this);
  }
  BoundOption&& made_of_tables() && { option.of_tables = true; return std::move(*this); }
  BoundOption&& of_whole_model() && { option.of_whole_model = true; return std::move(*this); }
  BoundOption&& of_blocks() && { option.of_blocks = true; return std::move(*this); }
  /// It only has an effect if the option `on` has one of these words. See OptionCondition.
  BoundOption&& only_if(std::string_view on, std::initializer_list<std::string_view> words) && {
    detail::add_condition(option, on, words, false); return std::move(*this);
  }
  BoundOption&& unless(std::string_view on, std::initializer_list<std::string_view> words) && {
    detail::add_condition(option, on, words, true); return std::move(*this);
  }
  /// After only_if or unless: that condition also holds if `on` has one of these words.
  BoundOption&& or_if(std::string_view on, std::initializer_list<std::string_view> words) && {
    detail::add_case(option, on, words); return std::move(*this);
  }
  /// Likewise if `on` has none of them.
  BoundOption&& or_unless(std::string_view on, std::initializer_list<std::string_view> words) && {
    detail::add_case(option, on, words, true); return std::move(*this);
  }
  BoundOption&& without_effect_on_results() && { option.changes_results = false; return std::move(*this); }
  /// The value is only where learned numbers start. See Option::initial.
  BoundOption&& initial_value() && { option.initial = true; return std::move(*this); }
  BoundOption&& initial_value_if(std::string_view other) && {
    option.initial = true; detail::set_text(option.initial_if, other); return std::move(*this);
  }
  // clang-format on
};

template <class Owner, class Member>
BoundOption<Owner, Member> option(std::string_view name, Member Owner::*member, std::string_view meaning) {
  return {Option(name, meaning, option_type_of<Member>::value), member};
}

namespace detail {
/// The options of a struct and the offsets of its members: the part of a table that does not depend on the struct's
/// type.
class MemberTable {
public:
  /// The options in the order of display.
  const std::vector<Option>& options() const { return options_; }

protected:
  /// Adds an option for the `member` of `owner`, whose value is the default. The member must have the option's type.
  void add(Option&& option, const void* owner, const void* member);
  void read(void* owner, const OptionValues& values) const;
  void read_all(void* owner, const std::vector<Value>& values) const;
  OptionValues write(const void* owner) const;
  std::vector<Value> write_all(const void* owner) const;

private:
  std::vector<Option> options_;
  std::vector<std::ptrdiff_t> places_; // byte offsets from the beginning of the struct
};
} // namespace detail

/// The options of one struct.
template <class Owner> class OptionTable : public detail::MemberTable {
public:
  /// Returns the struct with its defaults, overwritten by the given values. The values must belong to this table
  /// (otherwise `std::bad_variant_access`; configurations are checked before).
  Owner read(const OptionValues& values) const {
    Owner owner{};
    MemberTable::read(&owner, values);
    return owner;
  }
  /// The same with one value for each option, in the order of `options`.
  Owner read_all(const std::vector<Value>& values) const {
    Owner owner{};
    MemberTable::read_all(&owner, values);
    return owner;
  }

  OptionValues write(const Owner& owner) const { return MemberTable::write(&owner); }
  std::vector<Value> write_all(const Owner& owner) const { return MemberTable::write_all(&owner); }

  template <class... Members> explicit OptionTable(BoundOption<Owner, Members>&&... bound) {
    const Owner defaults{};
    (add(std::move(bound.option), &defaults, &(defaults.*bound.member)), ...);
  }
};

namespace detail {
struct AnyMember {
  template <class T> operator T() const;
};
template <class T, class... Members> consteval std::size_t member_count(Members... members) {
  if constexpr (requires { T{members..., AnyMember{}}; }) return member_count<T>(members..., AnyMember{});
  else return sizeof...(Members);
}
} // namespace detail

/// Makes the table of a struct's options. Each member must be named: `option_table<T>(option("name", &T::name, "..."),
/// ...)`.
template <class Owner, class... Members> OptionTable<Owner> option_table(BoundOption<Owner, Members>&&... bound) {
  static_assert(sizeof...(Members) == detail::member_count<Owner>(),
                "every member of an options struct needs its entry in the option table, and no other");
  return OptionTable<Owner>(std::move(bound)...);
}

} // namespace heed
