// Options: how a module or an experiment declares what can be configured.
//
// A struct of plain members and one table that names each of them is all there is to write: parsing,
// validation, printing, `heed options` and the JSON Schema come from the table. A member that the
// table forgets does not compile (see option_table).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace heed {

/// The value of an option that is a word or a number, such as `scale = "sqrt"` or `scale = 0.125`.
struct WordOrNumber {
  std::string word; ///< empty where it is a number
  double number = 0.0;
  bool operator==(const WordOrNumber&) const = default;
};

/// What a configuration file can hold for one option. (Its own members, like Option's, are compiled in options.cpp, and
/// not in each file that names options.)
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

enum class OptionType { boolean, integer, real, text, word_or_number, integers, reals, texts };

/// One option: everything that anyone wants to know of it except its current value.
struct Option {
  std::string name;    ///< the key within its table: "temperature"
  std::string meaning; ///< one sentence
  OptionType type = OptionType::text;
  Value default_value;
  std::string unit;                       ///< "tokens", "steps", ...; empty where there is none
  std::optional<double> minimum, maximum; ///< of the value, or of each entry of a list
  bool minimum_excluded = false, maximum_excluded = false;
  std::vector<std::string> words; ///< the words a text may be; empty: any text
  std::string variants_of;        ///< another choice ("attention.score"), whose variants are words here, too
  std::string default_meaning;    ///< where the default stands for something: "0: the head width"
  std::string formula_like;       ///< where the text is a formula: an example of one. A number is a formula, too
  bool of_tables = false;         ///< a table for each entry, whose names are the user's; as a whole it is not set
  bool changes_results = true;    ///< false: not part of a run's identity (threads, report, ...)
  /// Of an option that came later than the runs before it: the value with which everything is as it was without the
  /// option. While it has that value, it is no part of a run's identity.
  std::optional<Value> neutral{};

  Option();
  Option(std::string_view its_name, std::string_view its_meaning, OptionType its_type);
  Option(const Option&);
  Option(Option&&) noexcept;
  Option& operator=(const Option&);
  Option& operator=(Option&&) noexcept;
  ~Option();
};

/// Values by option name, as a configuration gives them for one table. Only known names, of the right types.
using OptionValues = std::map<std::string, Value>;

/// The values without those that are their option's `neutral`: what an identity is made of.
OptionValues without_neutral(const std::vector<Option>& options, OptionValues values);

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
} // namespace detail

/// An option bound to a member of the struct that holds its value; the chained calls state the rest.
template <class Owner, class Member> struct BoundOption {
  Option option;
  Member Owner::*member;

  // clang-format off
  BoundOption&& at_least(double v) && { option.minimum = v; return std::move(*this); }
  BoundOption&& at_most(double v) && { option.maximum = v; return std::move(*this); }
  BoundOption&& above(double v) && { option.minimum = v; option.minimum_excluded = true; return std::move(*this); }
  BoundOption&& below(double v) && { option.maximum = v; option.maximum_excluded = true; return std::move(*this); }
  BoundOption&& unit(std::string_view u) && { detail::set_text(option.unit, u); return std::move(*this); }
  BoundOption&& one_of(std::initializer_list<std::string_view> w) && { detail::set_words(option, w); return std::move(*this); }
  BoundOption&& one_of(const std::vector<std::string>& w) && { option.words = w; return std::move(*this); }
  BoundOption&& or_variant_of(std::string_view key) && { detail::set_text(option.variants_of, key); return std::move(*this); }
  BoundOption&& default_means(std::string_view m) && { detail::set_text(option.default_meaning, m); return std::move(*this); }
  BoundOption&& formula_like(std::string_view f) && { detail::set_text(option.formula_like, f); return std::move(*this); }
  BoundOption&& made_of_tables() && { option.of_tables = true; return std::move(*this); }
  BoundOption&& without_effect_on_results() && { option.changes_results = false; return std::move(*this); }
  /// This option came later: with the value `v`, which must be its default, nothing changes. See Option::neutral.
  BoundOption&& neutral(Member v) && { option.neutral = Value(std::move(v)); return std::move(*this); }
  // clang-format on
};

template <class Owner, class Member>
BoundOption<Owner, Member> option(std::string_view name, Member Owner::*member, std::string_view meaning) {
  return {Option(name, meaning, option_type_of<Member>::value), member};
}

namespace detail {
/// The options of a struct, and where its members stand in it: what a table does whatever the struct.
class MemberTable {
public:
  /// In the order in which they are shown.
  const std::vector<Option>& options() const { return options_; }

protected:
  /// An option for the `member` of `owner`, whose value is the default. The member is of the option's type.
  void add(Option&& option, const void* owner, const void* member);
  void read(void* owner, const OptionValues& values) const;
  void read_all(void* owner, const std::vector<Value>& values) const;
  OptionValues write(const void* owner) const;
  std::vector<Value> write_all(const void* owner) const;

private:
  std::vector<Option> options_;
  std::vector<std::ptrdiff_t> places_; // bytes from the struct's begin
};
} // namespace detail

/// The options of one struct.
template <class Owner> class OptionTable : public detail::MemberTable {
public:
  /// The struct with the given values over its defaults. The values must be of this table (`std::bad_variant_access`
  /// otherwise: the configuration has checked them before).
  Owner read(const OptionValues& values) const {
    Owner owner{};
    MemberTable::read(&owner, values);
    return owner;
  }
  /// The same with a value for each option, in their order.
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

/// The table of a struct's options. Each member must be named: `option_table<T>(option("name", &T::name, "..."), ...)`.
template <class Owner, class... Members> OptionTable<Owner> option_table(BoundOption<Owner, Members>&&... bound) {
  static_assert(sizeof...(Members) == detail::member_count<Owner>(),
                "every member of an options struct needs its entry in the option table, and no other");
  return OptionTable<Owner>(std::move(bound)...);
}

} // namespace heed
