// Property tests: laws that hold for every score, normaliser, mask and position scheme, for all sizes and values. All
// cases are random, and a case that breaks a law is shrunk before it is reported. With HEED_LONG in the environment: 20
// times as many cases, and different cases each time. RC_PARAMS="seed=..." repeats the same cases.
#include "autograd/normalize.hpp"
#include "layers/position/position.hpp"
#include "tests/layers/attention_support.hpp"
#include "tests/layers/kept_weights.hpp"

#include <fmt/ranges.h>
#include <limits>
#include <numeric>
#include <rapidcheck.h>
#include <span>
#include <sstream>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

constexpr double unit = std::numeric_limits<Real>::epsilon();

// ---- random cases ---------------------------------------------------------------------------------------------------

#ifdef HEED_INSTRUMENTED
constexpr int share = 4;
#else
constexpr int share = 1;
#endif

// Checks the law in `cases` random cases, or in a fraction of them in instrumented builds.
void always(int cases, const std::function<void()>& law) {
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  params.maxSuccess = std::getenv("HEED_LONG") ? 20 * cases : cases / share;
  const rc::detail::TestResult result = rc::detail::checkTestable(law, rc::detail::TestMetadata{}, params);
  std::ostringstream why;
  if (result.is<rc::detail::FailureResult>()) why << result.get<rc::detail::FailureResult>().description;
  else rc::detail::printResultMessage(result, why);
  INFO("RC_PARAMS=\"seed=" << params.seed << "\": " << why.str());
  CHECK(result.is<rc::detail::SuccessResult>());
}

// `least` is the simplest value for shrinking.
std::int64_t any(std::int64_t least, std::int64_t greatest) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(least, greatest + 1));
}
// The first element is the simplest for shrinking.
template <class T> const T& any_of(const std::vector<T>& all) {
  return all[static_cast<std::size_t>(any(0, std::ssize(all) - 1))];
}
std::uint64_t any_seed() { return static_cast<std::uint64_t>(any(0, 1 << 20)); }
// Mostly short lengths; rarely longer than the kernels' tiles.
std::int64_t any_length(std::int64_t longest = 140) {
  using Lengths = std::pair<std::int64_t, std::int64_t>;
  const auto [from, to] = any_of(std::vector<Lengths>{{1, 6}, {1, 6}, {1, 20}, {1, 20}, {1, 60}, {100, 140}});
  return any(std::min(from, longest), std::min(to, longest));
}

// A number of features: less or more than a SIMD vector.
std::int64_t any_width() { return any(1, any_of(std::vector<std::int64_t>{4, 9, 9, 35})); }

// The scale of queries and keys. Scores of "large" ones go up to about 80, of "huge" ones up to 10^4.
struct Numbers {
  std::string name;
  double size;
  bool whole = false; // true: each value is -size or size, so many scores are equal

  std::vector<Real> draw(std::int64_t n, std::uint64_t seed) const {
    std::vector<Real> x = HEED_REAL::draw(n, seed, {-size, size, size / 10});
    if (whole)
      for (Real& v : x) v = static_cast<Real>(v < 0 ? -size : size);
    return x;
  }
};
const Numbers& any_numbers() {
  static const std::vector<Numbers> all = {{"ordinary", 1}, {"with ties", 1, true}, {"zero", 0},
                                           {"large", 6},    {"huge", 60},           {"huge with ties", 50, true}};
  return any_of(all);
}

std::vector<std::uint8_t> any_pattern(std::int64_t rows, std::int64_t columns) {
  const double share = any_of(std::vector<double>{0.8, 0.4, 0.1});
  std::vector<std::uint8_t> out;
  for (const Real x : draw(rows * columns, any_seed(), {0, 1, 0})) out.push_back(static_cast<double>(x) < share);
  return out;
}

// A mask with matrices of allowed entries, or without a matrix.
MaskCase any_allowed(const Extents& e) {
  MaskCase m;
  const std::int64_t matrices = any_of(std::vector<std::int64_t>{0, 1, e.batch});
  if (matrices) m.allowed = any_pattern(matrices * e.queries, e.keys);
  m.mask.allowed_shared = matrices <= 1;
  return m;
}

MaskCase any_mask(const Extents& e) {
  MaskCase m = any_allowed(e);
  m.mask.causal = any(0, 1);
  m.mask.offset = any(0, 3);
  if (m.mask.causal) m.mask.prefix = any(0, e.keys + 1);
  m.mask.window = any(0, 1) ? any(0, e.keys) : -1;
  m.mask.dilation = any(0, 2) ? 1 : any(2, 4);
  if (any(0, 1))
    for (std::int64_t b = 0; b < e.batch; ++b) m.lengths.push_back(static_cast<std::int32_t>(any(0, e.keys)));
  return m;
}

std::string text_of(const MaskCase& m, std::int64_t keys) {
  std::string out = fmt::format("causal {}, offset {}, prefix {}, window {}, dilation {}, lengths [{}], allowed",
                                m.mask.causal, m.mask.offset, m.mask.prefix, m.mask.window, m.mask.dilation,
                                fmt::join(m.lengths, " "));
  for (std::size_t i = 0; i < m.allowed.size(); ++i)
    out += (i % static_cast<std::size_t>(keys) ? "" : " ") + std::to_string(m.allowed[i]);
  return out + (m.allowed.empty() ? " everywhere" : "");
}

// Every pair of a score and a normaliser, each in each of its setups: one list for each normaliser.
struct Choice {
  LayerChoice layers;
  std::string text;
};
using Choices = std::vector<std::vector<Choice>>;
const Choices& choices() {
  static const Choices all = [] {
    Choices out;
    for (const NormalizerInfo* n : normalizers()) {
      out.emplace_back();
      for (const Setup& with : setups(n->about))
        for (const ScoreInfo* score : scores())
          for (const Setup& s : setups(score->about))
            out.back().push_back({choice_of(*score, s.options, n->about.name, with.options),
                                  s.text + ", " + with.text});
    }
    return out;
  }();
  return all;
}
Choices choices_that(const std::function<bool(const Choice&)>& serve) {
  Choices out = choices();
  for (auto& of_one : out) std::erase_if(of_one, [&](const Choice& c) { return !serve(c); });
  std::erase_if(out, [](const auto& of_one) { return of_one.empty(); });
  return out;
}

// Every relative position scheme in each of its setups, and no scheme.
struct Scheme {
  const PositionInfo* info = nullptr;
  Setup setup{{}, "no position"};
};
const std::vector<Scheme>& schemes() {
  static const std::vector<Scheme> all = [] {
    std::vector<Scheme> out(3); // no scheme, three entries, so that it is drawn more often
    for (const PositionInfo* info : positions())
      if (info->make_relative)
        for (const Setup& s : setups(info->about)) out.push_back({info, s});
    return out;
  }();
  return all;
}

double largest(const std::vector<Real>& x) {
  double out = 0;
  for (const Real v : x) out = std::max(out, std::abs(static_cast<double>(v)));
  return out;
}

// ---- properties of a normaliser, found with its plain loops ---------------------------------------------------------

std::vector<Real> plain_row(const LayerChoice& c, const std::vector<Real>& scores, RowKeys keys) {
  std::vector<Real> w(scores.size());
  normalizer_info(c.attention.normalizer).row(scores.data(), w.data(), keys, c.normalizer_options);
  return w;
}
// With all keys before the query.
std::vector<Real> plain_row(const LayerChoice& c, const std::vector<Real>& scores) {
  return plain_row(c, scores, {.n = std::ssize(scores), .earlier = std::ssize(scores)});
}
std::unique_ptr<Normalizer> normalizer_of(const LayerChoice& c) {
  Weights unused;
  return normalizer_info(c.attention.normalizer).make(unused.scope(), 1, c.normalizer_options);
}
double sum_of(const std::vector<Real>& w) { return std::accumulate(w.begin(), w.end(), 0.0); }

// Whether the weights sum to 1 for all scores.
bool is_distribution(const LayerChoice& c) {
  const auto sums_to_one = [&](const std::vector<Real>& s) { return std::abs(sum_of(plain_row(c, s)) - 1) < 1e-3; };
  return sums_to_one({Real(0.5), 0, Real(0.25)}) && sums_to_one({-1, -2});
}
// Whether keys get a weight of exactly 0 if other keys score far better. Weights then jump near the threshold.
bool cuts(const LayerChoice& c) {
  std::vector<Real> scores(16);
  for (std::size_t j = 0; j < scores.size(); ++j) scores[j] = static_cast<Real>(3 * (scores.size() - j));
  return plain_row(c, scores).back() == 0;
}
// Whether scores below 0 have no weight, however small all scores are. Then gradients jump where a score changes its
// sign, and so do the weights, if they depend only on the ratios of the scores.
bool cuts_at_zero(const LayerChoice& c) {
  const Real small = unit;
  const std::vector<Real> w = plain_row(c, {2 * small, small, -small});
  return w[2] == 0 && w[1] > 0 && !cuts(c);
}
// How much faster the weights change with the scores than softmax's weights.
double sharpness(const LayerChoice& c) {
  std::vector<Real> scores(140, 0); // as many as the longest row has
  scores[0] = 1;
  const std::vector<Real> w = plain_row(c, scores);
  return w[1] > 0 && is_distribution(c) ? std::max(1.0, std::log(static_cast<double>(w[0]) / static_cast<double>(w[1])))
                                        : 1;
}

// Whether the rule multiplies the scores by a number before it exponentiates them, and so rounds them.
bool multiplies(const LayerChoice& c) {
  const std::vector<Real> w = plain_row(c, {1, 0});
  return w[1] > 0 && std::abs(std::log(static_cast<double>(w[0]) / static_cast<double>(w[1])) - 1) > 100 * unit;
}

// Whether the score depends on the position of a key, or the normaliser on the order of the keys.
bool knows_places(const Choice& c) {
  const std::vector<Real> forth = plain_row(c.layers, {2, 1}), back = plain_row(c.layers, {1, 2});
  if (forth[0] != back[1]) return true;
  const ScoreInfo& score = score_info(c.layers.attention.score);
  const ScoreSizes sizes{.heads = 1, .query_width = 1, .key_width = 1, .longest = 2};
  Weights weights;
  const auto made = score.make(weights.scope(), sizes, c.layers.score_options);
  weights.fill(1);
  std::vector<const Real*> numbers;
  for (const auto& entry : weights.parameters.entries()) numbers.push_back(weights.parameters.values() + entry.offset);
  const Real one = 1;
  const auto at = [&](std::int64_t place) {
    return score.pair({&one, &one, sizes, 0, numbers, &c.layers.score_options, place});
  };
  return at(0) != at(1);
}

// ---- a random attention ---------------------------------------------------------------------------------------------

// The algorithm. first: the first that supports the case; blocks: composed, on blocks of queries; whole: composed, all
// queries at once.
enum class Way { first, blocks, whole };
constexpr Way ways[] = {Way::first, Way::blocks, Way::whole};
const char* name_of(Way way) {
  return way == Way::first ? "by the first that serves" : way == Way::blocks ? "in blocks" : "composed";
}

struct Wanted {
  bool position = true;
  std::int64_t longest = 140; // sequence
  bool self = false;          // as many queries as keys, with the same width and number of heads
  bool one_head = false;
  bool allowed_alone = false; // true: masks are only matrices of allowed entries
  const Choices& of = choices();
};

struct Drawn {
  Choice choice;
  Scheme scheme;
  Extents e;
  std::int64_t sharing; // query heads per key head
  MaskCase mask;
  Numbers numbers;
  std::uint64_t seed;
  std::int64_t block; // queries per block
  double noise = 0;   // bound of the noise that is added to scores
  Weights weights;
  std::unique_ptr<RelativePosition> position;
  std::size_t of_scheme = 0;
  std::optional<Attention> attention;
  Operand q{{}, {}}, k{{}, {}}, v{{}, {}};

  explicit Drawn(const Wanted& wanted = {}) {
    choice = any_of(any_of(wanted.of));
    if (wanted.position) scheme = any_of(schemes());
    sharing = wanted.one_head || wanted.self ? 1 : any(1, 3);
    e.batch = any(1, 2);
    e.heads = wanted.one_head ? 1 : sharing * any(1, 2);
    e.keys = any_length(wanted.longest);
    e.queries = wanted.self ? e.keys : any_length(wanted.longest);
    e.query_width = any_width();
    // rotated in pairs
    if (scheme.info && scheme.info->rotate) e.query_width = std::max<std::int64_t>(e.query_width, 4);
    const bool one_width = score_info(choice.layers.attention.score).equal_widths || scheme.info || wanted.self;
    e.key_width = one_width ? e.query_width : any_width();
    e.value_width = any_width();
    numbers = any_numbers();
    seed = any_seed();
    block = any(1, e.queries);
    choice.layers.attention.dropout = any_of(std::vector<double>{0, 0, 0.3}); // in training
    if (scheme.info) draw_position();
    else mask = wanted.allowed_alone ? any_allowed(e) : any_mask(e);
    attention.emplace(weights.scope(), choice.layers, e.score());
    weights.fill(seed, {-1, 1, 0});
    q = Operand(e.q(), numbers.draw(e.q().size(), seed + 101));
    const Shape k_shape{e.batch, e.heads / sharing, e.keys, e.key_width};
    k = Operand(k_shape, numbers.draw(k_shape.size(), seed + 102));
    v = Operand({e.batch, e.heads / sharing, e.keys, e.value_width}, seed + 103, {-1, 1, 0});
  }

  // Some schemes only serve causal self attention whose last query is at the last key.
  void draw_position() {
    position = scheme.info->make_relative(weights.scope() / "position", relative_sizes(), scheme.setup.options);
    of_scheme = weights.parameters.entries().size();
    e.queries = std::min(e.queries, e.keys);
    block = std::min(block, e.queries);
    mask = any_mask(e);
    mask.mask.offset = e.keys - e.queries;
    if (!serves(*scheme.info, scheme.setup.options, relative_sizes(), false)) {
      mask.mask.causal = true;
      mask.mask.prefix = 0;
    }
  }
  RelativeSizes relative_sizes() const { return {e.heads, e.query_width, e.value_width, e.keys}; }

  std::string text() const {
    return fmt::format("{}, {}\nq {}, k {}, v {}\nmask: {}\nnumbers {}, seed {}, {} queries a block", choice.text,
                       scheme.setup.text, q.shape.text(), k.shape.text(), v.shape.text(), text_of(mask, e.keys),
                       numbers.name, seed, block);
  }
  // If the law is broken, reports how, and the random case.
  template <class... Values> void require(bool law, fmt::format_string<Values...> how, Values&&... values) const {
    if (law) return;
    const std::string found = fmt::format(how, std::forward<Values>(values)...) + "\n" + text();
    RC_FAIL(found);
  }
  bool may(std::int64_t b, std::int64_t i, std::int64_t j) const { return may_attend(mask(), e, b, i, j); }
  // f(b, h, i, row index)
  void each_row(const std::function<void(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>& f) const {
    for (std::int64_t r = 0; r < e.batch * e.heads * e.queries; ++r)
      f(r / e.queries / e.heads, r / e.queries % e.heads, r % e.queries, r);
  }
  Real* key(Operand& x, std::int64_t b, std::int64_t h, std::int64_t j) const {
    return x.values.data() + ((b * (e.heads / sharing) + h / sharing) * e.keys + j) * x.shape[3];
  }

  Tensor run(Pass& pass, Way way) {
    Tape& tape = pass.tape();
    const AttentionInputs inputs{.queries = q.on(tape),
                                 .values = v.on(tape),
                                 .keys = k.on(tape),
                                 .mask = mask(),
                                 .position = position.get(),
                                 .rows = way == Way::blocks ? block : 0};
    Tensor unused;
    return (*attention)(pass, inputs, way == Way::whole ? &unused : nullptr);
  }
  void clear_gradients() {
    for (Operand* o : {&q, &k, &v}) o->gradient.assign(o->values.size(), 0);
    weights.gradients.assign(weights.gradients.size(), 0);
  }
  std::vector<Real> result(Way way) {
    Tape tape;
    Pass pass = weights.pass(tape);
    return read(run(pass, way));
  }
  // The attention weights, from the first supported algorithm or from the composed one.
  std::vector<Real> weights_of(Way way) {
    Tape tape;
    KeptWeights told;
    Pass pass = weights.pass(tape, {.observer = &told});
    run(pass, way);
    return read(told.kept.at(0));
  }

  // ---- bounds of rounding errors ----

  // The scores of one query, for the keys that it may attend to, in plain loops.
  std::vector<Real> plain_scores(std::int64_t b, std::int64_t h, std::int64_t i) {
    const ScoreInfo& score = score_info(choice.layers.attention.score);
    std::vector<const Real*> placing, scoring;
    for (const auto& entry : weights.parameters.entries())
      if (!Weights::of_normalizer(entry))
        (placing.size() < of_scheme ? placing : scoring).push_back(weights.parameters.values() + entry.offset);
    const Real* query = q.values.data() + ((b * e.heads + h) * e.queries + i) * e.query_width;
    const auto rotated = [&](const Real* x, std::int64_t at, Rotated of) {
      std::vector<Real> y(x, x + e.query_width);
      scheme.info->rotate({x, e.query_width, at, of, e.keys, &scheme.setup.options}, y.data());
      return y;
    };
    const bool turns = scheme.info && scheme.info->rotate;
    const std::vector<Real> own_query = turns ? rotated(query, i + mask.mask.offset, Rotated::queries)
                                              : std::vector<Real>{};
    std::vector<Real> out;
    for (std::int64_t j = 0; j < e.keys; ++j) {
      if (!may(b, i, j)) continue;
      const Real* at = key(k, b, h, j);
      const std::vector<Real> own_key = turns ? rotated(at, j, Rotated::keys) : std::vector<Real>{};
      out.push_back(score.pair({turns ? own_query.data() : query, turns ? own_key.data() : at, e.score(), h, scoring,
                                &choice.layers.score_options, j}));
      if (scheme.info && scheme.info->pair)
        out.back() += scheme.info
                          ->pair({query, j - i - mask.mask.offset, relative_sizes(), h, placing, &scheme.setup.options})
                          .score;
    }
    return out;
  }

  // The weights of these scores for query i, in plain loops.
  std::vector<Real> plain_row_of(std::int64_t b, std::int64_t i, const std::vector<Real>& scores) const {
    return plain_row(choice.layers, scores, keys_of(mask(), e, b, i));
  }

  // A bound of the scores: a score is a sum, and the bound is the sum of the absolute values. For w . tanh(x) the bound
  // includes the size of x, because x is rounded.
  double score_size() {
    Weights positive;
    const auto score = score_info(choice.layers.attention.score)
                           .make(positive.scope() / "score", e.score(), choice.layers.score_options);
    const auto magnitudes = [](std::vector<Real> x) {
      for (Real& n : x) n = std::abs(n);
      return x;
    };
    for (const auto& entry : positive.parameters.entries()) {
      const Real* from = weights.parameters.values() + weights.parameters.find(entry.name)->offset;
      positive.set(entry.name, magnitudes({from, from + entry.shape.size()}));
    }
    Tape tape;
    Pass pass = positive.pass(tape);
    const std::vector<Real> of_q = magnitudes(q.values), of_k = magnitudes(k.values);
    const Tensor on_q = tape.constant(of_q.data(), q.shape),
                 on_k = repeat_heads(tape.constant(of_k.data(), k.shape), e.heads);
    // Scores that use q - k would cancel if all values had the same sign, so -k is tried, too.
    const Tensor against_k = scale(on_k, Real(-1));
    const ScoreForm form = projected(score->form(pass, on_q, on_k));
    double size;
    if (const auto* f = std::get_if<AdditiveForm>(&form))
      size = static_cast<double>(e.query_width + f->weights.shape[1]) * largest(read(f->weights)) *
             (1 + largest(read(f->queries)) + largest(read(f->keys)));
    else size = std::max(largest(read((*score)(pass, on_q, on_k))), largest(read((*score)(pass, on_q, against_k))));
    if (!scheme.info) return size;
    for (std::size_t p = 0; p < of_scheme; ++p) {
      const auto& entry = weights.parameters.entries()[p];
      const Real* from = weights.parameters.values() + entry.offset;
      size += static_cast<double>(e.query_width) * largest(q.values) * largest({from, from + entry.shape.size()});
    }
    return scheme.info->rotate ? 3 * size : size; // xpos and yarn also make vectors longer
  }

  double score_error() { return unit * static_cast<double>(e.query_width + e.key_width + 4) * (score_size() + noise); }
  // Error of a weight: from the errors of its own score and of all other scores, and from the rounding of a sum of n
  // weights.
  double weight_error() {
    return 2 * sharpness(choice.layers) * score_error() + unit * static_cast<double>(e.keys + 8);
  }
  // Error of a sum of n values: n errors of different signs.
  double result_error() {
    double size = largest(v.values);
    if (position && position->has_values()) size += 1; // the values of the scheme's vectors
    return size * weight_error() * (1 + std::sqrt(static_cast<double>(e.keys)));
  }

  // Whether a row is far from all scores at which its weights jump.
  bool steady(std::int64_t b, std::int64_t h, std::int64_t i, double error) {
    if (cuts_at_zero(choice.layers)) {
      const std::vector<Real> s = plain_scores(b, h, i), w = plain_row_of(b, i, s);
      const auto stays = [&](double by) {
        std::vector<Real> pushed = s;
        for (Real& score : pushed) score += static_cast<Real>(by);
        const std::vector<Real> now = plain_row_of(b, i, pushed);
        for (std::size_t j = 0; j < w.size(); ++j)
          if ((w[j] == 0) != (now[j] == 0)) return false; // the gradient would jump
        return distance(now, w) <= 4 * error;
      };
      return stays(error) && stays(-error);
    }
    if (!cuts(choice.layers)) return true;
    std::vector<Real> s = plain_scores(b, h, i);
    const std::vector<Real> w = plain_row_of(b, i, s);
    for (std::size_t j = 0; j < s.size(); ++j) {
      if (w[j] == 0) s[j] += static_cast<Real>(4 * error + std::abs(static_cast<double>(s[j])) * unit);
      else if (static_cast<double>(w[j]) < 4 * error) return false;
    }
    const std::vector<Real> pushed = plain_row_of(b, i, s);
    for (std::size_t j = 0; j < s.size(); ++j)
      if ((w[j] == 0) != (pushed[j] == 0)) return false;
    return true;
  }
  // 1 for the elements [B, H, Tq, Dv] of steady rows, 0 for the other elements.
  std::vector<Real> steady_rows() {
    const double error = weight_error();
    std::vector<Real> out;
    each_row([&](auto b, auto h, auto i, auto) {
      out.insert(out.end(), static_cast<std::size_t>(e.value_width), Real(steady(b, h, i, error)));
    });
    return out;
  }
};

// The distance, restricted to elements where `counts` is not 0.
double distance_where(const std::vector<Real>& counts, std::vector<Real> found, std::vector<Real> expected) {
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] == 0) found.at(i) = expected.at(i) = 0;
  return distance(found, expected);
}

} // namespace

TEST_CASE("rows of weights sum to one, or are zeros where there is nothing to attend to", "[laws]") {
  for (const std::string name : {"softmax", "sparsemax", "hard"})
    CHECK(is_distribution(choice_of(*scores()[0], {}, name)));
  always(500, [] {
    Drawn x;
    const bool distribution = is_distribution(x.choice.layers);
    const double error = x.weight_error() * (1 + std::sqrt(static_cast<double>(x.e.keys)));
    for (const Way way : {Way::first, Way::whole}) {
      const std::vector<Real> w = x.weights_of(way);
      x.each_row([&](auto b, auto, auto i, auto r) {
        const std::vector<Real> row(w.begin() + r * x.e.keys, w.begin() + (r + 1) * x.e.keys);
        bool any = false;
        for (std::int64_t j = 0; j < x.e.keys; ++j) {
          const Real weight = row[static_cast<std::size_t>(j)];
          any = any || x.may(b, i, j);
          if (distribution)
            x.require(weight >= 0 && static_cast<double>(weight) <= 1 + error, "weight {} of key {} in row {}", weight,
                      j, r);
        }
        if (!any) x.require(all_zero(row), "row {} sees nothing and has weights", r);
        else if (distribution)
          x.require(std::abs(sum_of(row) - 1) <= error, "row {} sums to 1 + {}", r, sum_of(row) - 1);
      });
    }
  });
}

TEST_CASE("what a query may not attend to has no weight and gets no gradient", "[laws]") {
  always(500, [] {
    Drawn x;
    const std::int64_t one = any(0, x.e.queries - 1);
    for (const Way way : ways) {
      Tape tape;
      KeptWeights told;
      Pass pass = x.weights.pass(tape, {.observer = way == Way::blocks ? nullptr : &told});
      x.clear_gradients();
      tape.backward(weighted_sum(slice(x.run(pass, way), 2, one, 1)));
      const std::vector<Real> w = told.kept.empty() ? std::vector<Real>{} : read(told.kept[0]);
      const auto zero_at = [&](const Operand& o, std::int64_t row) {
        const auto from = o.gradient.begin() + row * o.shape[3];
        return all_zero({from, from + o.shape[3]});
      };
      x.each_row([&](auto b, auto h, auto i, auto r) {
        x.require(i == one || zero_at(x.q, r), "query {} has a gradient of query {}'s", i, one);
        for (std::int64_t j = 0; j < x.e.keys; ++j) {
          if (x.may(b, i, j)) continue;
          x.require(w.empty() || w[static_cast<std::size_t>(r * x.e.keys + j)] == 0, "row {} has a weight for key {}",
                    r, j);
          const std::int64_t row = (b * x.e.heads + h) / x.sharing * x.e.keys + j;
          x.require(i != one || (zero_at(x.k, row) && zero_at(x.v, row)),
                    "query {} of entry {} gives key {} a gradient, in way {}", i, b, j, int(way));
        }
      });
    }
  });
}

TEST_CASE("what a query may not attend to changes no bit of its result and its gradients", "[laws]") {
  always(500, [] {
    Drawn x;
    const std::int64_t one = any(0, x.e.queries - 1);
    const double size = any_of(std::vector<double>{1, 100, 1e4, 1e15});
    const auto outcome = [&](Way way) {
      Tape tape;
      Pass pass = x.weights.pass(tape);
      x.clear_gradients();
      const Tensor y = slice(x.run(pass, way), 2, one, 1);
      tape.backward(weighted_sum(y));
      pass.finish_gradients();
      return std::vector{read(y), x.q.gradient, x.k.gradient, x.v.gradient, x.weights.gradients};
    };
    std::vector<std::vector<std::vector<Real>>> before;
    for (const Way way : ways) before.push_back(outcome(way));
    std::uint64_t seed = x.seed;
    for (Operand* o : {&x.k, &x.v})
      for (std::int64_t b = 0; b < x.e.batch; ++b)
        for (std::int64_t h = 0; h < x.e.heads; h += x.sharing)
          for (std::int64_t j = 0; j < x.e.keys; ++j)
            if (!x.may(b, one, j)) {
              const std::vector<Real> other = draw(o->shape[3], ++seed, {-size, size, 0});
              std::copy(other.begin(), other.end(), x.key(*o, b, h, j));
            }
    for (const Way way : ways)
      x.require(outcome(way) == before[static_cast<std::size_t>(way)],
                "query {} sees numbers up to {} of keys that are hidden from it, {}", one, size, name_of(way));
  });
}

TEST_CASE("keys in another order change nothing, and queries in another order change the rows' order", "[laws]") {
  const Choices serving = choices_that([](const Choice& c) { return !knows_places(c); });
  always(600, [&] {
    Drawn x({.position = false, .allowed_alone = true, .of = serving});
    const auto order_of = [](std::int64_t n) {
      std::vector<std::size_t> order(static_cast<std::size_t>(n));
      std::iota(order.begin(), order.end(), 0);
      const std::vector<Real> drawn = draw(n, any_seed());
      std::sort(order.begin(), order.end(), [&](auto a, auto b) { return drawn[a] < drawn[b]; });
      return order;
    };
    const std::vector<std::size_t> queries = order_of(x.e.queries), keys = order_of(x.e.keys);
    // Permutes rows of `width` values, within groups of order.size() rows.
    const auto reorder = [](auto& all, const std::vector<std::size_t>& order, std::size_t width) {
      const auto before = all;
      for (std::size_t at = 0; at < all.size(); ++at) {
        const std::size_t row = at / width, group = row / order.size() * order.size();
        all[at] = before[(group + order[row % order.size()]) * width + at % width];
      }
    };
    const double error = x.result_error();
    std::vector<Real> steady = x.steady_rows();
    std::vector<std::vector<Real>> before;
    for (const Way way : ways) before.push_back(x.result(way));
    const auto width = [](const Operand& o) { return static_cast<std::size_t>(o.shape[3]); };
    reorder(x.q.values, queries, width(x.q));
    reorder(x.k.values, keys, width(x.k));
    reorder(x.v.values, keys, width(x.v));
    reorder(x.mask.allowed, queries, keys.size());
    reorder(x.mask.allowed, keys, 1);
    reorder(steady, queries, width(x.v));
    for (const Way way : ways) {
      std::vector<Real>& expected = before[static_cast<std::size_t>(way)];
      reorder(expected, queries, width(x.v));
      const double far = distance_where(steady, x.result(way), expected);
      x.require(far <= error, "{}: {} > {}; queries {}, keys {}", name_of(way), far, error, fmt::join(queries, " "),
                fmt::join(keys, " "));
    }
  });
}

TEST_CASE("a number that is added to all scores of a row changes no weight of a distribution", "[laws]") {
  for_each_attention([](const LayerChoice& c, const ScoreInfo&) {
    const double far = distance(plain_row(c, {2, 0, 1}), plain_row(c, {1, -1, 0}));
    if (is_distribution(c)) CHECK(far < 10 * unit);
    if (c.attention.normalizer == "sigmoid") CHECK(far > 0.01);
  });
  const Choices serving = choices_that([](const Choice& c) {
    return c.layers.attention.score == "dot" && is_distribution(c.layers);
  });
  always(600, [&] {
    Drawn x({.position = false, .of = serving});
    // All values are multiples of 1/8, so the scores have no rounding error. The last feature of each query is the
    // constant that is added to the scores.
    for (Operand* o : {&x.q, &x.k})
      for (Real& n : o->values) n = std::round(8 * n) / 8;
    const auto last = [&](Operand& o, const std::function<Real(std::size_t)>& of) {
      const auto width = static_cast<std::size_t>(x.e.query_width);
      for (std::size_t at = width - 1; at < o.values.size(); at += width) o.values[at] = of(at);
    };
    last(x.q, [](std::size_t) { return Real{0}; });
    last(x.k, [](std::size_t) { return Real{1}; });
    std::vector<std::vector<Real>> y, w;
    for (const Way way : ways) y.push_back(x.result(way));
    for (const Way way : {Way::first, Way::whole}) w.push_back(x.weights_of(way));
    const double most = any_of(std::vector<double>{1, 80, 1e4});
    const std::vector<Real> added = draw(x.q.shape.size(), any_seed(), {-most, most, 0});
    last(x.q, [&](std::size_t at) { return std::round(8 * added[at]) / 8; });
    const auto n = static_cast<double>(x.e.keys);
    // Weights are computed from the logarithm of a row's sum, which is as large as the scores. Scores that are divided
    // by a temperature are rounded.
    const double size = unit * 4 * sharpness(x.choice.layers) * (x.score_size() + most), error = unit * (n + 8);
    const auto normalizer = normalizer_of(x.choice.layers);
    const bool rounds = (!normalizer->is_softmax() && !normalizer->has_rules()) || multiplies(x.choice.layers);
    for (const Way way : ways) {
      const double far = distance(x.result(way), y[static_cast<std::size_t>(way)]);
      x.require(far <= (error + (rounds ? size : 0)) * (1 + std::sqrt(n)), "results differ by {} {}, up to {} added",
                far, name_of(way), most);
    }
    for (const Way way : {Way::first, Way::whole}) {
      const double far = distance(x.weights_of(way), w[way == Way::whole]);
      x.require(far <= error + size, "weights differ by {} {}, up to {} added", far, name_of(way), most);
    }
  });
}

TEST_CASE("sparsemax is the projection onto the simplex, for rows of any length and size", "[laws]") {
  always(1000, [] {
    const std::int64_t n = any(1, any_of(std::vector<std::int64_t>{6, 20, 300}));
    const double size = any_of(std::vector<double>{1, 0, 0.01, 2, 80, 1e4, 1e30});
    const double step = any_of(std::vector<double>{0, 1, 0.25}); // scores are multiples of it; 0: any values
    const std::uint64_t seed = any_seed();
    Operand s({1, 1, 1, n}, seed, {-size, size, 0});
    if (step > 0)
      for (Real& v : s.values) v = static_cast<Real>(std::round(static_cast<double>(v) / step) * step);
    Tape tape;
    Weights parameters;
    const auto sparsemax = normalizer_info("sparsemax").make(parameters.scope() / "normalizer", 1, {});
    const Tensor on_tape = normalize_rows("sparsemax", s.on(tape), {}, *sparsemax->row_rule());
    tape.backward(weighted_sum(on_tape));
    const std::vector<Real> w = read(on_tape), dw = draw(n, 99, {0.5, 1.5, 0}); // the coefficients of weighted_sum
    const auto require = [&](bool law, const char* what) {
      if (law) return;
      const std::string found = fmt::format("{}: scores {}, weights {}, gradient {}", what, fmt::join(s.values, " "),
                                            fmt::join(w, " "), fmt::join(s.gradient, " "));
      RC_FAIL(found);
    };
    // Martins and Astudillo 2016, algorithm 1, on scores minus the best score.
    std::vector<double> below, sorted;
    const Real best = *std::max_element(s.values.begin(), s.values.end());
    for (const Real v : s.values) below.push_back(static_cast<double>(v) - static_cast<double>(best));
    sorted = below;
    std::sort(sorted.rbegin(), sorted.rend());
    double sum = 0, threshold = 0;
    for (std::size_t k = 0; k < sorted.size(); ++k) {
      sum += sorted[k];
      if (1 + static_cast<double>(k + 1) * sorted[k] > sum) threshold = (sum - 1) / static_cast<double>(k + 1);
    }
    // The error of a weight has two parts: the error of the threshold, which is a mean of at most n sums below n; and
    // the rounding of the weight's own score.
    const double error = unit * static_cast<double>(n + 4);
    double total = 0, low = INFINITY, high = -INFINITY, mean = 0, count = 0;
    for (std::size_t j = 0; j < w.size(); ++j) {
      const double weight = static_cast<double>(w[j]);
      require(std::abs(weight - std::max(below[j] - threshold, 0.0)) <= error, "a weight");
      total += weight;
      // Optimality: s_j - w_j is a constant wherever w_j > 0, and at most this constant elsewhere.
      if (weight > 0) low = std::min(low, below[j] - weight);
      high = std::max(high, below[j] - weight);
      require(weight >= 0, "a weight is below 0");
      mean += weight > 0 ? static_cast<double>(dw[j]) : 0;
      count += weight > 0;
    }
    require(std::abs(total - 1) <= error * count, "the weights' sum");
    require(high - low <= 2 * error, "optimality");
    for (std::size_t j = 0; j < w.size(); ++j)
      require(std::abs(static_cast<double>(s.gradient[j]) -
                       (w[j] > 0 ? static_cast<double>(dw[j]) - mean / count : 0)) <= error,
              "the gradient");
  });
}

TEST_CASE("streaming, in blocks and composed, every attention is the plain loops, and has one gradient", "[laws]") {
  always(500, [] {
    Drawn x;
    const auto normalizer = normalizer_of(x.choice.layers);
    // Where weights jump, the distance from the jump depends on the noise, which is not known here.
    const bool random = !cuts(x.choice.layers) || normalizer->has_rules(), training = any(0, 1) && random;
    x.noise = training ? 17 : 0;               // bound of the Gumbel noise
    const double error = 2 * x.result_error(); // the factor of dropout is below 2
    const std::vector<Real> steady = x.steady_rows();
    std::vector<Real> counted = draw(std::ssize(steady), 99, {0.5, 1.5, 0});
    for (std::size_t i = 0; i < steady.size(); ++i) counted[i] *= steady[i];
    const char* const parts[] = {"result", "queries", "keys", "values"};
    std::vector<std::vector<Real>> expected;
    for (const Way way : {Way::whole, Way::first, Way::blocks}) {
      Tape tape;
      Pass pass = x.weights.pass(tape, {.training = training, .seed = x.seed});
      x.clear_gradients();
      const Tensor y = x.run(pass, way);
      tape.backward(sum(mul(y, tape.copy(counted.data(), y.shape))));
      pass.finish_gradients();
      std::vector<std::vector<Real>> found = {read(y), x.q.gradient, x.k.gradient, x.v.gradient, x.weights.gradients};
      if (way == Way::whole) expected = found;
      const double far = distance_where(steady, found[0], expected[0]);
      x.require(far <= error, "result {} differs by {} > {}", name_of(way), far, error);
      if (x.numbers.size == 0) continue; // the cosine has no gradient at 0
      // Gradients are sums over all pairs; the gradient of a parameter with one value per head is also a sum over all
      // features. The rounding error grows with the number of addends. The gradient of a score and its own rounding
      // error grow with the size of the score.
      const auto pairs = static_cast<double>(x.e.batch * x.e.heads * x.e.queries * x.e.keys);
      const auto require_near = [&](std::string_view what, double addends, std::span<const Real> now,
                                    std::span<const Real> before) {
        const double allowed = attention_tolerance * (1 + std::sqrt(addends)) * std::pow(x.numbers.size, 3);
        const double off = distance(std::vector<Real>(now.begin(), now.end()),
                                    std::vector<Real>(before.begin(), before.end()));
        x.require(off <= allowed, "gradient of {}, {}, differs by {} > {}, training {}", what, name_of(way), off,
                  allowed, training);
      };
      for (std::size_t part = 1; part < 4; ++part) require_near(parts[part], pairs, found[part], expected[part]);
      for (const Parameters::Entry& entry : x.weights.parameters.entries()) {
        const auto at = static_cast<std::size_t>(entry.offset), size = static_cast<std::size_t>(entry.shape.size());
        const bool one_number = entry.shape.size() == x.e.heads;
        require_near(entry.name, one_number ? pairs * static_cast<double>(x.e.query_width) : pairs,
                     std::span(found[4]).subspan(at, size), std::span(expected[4]).subspan(at, size));
      }
    }
    if (training || (x.position && x.position->has_values())) return;
    std::vector<Real> plain;
    x.each_row([&](auto b, auto h, auto i, auto) {
      const std::vector<Real> w = x.plain_row_of(b, i, x.plain_scores(b, h, i));
      std::vector<double> sums(static_cast<std::size_t>(x.e.value_width));
      std::size_t next = 0;
      for (std::int64_t j = 0; j < x.e.keys; ++j) {
        if (!x.may(b, i, j)) continue;
        for (std::size_t d = 0; d < sums.size(); ++d)
          sums[d] += static_cast<double>(w[next]) * static_cast<double>(x.key(x.v, b, h, j)[d]);
        ++next;
      }
      plain.insert(plain.end(), sums.begin(), sums.end());
    });
    const double far = distance_where(steady, expected[0], plain);
    x.require(far <= error, "plain loops differ by {} > {}", far, error);
  });
}

TEST_CASE("tokens that come one after the other get what they get at once", "[laws]") {
  always(500, [] {
    Drawn x({.longest = 40, .self = true});
    x.mask.mask.causal = true;
    x.mask.mask.prefix = std::min<std::int64_t>(x.mask.mask.prefix, 1); // decoding is not possible with a longer prefix
    x.mask.mask.offset = 0;
    x.mask.allowed.clear();
    const std::int64_t batch = x.e.batch, n = x.e.keys, inner = x.e.heads * x.e.query_width,
                       width = x.e.heads * x.e.value_width;
    // Projections that select features of a token, so that queries, keys and values are known without rounding.
    std::vector<std::size_t> chosen;
    for (const Real at : draw(2 * inner, x.seed + 1, {0, static_cast<double>(width), 0}))
      chosen.push_back(std::min(static_cast<std::size_t>(at), static_cast<std::size_t>(width - 1)));
    for (std::int64_t d = 0; d < width; ++d) chosen.push_back(static_cast<std::size_t>(d));
    const auto rows_that_choose = [&](const auto& from) {
      std::vector<Real> out(static_cast<std::size_t>(std::ssize(from) * width));
      for (std::size_t row = 0; row < from.size(); ++row) out[row * static_cast<std::size_t>(width) + from[row]] = 1;
      return out;
    };
    Weights weights;
    std::shared_ptr<const RelativePosition> position;
    if (x.scheme.info)
      position = x.scheme.info->make_relative(weights.scope() / "position", x.relative_sizes(), x.scheme.setup.options);
    x.choice.layers.attention.head_width = x.e.query_width;
    const MultiHeadAttention attention(
        weights.scope(), x.choice.layers,
        {.width = width, .heads = x.e.heads, .bias = false, .position = position, .longest = n}, Init::zeros());
    for (const auto& entry : x.weights.parameters.entries()) {
      const Real* from = x.weights.parameters.values() + entry.offset;
      weights.set(entry.name, {from, from + entry.shape.size()});
    }
    weights.set("qkv.weight", rows_that_choose(chosen));
    weights.set("output.weight", rows_that_choose(std::span(chosen).last(static_cast<std::size_t>(width))));

    // After `turn` tokens, each sequence continues from the past of a random sequence, as in beam search.
    const std::int64_t turn = any(0, n - 1), chunk = any(1, 3);
    const Operand drawn({batch, n, width}, x.numbers.draw(batch * n * width, x.seed + 2));
    Operand tokens = drawn;
    std::vector<std::int64_t> parents;
    // A state lacks keys that its sequence did not see. A sequence with different padding within the first `turn`
    // tokens therefore cannot be a parent.
    const auto seen_until = [&](std::int64_t b) {
      return x.mask.lengths.empty() ? turn : std::min<std::int64_t>(turn, x.mask.lengths[static_cast<std::size_t>(b)]);
    };
    for (std::int64_t b = 0; b < batch; ++b) {
      std::vector<std::int64_t> alike;
      for (std::int64_t other = 0; other < batch; ++other)
        if (seen_until(other) == seen_until(b)) alike.push_back(other);
      parents.push_back(any_of(alike));
      std::copy_n(drawn.values.begin() + parents.back() * n * width, turn * width,
                  tokens.values.begin() + b * n * width);
    }
    Tape tape;
    std::unique_ptr<MixerState> state;
    std::vector<Real> found(tokens.values.size());
    for (std::int64_t i = 0, some; i < n; i += some) {
      some = std::min(chunk, (i < turn ? turn : n) - i);
      if (i == turn && state) state->select(parents);
      Pass pass = weights.pass(tape);
      const Tensor now = slice(tape.constant(drawn.values.data(), drawn.shape), 1, i, some);
      const std::vector<Real> y = read(attention.step(pass, now, x.mask(), state));
      for (std::int64_t b = 0; b < batch; ++b)
        std::copy_n(y.begin() + b * some * width, some * width, found.begin() + (b * n + i) * width);
      tape.rewind();
    }
    Pass pass = weights.pass(tape);
    const std::vector<Real> expected = read(attention(pass, tokens.on(tape), x.mask()));

    const auto token_of = [&](std::int64_t b, std::int64_t i, std::int64_t feature) {
      const auto at = static_cast<std::int64_t>(chosen[static_cast<std::size_t>(feature)]);
      return tokens.values[static_cast<std::size_t>((b * n + i) * width + at)];
    };
    for (const auto& [o, first] : {std::pair{&x.q, std::int64_t{0}}, {&x.k, inner}, {&x.v, 2 * inner}})
      for (std::int64_t row = 0, at = 0; row < batch * x.e.heads * n; ++row)
        for (std::int64_t d = 0; d < o->shape[3]; ++d, ++at)
          o->values[static_cast<std::size_t>(at)] = token_of(row / n / x.e.heads, row % n,
                                                             first + row / n % x.e.heads * o->shape[3] + d);
    const double off_weight = x.weight_error(), error = 2 * x.result_error();
    x.each_row([&](auto b, auto h, auto i, auto) {
      if (i < turn || !x.steady(b, h, i, off_weight)) return;
      const auto from = (b * n + i) * width + h * x.e.value_width;
      const auto part = [&](const std::vector<Real>& y) {
        return std::vector<Real>(y.begin() + from, y.begin() + from + x.e.value_width);
      };
      const double far = distance(part(found), part(expected));
      x.require(far <= error, "token {} of row {} differs by {} > {}; {} at once, rows go on from {} at {}", i, b, far,
                error, chunk, fmt::join(parents, " "), turn);
    });
  });
}

TEST_CASE("queries that come one after the other to a memory get what they get at once", "[laws]") {
  always(500, [] {
    Drawn x({.position = false, .longest = 40, .one_head = true});
    Tape tape;
    Pass pass = x.weights.pass(tape);
    const auto flat = [&](Operand& o) { return reshape(o.on(tape), {x.e.batch, o.shape[2], o.shape[3]}); };
    const Tensor q = flat(x.q), k = flat(x.k), v = flat(x.v);
    const std::vector<Real> expected = x.result(Way::first), steady = x.steady_rows();
    const AttentionMemory memory = x.attention->encode_memory(pass, v, k);
    std::vector<Real> found(expected.size());
    for (std::int64_t i = 0; i < x.e.queries; ++i) {
      Mask mask = x.mask();
      mask.offset += i;
      std::vector<std::uint8_t> allowed; // [B, 1, Tk]
      for (std::int64_t b = 0; b < x.e.batch; ++b)
        for (std::int64_t j = 0; j < x.e.keys; ++j) allowed.push_back(x.may(b, i, j));
      if (mask.allowed) mask.allowed = allowed.data(), mask.allowed_shared = false;
      const std::vector<Real> y = read((*x.attention)(pass, slice(q, 1, i, 1), memory, mask));
      for (std::int64_t b = 0; b < x.e.batch; ++b)
        std::copy_n(y.begin() + b * x.e.value_width, x.e.value_width,
                    found.begin() + (b * x.e.queries + i) * x.e.value_width);
    }
    const double far = distance_where(steady, found, expected), error = 2 * x.result_error();
    x.require(far <= error, "{} > {}", far, error);
  });
}
