#include "layers/attention/formula/formula.hpp"

#include "autograd/error.hpp"
#include "layers/attention/formula/formula_words.hpp"
#include "layers/attention/formula/program.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>

namespace heed {

namespace {

using namespace formula_words;

constexpr std::size_t longest_text = 4096, most_nodes = 1024;
constexpr int deepest = 100;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_decimal(char c) { return c >= '0' && c <= '9'; }

std::string listed(std::vector<std::string_view> words) {
  std::sort(words.begin(), words.end());
  std::string out;
  for (const std::string_view w : words) out += fmt::format("{}{}", out.empty() ? "" : ", ", w);
  return out;
}

// Thrown within the reader for a mistake in the text, and caught where reading began.
struct Wrong {
  FormulaMistake mistake;
};

class Reader {
public:
  Reader(std::string_view text, FormulaKind kind, std::span<const FormulaParameter> parameters,
         const FormulaParameter* own, const FormulaSite& site)
      : text_(text), kind_(kind), parameters_(parameters), own_(own), site_(site) {}

  Formula all() {
    if (text_.size() > longest_text)
      throw Wrong{{0, fmt::format("a formula has at most {} characters, this one has {}", longest_text, text_.size())}};
    skip_spaces();
    if (at_end()) fail(at_, "there is no formula");
    const std::size_t begin = at_;
    const std::int32_t value = either();
    if (!at_end()) fail(at_, after_a_value());
    if (kind_ == FormulaKind::mask) want_truth(value, begin, "a mask must be true or false");
    else
      want_number(value, begin, kind_ == FormulaKind::score ? "a score must be a number" : "a start must be a number");
    // The value must be the last node.
    if (value + 1 != std::ssize(formula_.nodes)) formula_.nodes.push_back(formula_.nodes[index(value)]);
    return std::move(formula_);
  }

private:
  static std::size_t index(std::int32_t n) { return static_cast<std::size_t>(n); }
  bool at_end() const { return at_ >= text_.size(); }
  char here(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  [[noreturn]] static void fail(std::size_t column, std::string what) { throw Wrong{{column, std::move(what)}}; }

  void skip_spaces() {
    while (!at_end() && (here() == ' ' || here() == '\t' || here() == '\n' || here() == '\r')) ++at_;
  }
  bool takes(std::string_view sign) {
    if (text_.substr(at_, sign.size()) != sign) return false;
    at_ += sign.size();
    skip_spaces();
    return true;
  }
  // The word at the current place: letters, digits and _. Empty if there is none. The reader does not advance.
  std::string_view word() const {
    std::size_t end = at_;
    while (end < text_.size() && (is_letter(text_[end]) || (end > at_ && is_decimal(text_[end])))) ++end;
    return text_.substr(at_, end - at_);
  }
  bool takes_word(std::string_view w) { return word() == w && takes(w); }

  std::string after_a_value() const {
    for (const auto& [sign, mend] : {std::pair{"&&", "and"}, {"&", "and"}, {"||", "or"}, {"|", "or"}})
      if (text_.substr(at_).starts_with(sign)) return fmt::format("'{}' is written '{}' here", sign, mend);
    if (here() == '=') return "'=' is written '==' here";
    if (here() == ')' || here() == ']') return fmt::format("there is a '{}' too many", here());
    if (is_letter(here()) || is_decimal(here()) || here() == '(')
      return "an operator is missing: a product is written with *";
    return fmt::format("'{}' is not allowed here", shown_character());
  }
  std::string shown_character() const {
    const auto c = static_cast<unsigned char>(here());
    if (c >= 0x20 && c < 0x7f) return std::string(1, here());
    return fmt::format("\\x{:02x}", c);
  }

  // ---- nodes ----

  const FormulaNode& node(std::int32_t n) const { return formula_.nodes[index(n)]; }
  std::int32_t keep(const FormulaNode& n) {
    std::vector<FormulaNode>& all = formula_.nodes;
    const auto found = std::find(all.begin(), all.end(), n);
    if (found != all.end()) return static_cast<std::int32_t>(found - all.begin());
    if (all.size() >= most_nodes) fail(at_, fmt::format("a formula has at most {} different parts", most_nodes));
    all.push_back(n);
    return static_cast<std::int32_t>(all.size() - 1);
  }
  std::int32_t number(double x) { return keep({.op = FormulaOp::number, .number = x}); }
  // An operation on numbers only is computed at once and becomes a number.
  std::int32_t operation(FormulaOp op, bool truth, std::int32_t a, std::int32_t b = -1, std::int32_t c = -1) {
    FormulaNode n{.op = op, .a = a, .b = b, .c = c, .truth = truth};
    const auto fixed = [&](std::int32_t o) { return o < 0 || (node(o).op == FormulaOp::number && !node(o).truth); };
    if (!truth && op != FormulaOp::choice && fixed(a) && fixed(b) && fixed(c)) {
      Formula small;
      for (const std::int32_t o : {a, b, c})
        if (o >= 0) small.nodes.push_back(node(o));
      n.a = 0;
      n.b = b < 0 ? -1 : 1;
      small.nodes.push_back(n);
      return number(evaluate(small, {}));
    }
    return keep(n);
  }
  void want_number(std::int32_t n, std::size_t column, const char* what) const {
    if (node(n).truth) fail(column, fmt::format("{}, this is true or false: where(c, x, y) makes numbers of it", what));
  }
  void want_truth(std::int32_t n, std::size_t column, const char* what) const {
    if (!node(n).truth) fail(column, fmt::format("{}, this is a number: compare it with something", what));
  }

  // ---- the grammar, from the lowest to the highest precedence ----

  template <class Next> std::int32_t truths(std::string_view w, FormulaOp op, const char* what, const Next& next) {
    const std::size_t begin = at_;
    std::int32_t left = next();
    for (bool first = true; takes_word(w); first = false) {
      if (first) want_truth(left, begin, what);
      const std::size_t column = at_;
      const std::int32_t right = next();
      want_truth(right, column, what);
      left = operation(op, true, left, right);
    }
    return left;
  }
  std::int32_t either() {
    const Deeper deeper(*this);
    return truths("or", FormulaOp::disjunction, "'or' needs a truth on both sides", [this] { return both(); });
  }
  std::int32_t both() {
    return truths("and", FormulaOp::conjunction, "'and' needs a truth on both sides", [this] { return not_so(); });
  }
  std::int32_t not_so() {
    if (!takes_word("not")) return comparison();
    const Deeper deeper(*this);
    const std::size_t column = at_;
    const std::int32_t a = not_so();
    want_truth(a, column, "'not' needs a truth after it");
    return operation(FormulaOp::negation, true, a);
  }

  struct Comparison {
    std::string_view sign;
    FormulaOp op;
    bool turned;
  };
  const Comparison* comparison_sign() const {
    static constexpr std::array all = {
        Comparison{"<=", FormulaOp::less_equal, false}, Comparison{">=", FormulaOp::less_equal, true},
        Comparison{"==", FormulaOp::equal, false},      Comparison{"!=", FormulaOp::unequal, false},
        Comparison{"<", FormulaOp::less, false},        Comparison{">", FormulaOp::less, true}};
    for (const Comparison& c : all)
      if (text_.substr(at_).starts_with(c.sign)) return &c;
    return nullptr;
  }
  std::int32_t comparison() {
    const std::size_t begin = at_;
    const std::int32_t left = sum();
    const Comparison* c = comparison_sign();
    if (!c) return left;
    want_number(left, begin, "a comparison needs a number on both sides");
    takes(c->sign);
    const std::size_t column = at_;
    const std::int32_t right = sum();
    want_number(right, column, "a comparison needs a number on both sides");
    if (comparison_sign()) fail(at_, "comparisons are joined with 'and': 0 < a and a < b");
    return c->turned ? operation(c->op, true, right, left) : operation(c->op, true, left, right);
  }

  std::int32_t sum() {
    const std::size_t begin = at_;
    std::int32_t left = product();
    for (;;) {
      const bool minus = here() == '-';
      if (!minus && here() != '+') return left;
      want_number(left, begin, "+ and - need a number on both sides");
      takes(minus ? "-" : "+");
      const std::size_t column = at_;
      const std::int32_t right = product();
      want_number(right, column, "+ and - need a number on both sides");
      left = operation(minus ? FormulaOp::subtract : FormulaOp::add, false, left, right);
    }
  }
  std::int32_t product() {
    const std::size_t begin = at_;
    std::int32_t left = signed_one();
    for (;;) {
      const char sign = here();
      if (sign != '*' && sign != '/' && sign != '%') return left;
      if (here(1) == '*') fail(at_, "a power is written with ^");
      want_number(left, begin, "* and / need a number on both sides");
      takes(std::string_view(&sign, 1));
      const std::size_t column = at_;
      const std::int32_t right = signed_one();
      want_number(right, column, "* and / need a number on both sides");
      left = operation(sign == '*'   ? FormulaOp::multiply
                       : sign == '/' ? FormulaOp::divide
                                     : FormulaOp::remainder,
                       false, left, right);
    }
  }
  std::int32_t signed_one() {
    if (here() != '-' && here() != '+') return power();
    const Deeper deeper(*this);
    const bool minus = here() == '-';
    takes(minus ? "-" : "+");
    const std::size_t column = at_;
    const std::int32_t a = signed_one();
    want_number(a, column, "a sign needs a number after it");
    return minus ? operation(FormulaOp::negative, false, a) : a;
  }
  std::int32_t power() {
    const std::size_t begin = at_;
    const std::int32_t base = primary();
    if (!takes("^")) return base;
    want_number(base, begin, "a power needs a number as its base");
    const std::size_t column = at_;
    const std::int32_t exponent = signed_one();
    want_number(exponent, column, "an exponent must be a number");
    return operation(FormulaOp::power, false, base, exponent);
  }

  std::int32_t primary() {
    const std::size_t begin = at_;
    if (takes("(")) {
      const std::int32_t inner = either();
      closing(')', begin);
      return inner;
    }
    if (is_decimal(here()) || (here() == '.' && is_decimal(here(1)))) return literal();
    if (here() == '!') fail(at_, "'!' is written 'not' here");
    if (!is_letter(here()))
      fail(at_, at_end() ? "a value is missing at the end"
                         : fmt::format("there should be a value here, not '{}'", shown_character()));
    const std::string_view w = word();
    for (const std::string_view taken : {"and", "or", "not"})
      if (w == taken) fail(begin, fmt::format("there should be a value here, not '{}'", w));
    at_ += w.size();
    skip_spaces();
    for (const Function& f : functions)
      if (f.name == w) return call(f, begin);
    if (here() == '(') fail(begin, no_such("function", w));
    return named(w, begin);
  }
  void closing(char sign, std::size_t opened) {
    if (at_end()) fail(opened, fmt::format("this is never closed with a '{}'", sign));
    if (here() != sign) fail(at_, after_a_value());
    takes(std::string_view(&sign, 1));
  }
  std::int32_t literal() {
    double x = 0;
    const char* end = text_.data() + text_.size();
    const auto [next, error] = std::from_chars(text_.data() + at_, end, x);
    if (error != std::errc{}) fail(at_, "this number is too large or too small");
    at_ = static_cast<std::size_t>(next - text_.data());
    if (is_letter(here())) fail(at_, "an operator is missing: a product is written with *");
    skip_spaces();
    return number(x);
  }

  std::int32_t call(const Function& f, std::size_t begin) {
    if (here() != '(') fail(begin, fmt::format("{} is a function: {}(...)", f.name, f.name));
    const std::size_t opened = at_;
    takes("(");
    std::vector<std::int32_t> values;
    std::vector<std::size_t> columns;
    do {
      columns.push_back(at_);
      values.push_back(either());
    } while (takes(","));
    closing(')', opened);
    const auto n = std::ssize(values);
    if (n < f.least || n > f.most)
      fail(begin, fmt::format("{} takes {}, here it has {}", f.name,
                              f.most == most_arguments ? "two or more numbers"
                              : f.most == 3            ? "three values"
                                                       : "one number",
                              n));
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (f.op == FormulaOp::choice && k == 0)
        want_truth(values[k], columns[k],
                   "the first argument of where must be "
                   "a truth");
      else if (f.op != FormulaOp::choice) want_number(values[k], columns[k], "a function needs numbers");
    }
    if (f.op == FormulaOp::choice) {
      if (node(values[1]).truth != node(values[2]).truth)
        fail(columns[2], "where chooses between two numbers or two truths, not between one and the other");
      return operation(f.op, node(values[1]).truth, values[0], values[1], values[2]);
    }
    if (f.name == "clamp")
      return operation(FormulaOp::min, false, operation(FormulaOp::max, false, values[0], values[1]), values[2]);
    if (f.least == 1) return operation(f.op, false, values[0]);
    std::int32_t all = values[0];
    for (std::size_t k = 1; k < values.size(); ++k) all = operation(f.op, false, all, values[k]);
    return all;
  }

  bool has(FormulaName name) const {
    switch (name) {
      case FormulaName::s:
      case FormulaName::seen: return kind_ == FormulaKind::score;
      case FormulaName::h:
      case FormulaName::heads:
      case FormulaName::width: return kind_ != FormulaKind::start || name != FormulaName::h || own_->by_head();
      case FormulaName::i:
      case FormulaName::j: return kind_ != FormulaKind::start || own_->by_distance();
      case FormulaName::n: return kind_ == FormulaKind::start && own_->is_list();
      default: return kind_ != FormulaKind::start && missing(name, site_).empty();
    }
  }
  std::string no_such(const char* what, std::string_view w) const {
    std::vector<std::string_view> all;
    for (const Function& f : functions) all.push_back(f.name);
    if (std::string_view(what) != "function") {
      all.clear();
      for (const Name& n : names)
        if (has(n.name)) all.push_back(n.word);
      if (kind_ != FormulaKind::start)
        for (const FormulaParameter& p : parameters_) all.emplace_back(p.name);
    }
    return fmt::format("there is no {} '{}'; there are {}", what, w, listed(all));
  }
  std::int32_t named(std::string_view w, std::size_t begin) {
    if (kind_ != FormulaKind::start)
      for (std::size_t p = 0; p < parameters_.size(); ++p)
        if (parameters_[p].name == w) return parameter(p, begin);
    for (const Name& n : names)
      if (n.word == w && has(n.name)) return keep({.op = FormulaOp::score, .name = n.name});
    for (const Name& n : names)
      if (n.word == w && kind_ != FormulaKind::start && !missing(n.name, site_).empty())
        fail(begin, fmt::format("{} {}", w, missing(n.name, site_)));
    if (w == "s" && kind_ == FormulaKind::mask) fail(begin, "a mask can't depend on the score s");
    if (w == "seen" && kind_ == FormulaKind::mask)
      fail(begin, "a mask can't depend on seen, the number of keys that it leaves");
    fail(begin, no_such("name", w) + (kind_ == FormulaKind::start ? ""
                                                                  : "; a number of your own is declared in "
                                                                    "[attention.parameters." +
                                                                        std::string(w) + "]"));
  }
  std::int32_t parameter(std::size_t p, std::size_t begin) {
    const FormulaParameter& x = parameters_[p];
    const auto place = static_cast<std::int32_t>(p);
    if (kind_ == FormulaKind::mask && x.learned)
      fail(begin,
           fmt::format("a mask has no gradient, so nothing would be learned: set attention.parameters.{}.learned = "
                       "false",
                       x.name));
    if (!x.is_list()) {
      if (here() == '[')
        fail(at_, fmt::format("{} is one number; attention.parameters.{}.size makes it a list", x.name, x.name));
      return keep({.op = x.by_distance() ? FormulaOp::by_distance : FormulaOp::parameter, .parameter = place});
    }
    if (here() != '[')
      fail(begin, x.by_position()
                      ? fmt::format("{} has a number for each position: {}[i] is the query's, {}[j] the key's", x.name,
                                    x.name, x.name)
                      : fmt::format("{} is a list of {} numbers: {}[0] is the first", x.name, x.size, x.name));
    const std::size_t opened = at_;
    takes("[");
    const std::size_t column = at_;
    const std::int32_t which = either();
    want_number(which, column, "an index must be a number");
    closing(']', opened);
    return keep({.op = FormulaOp::element, .a = which, .parameter = place});
  }

  // Limits the nesting of brackets, because each level uses the call stack.
  struct Deeper {
    Reader& reader;
    explicit Deeper(Reader& r) : reader(r) {
      if (++r.depth_ > deepest) fail(r.at_, fmt::format("a formula may be nested at most {} deep", deepest));
    }
    ~Deeper() { --reader.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
  };

  std::string_view text_;
  FormulaKind kind_;
  std::span<const FormulaParameter> parameters_;
  const FormulaParameter* own_;
  const FormulaSite& site_;
  std::size_t at_ = 0;
  int depth_ = 0;
  Formula formula_;
};

} // namespace

ReadFormula read_formula(std::string_view text, FormulaKind kind, std::span<const FormulaParameter> parameters,
                         const FormulaParameter* own, const FormulaSite& site) {
  try {
    return {Reader(text, kind, parameters, own, site).all(), {}};
  } catch (const Wrong& wrong) {
    return {std::nullopt, wrong.mistake};
  }
}

bool is_parameter_name(std::string_view name) {
  if (name.empty() || !is_letter(name[0]) || name[0] == '_' ||
      !std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_decimal(c); }))
    return false;
  return std::none_of(functions.begin(), functions.end(), [&](const Function& f) { return f.name == name; }) &&
         std::none_of(names.begin(), names.end(), [&](const Name& n) { return n.word == name; }) && name != "and" &&
         name != "or" && name != "not";
}

} // namespace heed
