#include "experiments/index/run_filter.hpp"

#include "experiments/config/values.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace heed {
namespace {

using Kind = IndexField::Kind;

// These limits keep the SQL within SQLite's limits: a parser stack of 100 entries (one level takes up to six),
// expressions of 1000 levels, and 32,766 values in a statement, which may contain the filter twice.
constexpr int deepest = 12;
constexpr int most_comparisons = 400;
constexpr int most_in_lists = 10'000;
constexpr std::size_t longest_pattern = 10'000; // SQLite's is 50,000 bytes

struct Token {
  enum class Type { name, text, number, symbol, end };
  Type type = Type::end;
  std::string value;   ///< of a text: without its quotes, with '' replaced by '
  std::size_t at = 0;  ///< where it begins, in bytes from 0
  bool quoted = false; ///< a name in double quotes, which is never a keyword
};

/// What is wrong at a byte of the text.
struct FilterProblem {
  std::size_t at = 0;
  std::string what;
};

[[noreturn]] void refuse(std::size_t at, std::string what) { throw FilterProblem{at, std::move(what)}; }

/// A message with the text and a mark below the position. Columns count characters from 1.
std::string in_words(const FilterProblem& problem, std::string_view text, const std::string& option) {
  const auto column = std::count_if(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(problem.at),
                                    [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
  return fmt::format("{}: column {}: {}\n      {}\n      {:>{}}", option, column + 1, problem.what, text, "^",
                     column + 1);
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (static_cast<unsigned char>(c) & 0x80);
}
bool in_name(char c) { return begins_name(c) || is_digit(c) || c == '.' || c == '[' || c == ']'; }

/// Reads a quoted text that starts at `at`; a quote inside is written twice.
std::string quoted(std::string_view text, std::size_t& at) {
  const char quote = text[at];
  const std::size_t begin = at++;
  std::string out;
  for (; at < text.size(); ++at) {
    if (text[at] != quote) out += text[at];
    else if (at + 1 < text.size() && text[at + 1] == quote) out += text[++at];
    else {
      ++at;
      return out;
    }
  }
  refuse(begin, fmt::format("the {} that begins here is not closed", quote == '\'' ? "text" : "name"));
}

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> out;
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    const std::size_t begin = at;
    if (is_space(c)) {
      ++at;
    } else if (c == '\'') {
      out.push_back({Token::Type::text, quoted(text, at), begin, false});
    } else if (c == '"') {
      out.push_back({Token::Type::name, quoted(text, at), begin, true});
    } else if (begins_name(c)) {
      while (at < text.size() && in_name(text[at])) ++at;
      out.push_back({Token::Type::name, std::string(text.substr(begin, at - begin)), begin, false});
    } else if (is_digit(c) || ((c == '-' || c == '+' || c == '.') && at + 1 < text.size() &&
                               (is_digit(text[at + 1]) || text[at + 1] == '.'))) {
      ++at;
      while (at < text.size() && (in_name(text[at]) || ((text[at] == '-' || text[at] == '+') &&
                                                        (text[at - 1] == 'e' || text[at - 1] == 'E'))))
        ++at;
      out.push_back({Token::Type::number, std::string(text.substr(begin, at - begin)), begin, false});
    } else {
      const std::string two(text.substr(at, 2));
      const bool long_one = two == "!=" || two == "<=" || two == ">=" || two == "<>" || two == "==";
      if (!long_one && std::string_view("=<>(),").find(c) == std::string_view::npos)
        refuse(at, fmt::format("'{}' is not allowed here; allowed are names, numbers, 'texts', = != < <= > >=, "
                               "like, in, and, or, not, ( and )",
                               c));
      at += long_one ? 2 : 1;
      out.push_back({Token::Type::symbol,
                     two == "<>" && long_one   ? "!="
                     : two == "==" && long_one ? "="
                     : long_one                ? two
                                               : std::string(1, c),
                     begin, false});
    }
  }
  out.push_back({Token::Type::end, "", text.size(), false});
  return out;
}

/// One side of a comparison: a field or a literal.
struct Operand {
  const IndexField* field = nullptr;
  Cell literal;
  bool truth = false; ///< the literal is true or false
  std::size_t at = 0;

  bool is_text() const { return !field && std::holds_alternative<std::string>(literal); }
  SqlPart sql() const { return field ? sql_value(*field) : SqlPart{"?", {literal}}; }
};

void append(SqlPart& to, const std::string& between, const SqlPart& part) {
  to.sql += between + part.sql;
  to.values.insert(to.values.end(), part.values.begin(), part.values.end());
}

std::string kind_in_words(Kind kind) {
  switch (kind) {
    case Kind::number: return "a number";
    case Kind::text: return "a text";
    case Kind::flag: return "true or false";
    case Kind::word_or_number: return "a word or a number";
  }
  return {};
}

class Parser {
public:
  Parser(std::string_view text, const std::vector<IndexField>& fields) : fields_(fields), tokens_(tokens_of(text)) {}

  SqlPart all() {
    if (next().type == Token::Type::end) refuse(0, "the filter is empty; for example: val_loss < 1.9");
    SqlPart out = alternatives(0);
    if (next().type != Token::Type::end)
      refuse(next().at,
             fmt::format("{} is not expected here; the filter could end, or continue with and, or", in_words(next())));
    return out;
  }

private:
  const Token& next() const { return tokens_[at_]; }
  bool at_word(std::string_view word) const {
    return next().type == Token::Type::name && !next().quoted && lower_case(next().value) == word;
  }
  bool at_symbol(std::string_view symbol) const { return next().type == Token::Type::symbol && next().value == symbol; }
  bool take_word(std::string_view word) { return at_word(word) && ++at_; }
  bool take_symbol(std::string_view symbol) { return at_symbol(symbol) && ++at_; }

  static std::string in_words(const Token& token) {
    switch (token.type) {
      case Token::Type::end: return "the end";
      case Token::Type::text: return "the text '" + token.value + "'";
      case Token::Type::number: return "the number " + token.value;
      default: return "'" + token.value + "'";
    }
  }

  SqlPart alternatives(int depth) {
    SqlPart out = conjunction(depth);
    while (take_word("or")) append(out, " OR ", conjunction(depth));
    out.sql = "(" + out.sql + ")";
    return out;
  }

  SqlPart conjunction(int depth) {
    SqlPart out = negation(depth);
    while (take_word("and")) append(out, " AND ", negation(depth));
    return out;
  }

  SqlPart negation(int depth) {
    if (depth > deepest) refuse(next().at, fmt::format("the filter is nested deeper than {} levels", deepest));
    if (take_word("not")) {
      SqlPart out = negation(depth + 1);
      out.sql = "(NOT " + out.sql + ")";
      return out;
    }
    if (take_symbol("(")) {
      SqlPart out = alternatives(depth + 1);
      if (!take_symbol(")"))
        refuse(next().at, fmt::format("a ) is missing here, where {} was found", in_words(next())));
      return out;
    }
    return comparison();
  }

  Operand literal_or_name() {
    const Token token = next();
    Operand out;
    out.at = token.at;
    if (token.type == Token::Type::text) {
      out.literal = token.value;
    } else if (token.type == Token::Type::number) {
      out.literal = number(token);
    } else if (at_word("true") || at_word("false")) {
      out.truth = true;
      out.literal = std::int64_t{at_word("true")};
    } else if (token.type == Token::Type::name && !is_grammar(token)) {
      out.field = &field(token);
    } else {
      refuse(token.at, fmt::format("a field, a number or a text in single quotes is expected, where {} was found",
                                   in_words(token)));
    }
    ++at_;
    return out;
  }

  bool is_grammar(const Token& token) const {
    const std::string word = lower_case(token.value);
    return !token.quoted && (word == "and" || word == "or" || word == "not" || word == "in" || word == "like");
  }

  /// Finds a field by name. The field on the other side of the comparison may have the name as one of its allowed
  /// words.
  const IndexField& field(const Token& token) {
    for (const IndexField& field : fields_)
      if (field.name == token.value) return field;
    if (compared_ && std::find(compared_->words.begin(), compared_->words.end(), token.value) != compared_->words.end())
      refuse(token.at, fmt::format("a text stands in single quotes: {} = '{}'", compared_->name, token.value));
    try {
      return field_named(fields_, token.value, "");
    } catch (const Refused& refused) {
      const std::string hint = compared_ && compared_->kind != Kind::number
                                   ? fmt::format("\n      (a text stands in single quotes: '{}')", token.value)
                                   : "";
      refuse(token.at, refused.what() + hint);
    }
  }

  Cell number(const Token& token) {
    const std::string_view text = std::string_view(token.value).substr(token.value.front() == '+' ? 1 : 0);
    if (const auto whole = number_of<std::int64_t>(text)) return *whole;
    if (const auto real = number_of<double>(text)) return *real;
    refuse(token.at, fmt::format("{} is not a number", token.value));
  }

  SqlPart comparison() {
    if (++comparisons_ > most_comparisons)
      refuse(next().at, fmt::format("the filter has more than {} comparisons; use in (...)", most_comparisons));
    compared_ = nullptr;
    const Operand left = literal_or_name();
    compared_ = left.field;
    const bool inverted = (at_word("not") && ++at_ > 0);
    if (take_word("in")) return membership(left, inverted);
    if (take_word("like")) return likeness(left, inverted);
    const Token sign = next();
    if (inverted)
      refuse(sign.at, "after this 'not', like or in is expected; to negate a comparison, put not before it");
    static constexpr std::array<std::string_view, 6> signs{"=", "!=", "<", "<=", ">", ">="};
    if (sign.type != Token::Type::symbol || std::find(signs.begin(), signs.end(), sign.value) == signs.end())
      refuse(sign.at,
             fmt::format("a comparison is expected (= != < <= > >= like in), where {} was found", in_words(sign)));
    ++at_;
    const Operand right = literal_or_name();
    if (!left.field && !right.field) refuse(left.at, "a comparison needs a field on one of its sides");
    return compare(left, sign, right);
  }

  SqlPart compare(const Operand& left, const Token& sign, const Operand& right) {
    const bool ordered = sign.value != "=" && sign.value != "!=";
    const std::string between = fmt::format(" {} ", sign.value == "!=" ? "<>" : sign.value);
    if (left.field && right.field) {
      if (left.field->kind != right.field->kind)
        refuse(right.at, fmt::format("{} is {}, and {} is {}", left.field->name, kind_in_words(left.field->kind),
                                     right.field->name, kind_in_words(right.field->kind)));
    } else {
      const Operand& literal = left.field ? right : left;
      check_type(left.field ? *left.field : *right.field, literal, ordered);
    }
    const Kind kind = left.field ? left.field->kind : right.field->kind;
    if (ordered && kind == Kind::flag) refuse(sign.at, "values that are true or false have no order; use = or !=");
    SqlPart out = left.sql();
    append(out, between, right.sql());
    // SQLite sorts all texts above all numbers.
    if (ordered && kind == Kind::word_or_number)
      for (const Operand* side : {&left, &right})
        if (side->field) append(out, " AND typeof", {"(" + side->sql().sql + ") <> 'text'", side->sql().values});
    out.sql = "(" + out.sql + ")";
    return out;
  }

  void check_type(const IndexField& field, const Operand& literal, bool ordered) {
    const std::string found = literal.truth       ? "true or false"
                              : literal.is_text() ? fmt::format("the text '{}'", std::get<std::string>(literal.literal))
                                                  : "a number";
    const bool fits = field.kind == Kind::flag     ? literal.truth
                      : field.kind == Kind::number ? !literal.truth && !literal.is_text()
                      : field.kind == Kind::text   ? literal.is_text()
                      : ordered                    ? !literal.truth && !literal.is_text()
                                                   : !literal.truth;
    if (!fits)
      refuse(literal.at, fmt::format("{} is {}, and can't be compared {}with {}", field.name, kind_in_words(field.kind),
                                     ordered ? "by order " : "", found));
    if (ordered || !literal.is_text() || field.words.empty()) return;
    const auto& word = std::get<std::string>(literal.literal);
    if (std::find(field.words.begin(), field.words.end(), word) == field.words.end())
      refuse(literal.at, fmt::format("{} is never '{}'; it is one of {}{}", field.name, word,
                                     list_in_words(field.words), did_you_mean(word, field.words)));
  }

  SqlPart membership(const Operand& left, bool inverted) {
    if (!left.field) refuse(left.at, "in needs a field before it: attention.score in ('dot', 'additive')");
    if (!take_symbol("("))
      refuse(next().at, fmt::format("in needs a list in parentheses, where {} was found", in_words(next())));
    SqlPart out = left.sql();
    out.sql += inverted ? " NOT IN (" : " IN (";
    std::string between;
    do {
      const Operand entry = literal_or_name();
      if (++in_lists_ > most_in_lists)
        refuse(entry.at, fmt::format("the filter's lists hold more than {} values", most_in_lists));
      if (entry.field) refuse(entry.at, "the list of in holds numbers and texts in single quotes, no fields");
      check_type(*left.field, entry, false);
      append(out, between, entry.sql());
      between = ", ";
    } while (take_symbol(","));
    if (!take_symbol(")"))
      refuse(next().at, fmt::format("a , or ) is expected in the list, where {} was found", in_words(next())));
    out.sql = "(" + out.sql + "))";
    return out;
  }

  SqlPart likeness(const Operand& left, bool inverted) {
    if (!left.field || left.field->kind == Kind::number || left.field->kind == Kind::flag)
      refuse(left.at, fmt::format("like asks of a text{}", left.field ? fmt::format("; {} is {}", left.field->name,
                                                                                    kind_in_words(left.field->kind))
                                                                      : ": name like 'which%'"));
    const Operand pattern = literal_or_name();
    if (!pattern.is_text()) refuse(pattern.at, "like needs a text in single quotes: name like 'which%'");
    if (const auto bytes = std::get<std::string>(pattern.literal).size(); bytes > longest_pattern)
      refuse(pattern.at, fmt::format("the pattern has {} bytes, and can have at most {}", bytes, longest_pattern));
    SqlPart out = left.sql();
    append(out, inverted ? " NOT LIKE " : " LIKE ", pattern.sql());
    out.sql = "(" + out.sql + ")";
    return out;
  }

  const std::vector<IndexField>& fields_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int comparisons_ = 0, in_lists_ = 0;
  const IndexField* compared_ = nullptr;
};

} // namespace

SqlPart parse_filter(std::string_view text, const std::vector<IndexField>& fields, const std::string& option) {
  try {
    return Parser(text, fields).all();
  } catch (const FilterProblem& problem) {
    throw Refused(in_words(problem, text, option));
  }
}

} // namespace heed
