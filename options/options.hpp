// Options: how a module or an experiment declares what can be configured.
//
// A struct of plain members and one table that names each of them is all there is to write: parsing,
// validation, printing, `heed options` and the JSON Schema come from the table. A member that the
// table forgets does not compile (see option_table).
#pragma once

#include <cstdint>
#include <functional>
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

/// What a configuration file can hold for one option.
using Value = std::variant<bool, std::int64_t, double, std::string, WordOrNumber, std::vector<std::int64_t>,
                           std::vector<double>, std::vector<std::string>>;

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

/// An option bound to a member of the struct that holds its value; the chained calls state the rest.
template <class Owner, class Member> struct BoundOption {
  Option option;
  Member Owner::*member;

  // clang-format off
  BoundOption at_least(double v) && { option.minimum = v; return std::move(*this); }
  BoundOption at_most(double v) && { option.maximum = v; return std::move(*this); }
  BoundOption above(double v) && { option.minimum = v; option.minimum_excluded = true; return std::move(*this); }
  BoundOption below(double v) && { option.maximum = v; option.maximum_excluded = true; return std::move(*this); }
  BoundOption unit(std::string u) && { option.unit = std::move(u); return std::move(*this); }
  BoundOption one_of(std::vector<std::string> w) && { option.words = std::move(w); return std::move(*this); }
  BoundOption or_variant_of(std::string key) && { option.variants_of = std::move(key); return std::move(*this); }
  BoundOption default_means(std::string m) && { option.default_meaning = std::move(m); return std::move(*this); }
  BoundOption formula_like(std::string f) && { option.formula_like = std::move(f); return std::move(*this); }
  BoundOption made_of_tables() && { option.of_tables = true; return std::move(*this); }
  BoundOption without_effect_on_results() && { option.changes_results = false; return std::move(*this); }
  /// This option came later: with the value `v`, which must be its default, nothing changes. See Option::neutral.
  BoundOption neutral(Member v) && { option.neutral = Value(std::move(v)); return std::move(*this); }
  // clang-format on
};

template <class Owner, class Member>
BoundOption<Owner, Member> option(std::string name, Member Owner::*member, std::string meaning) {
  BoundOption<Owner, Member> bound{{}, member};
  bound.option.name = std::move(name);
  bound.option.meaning = std::move(meaning);
  bound.option.type = option_type_of<Member>::value;
  bound.option.default_value = Owner{}.*member;
  return bound;
}

/// The options of one struct, in the order in which they are shown.
template <class Owner> class OptionTable {
public:
  struct Entry {
    Option option;
    std::function<void(Owner&, const Value&)> set;
    std::function<Value(const Owner&)> get;
  };

  const std::vector<Entry>& entries() const { return entries_; }

  std::vector<Option> options() const {
    std::vector<Option> out;
    for (const Entry& e : entries_) out.push_back(e.option);
    return out;
  }

  /// The struct with the given values over its defaults. The values must be of this table (`std::bad_variant_access`
  /// otherwise: the configuration has checked them before).
  Owner read(const OptionValues& values) const {
    Owner owner{};
    for (const Entry& e : entries_)
      if (auto it = values.find(e.option.name); it != values.end()) e.set(owner, it->second);
    return owner;
  }

  OptionValues write(const Owner& owner) const {
    OptionValues out;
    for (const Entry& e : entries_) out[e.option.name] = e.get(owner);
    return out;
  }

  /// The same with a value for each option, in their order.
  Owner read_all(const std::vector<Value>& values) const {
    Owner owner{};
    for (std::size_t i = 0; i < entries_.size(); ++i) entries_[i].set(owner, values.at(i));
    return owner;
  }

  std::vector<Value> write_all(const Owner& owner) const {
    std::vector<Value> out;
    out.reserve(entries_.size());
    for (const Entry& e : entries_) out.push_back(e.get(owner));
    return out;
  }

  template <class... Members> explicit OptionTable(BoundOption<Owner, Members>... bound) {
    (add(std::move(bound)), ...);
  }

private:
  template <class Member> void add(BoundOption<Owner, Member> bound) {
    auto member = bound.member;
    entries_.push_back({std::move(bound.option),
                        [member](Owner& o, const Value& v) { o.*member = std::get<Member>(v); },
                        [member](const Owner& o) { return Value(o.*member); }});
  }
  std::vector<Entry> entries_;
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
template <class Owner, class... Members> OptionTable<Owner> option_table(BoundOption<Owner, Members>... bound) {
  static_assert(sizeof...(Members) == detail::member_count<Owner>(),
                "every member of an options struct needs its entry in the option table, and no other");
  return OptionTable<Owner>(std::move(bound)...);
}

} // namespace heed
