// Tests of beam search against an exhaustive search over all possible outputs.
#include "experiments/decoding/search.hpp"
#include "tests/experiments/models/model_support.hpp"

#include <map>

using namespace heed;
using namespace heed::f32;

namespace {

constexpr std::int32_t begin_token = 3, end_token = 4;

// The next token's logits after each prefix, the same for all sequences.
using Rule = std::function<std::vector<Real>(const std::vector<std::int32_t>& read)>;

class RuleDecoding : public Decoding {
public:
  RuleDecoding(const Rule& rule, std::int64_t sequences) : rule_(rule), read_(static_cast<std::size_t>(sequences)) {}
  Tensor step(Pass& pass, std::span<const std::int32_t> tokens) override {
    const Tensor y = pass.tape().make({std::ssize(tokens), 5});
    for (std::size_t r = 0; r < tokens.size(); ++r) {
      read_[r].push_back(tokens[r]);
      std::ranges::copy(rule_(read_[r]), y.data + r * 5);
    }
    return y;
  }
  void select(std::span<const std::int64_t> parents) override {
    std::vector<std::vector<std::int32_t>> next;
    for (const std::int64_t p : parents) next.push_back(read_[static_cast<std::size_t>(p)]);
    read_ = std::move(next);
  }
  std::int64_t state_size(std::int64_t) const override { return 0; }

private:
  const Rule& rule_;
  std::vector<std::vector<std::int32_t>> read_;
};

struct RuleModel : Model {
  Rule rule;
  explicit RuleModel(Rule r) : rule(std::move(r)) {}
  Tensor logits(Pass&, const Batch&) const override { throw Failed("it decodes only"); }
  std::unique_ptr<Decoding> decoding(Pass&, const Batch& batch) const override {
    return std::make_unique<RuleDecoding>(rule, batch.sequences);
  }
};

Batch sequences_of_inputs(std::int64_t sequences) {
  Batch batch;
  batch.reset(sequences, TestModel::sizes_for(TaskFormat::sequence_to_sequence), TaskFormat::sequence_to_sequence);
  return batch;
}

Hypothesis found(const Rule& rule, const SearchOptions& options) {
  const RuleModel model(rule);
  Tape tape;
  Parameters none;
  return search(tape, none, model, sequences_of_inputs(1), options).at(0);
}

Real log_of(double p) { return static_cast<Real>(std::log(p)); }

SearchOptions with(std::int64_t beam, double alpha = 0, std::int64_t longest = 4) {
  return {.beam = beam, .length_penalty = alpha, .longest = longest, .begin = begin_token, .end = end_token};
}

Batch sequence_of(const TestModel& m, const Batch& sequences, std::int64_t r) {
  Batch sequence = sequences;
  sequence.reset(1, m.sizes, m.format);
  sequence.lengths = {sequences.lengths[static_cast<std::size_t>(r)]};
  std::copy_n(sequences.tokens.begin() + r * 4, 4, sequence.tokens.begin());
  return sequence;
}

// Every possible output of a sequence with its score, from the logits of the model's full pass.
std::map<std::vector<std::int32_t>, double> all_scores(TestModel& m, const Batch& sequence, double alpha) {
  std::map<std::vector<std::int32_t>, double> out;
  using Tokens = std::vector<std::int32_t>;
  const std::function<void(Tokens, double)> go_on = [&](Tokens read_so_far, double sum) {
    Batch b = sequence;
    const auto n = static_cast<std::int64_t>(read_so_far.size());
    b.outputs = read_so_far;
    b.output_length = n;
    b.output_lengths = {static_cast<std::int32_t>(n)};
    b.targets.assign(read_so_far.size(), ignored);
    const std::vector<Real> logits = m.logits(b);
    const Real* last = logits.data() + (n - 1) * 5;
    double whole = 0;
    for (int c = 0; c < 5; ++c) whole += std::exp(static_cast<double>(last[c]));
    for (std::int32_t c = 0; c < 5; ++c) {
      if (c == begin_token) continue;
      const double log_probability = sum + static_cast<double>(last[c]) - std::log(whole);
      std::vector<std::int32_t> longer = read_so_far;
      longer.push_back(c);
      if (c == end_token || n == 4) {
        std::vector<std::int32_t> tokens(longer.begin() + 1, longer.end() - (c == end_token ? 1 : 0));
        out[tokens] = std::max(log_probability / length_factor(n, alpha), out.contains(tokens) ? out[tokens] : -1e9);
      } else {
        go_on(longer, log_probability);
      }
    }
  };
  go_on({begin_token}, 0);
  return out;
}

} // namespace

TEST_CASE("a beam as wide as there are outputs finds the exact best of each sequence", "[decoding]") {
  // 5 classes and 4 steps: fewer than 5^3 prefixes are ever open. All sequences are decoded at once.
  TestModel m({"model.kind=encoder_decoder"});
  m.weights.fill(23, {-1.5, 1.5, 0});
  const Batch sequences = m.batch({4, 2, 3});
  for (const double alpha : {0.0, 0.6, 2.0}) {
    Tape tape;
    tape.record(false);
    const auto best = search(tape, m.weights.parameters, *m.model, sequences, with(125, alpha));
    REQUIRE(best.size() == 3);
    for (std::int64_t r = 0; r < 3; ++r) {
      INFO("sequence " << r << ", alpha " << alpha);
      const Batch sequence = sequence_of(m, sequences, r);
      const auto scores = all_scores(m, sequence, alpha);
      const auto exact = std::ranges::max_element(scores, {}, [](const auto& s) { return s.second; });
      const Hypothesis& h = best[static_cast<std::size_t>(r)];
      CHECK(h.tokens == exact->first);
      CHECK(h.score == Approx(exact->second).epsilon(1e-5));
    }
  }
}

TEST_CASE("a formula's b is the sequence's number, whichever sequences are decoded together", "[decoding][formula]") {
  TestModel m({"model.kind=encoder_decoder", "attention.score_mod=s + 2 * b * (j - i)"});
  m.weights.fill(23, {-1.5, 1.5, 0});
  const Batch sequences = m.batch({4, 2, 3});
  Tape tape;
  tape.record(false);
  SearchOptions options = with(3);
  options.first_sequence = 1;
  const auto together = search(tape, m.weights.parameters, *m.model, sequences, options);
  bool matters = false;
  for (std::int64_t r = 0; r < 3; ++r) {
    const Batch sequence = sequence_of(m, sequences, r);
    const auto alone = [&](std::int64_t number) {
      options.first_sequence = number;
      return search(tape, m.weights.parameters, *m.model, sequence, options).at(0);
    };
    const Hypothesis& h = together[static_cast<std::size_t>(r)];
    CHECK(h.tokens == alone(1 + r).tokens);
    CHECK(h.log_probability == Approx(alone(1 + r).log_probability).epsilon(1e-4));
    matters = matters || std::abs(alone(0).log_probability - h.log_probability) > 1e-3;
  }
  CHECK(matters);
}

TEST_CASE("greedy search takes the most probable token each time, and a beam of 1 is greedy", "[decoding]") {
  TestModel m({"model.kind=encoder_decoder"});
  m.weights.fill(23, {-1.5, 1.5, 0});
  const Batch sequences = m.batch({4, 2, 3});
  Tape tape;
  tape.record(false);
  const auto outputs = search(tape, m.weights.parameters, *m.model, sequences, with(1));
  // In a full pass over the found outputs, each of their tokens has the largest logit.
  Batch read = sequences;
  std::ranges::fill(read.outputs, 0);
  for (std::size_t r = 0; r < 3; ++r) {
    const std::vector<std::int32_t>& tokens = outputs[r].tokens;
    read.outputs[r * 4] = begin_token;
    const auto behind = read.outputs.begin() + static_cast<std::ptrdiff_t>(r * 4 + 1);
    std::copy_n(tokens.begin(), std::min<std::size_t>(tokens.size(), 3), behind);
  }
  read.output_lengths = {4, 4, 4};
  const std::vector<Real> logits = m.logits(read);
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t t = 0; t < outputs[r].tokens.size() + (outputs[r].ended ? 1 : 0); ++t) {
      std::vector<Real> at(logits.begin() + static_cast<std::ptrdiff_t>((r * 4 + t) * 5),
                           logits.begin() + static_cast<std::ptrdiff_t>((r * 4 + t) * 5 + 5));
      at[begin_token] = -100;
      const auto expected = t < outputs[r].tokens.size() ? outputs[r].tokens[t] : end_token;
      CHECK(std::ranges::max_element(at) - at.begin() == expected);
    }
}

TEST_CASE("a beam finds what greed does not see", "[decoding]") {
  // Token 0 is the more probable first token (0.6), but every continuation of it is uncertain; after token 1 the output
  // surely ends.
  const Rule rule = [](const std::vector<std::int32_t>& read_tokens) -> std::vector<Real> {
    if (read_tokens.size() == 1) return {log_of(0.6), log_of(0.4), -50, -50, -50};
    if (read_tokens.back() == 1) return {-50, -50, -50, -50, 0};
    return {log_of(0.3), log_of(0.3), log_of(0.1), -50, log_of(0.3)};
  };
  CHECK(found(rule, with(1)).tokens.front() == 0);
  const Hypothesis h = found(rule, with(2));
  CHECK(h.tokens == std::vector<std::int32_t>{1});
  CHECK(h.ended);
  CHECK(std::exp(h.log_probability) == Approx(0.4));
}

TEST_CASE("the length penalty is that of Wu et al. 2016, and makes longer outputs worth their while", "[decoding]") {
  CHECK(length_factor(1, 0.7) == 1.0);
  CHECK(length_factor(7, 1) == 2.0);
  CHECK(length_factor(7, 0.5) == Approx(std::sqrt(2.0)));
  CHECK(length_factor(100, 0) == 1.0);
  // Ending at once has probability 0.4; three tokens and the end have 0.6 * 0.65 = 0.39 in total.
  const Rule rule = [](const std::vector<std::int32_t>& read_tokens) -> std::vector<Real> {
    if (read_tokens.size() == 1) return {log_of(0.6), -50, -50, -50, log_of(0.4)};
    if (read_tokens.size() == 2) return {log_of(0.65), log_of(0.35), -50, -50, -50};
    if (read_tokens.size() == 3) return {0, -50, -50, -50, -50};
    return {-50, -50, -50, -50, 0};
  };
  CHECK(found(rule, with(2, 0)).tokens.empty());
  const Hypothesis h = found(rule, with(2, 1));
  CHECK(h.tokens == std::vector<std::int32_t>{0, 0, 0});
  CHECK(h.score == Approx(std::log(0.39) / 1.5));
}

TEST_CASE("fairseq's length penalty divides by the number of tokens to the power of alpha", "[decoding]") {
  // fairseq/search.py and sequence_generator.py: eos_scores / (step + 1)^len_penalty, with step counted from 0.
  CHECK(length_factor(1, 0.7, LengthPenalty::fairseq) == 1.0);
  CHECK(length_factor(7, 1, LengthPenalty::fairseq) == 7.0);
  CHECK(length_factor(9, 0.5, LengthPenalty::fairseq) == Approx(3.0));
  CHECK(length_factor(100, 0, LengthPenalty::fairseq) == 1.0);
  CHECK(length_penalty_kind("fairseq") == LengthPenalty::fairseq);
  CHECK(length_penalty_kind("gnmt") == LengthPenalty::gnmt);
  CHECK_THROWS_AS(length_penalty_kind("length"), Failed);
  // Ending at once has probability 0.4; three tokens and the end have 0.2 in total. The scores are ln 0.4 = -0.92
  // against ln 0.2 / 4 = -0.40, or -1.07 with GNMT's penalty (5 + 4) / 6 = 1.5.
  const Rule rule = [](const std::vector<std::int32_t>& read_tokens) -> std::vector<Real> {
    if (read_tokens.size() == 1) return {log_of(0.6), -50, -50, -50, log_of(0.4)};
    if (read_tokens.size() == 2) return {0, 0, 0, -50, -50};
    if (read_tokens.size() == 3) return {0, -50, -50, -50, -50};
    return {-50, -50, -50, -50, 0};
  };
  SearchOptions options = with(3, 1);
  CHECK(found(rule, options).tokens.empty());
  options.kind = LengthPenalty::fairseq;
  const Hypothesis h = found(rule, options);
  CHECK(h.tokens == std::vector<std::int32_t>{0, 0, 0});
  CHECK(h.score == Approx(std::log(0.2) / 4));
}

TEST_CASE("at equal scores, what stood first and the lower token go first", "[decoding]") {
  const Rule level = [](const std::vector<std::int32_t>&) { return std::vector<Real>(5, 0); };
  for (const std::int64_t beam : {1, 2, 3}) {
    // with such a high alpha, the best outputs are all cut off at the maximum length
    const Hypothesis h = found(level, with(beam, 5));
    CHECK(h.tokens == std::vector<std::int32_t>(4, 0));
    CHECK_FALSE(h.ended);
  }
}

TEST_CASE("the token that begins an output is never put out", "[decoding]") {
  // The token must never be produced, whatever the logits are: it is in no target and has no text.
  const Rule rule = [](const std::vector<std::int32_t>&) { return std::vector<Real>{0, 1, 0, 9, -50}; };
  for (const std::int64_t beam : {1, 3}) CHECK(found(rule, with(beam)).tokens == std::vector<std::int32_t>(4, 1));
}

TEST_CASE("a search without a beam or a length is refused", "[decoding]") {
  const Rule level = [](const std::vector<std::int32_t>&) { return std::vector<Real>(5, 0); };
  CHECK_THROWS_WITH(found(level, with(0)), Catch::Contains("beam of 0"));
  CHECK_THROWS_WITH(found(level, with(1, 0, 0)), Catch::Contains("outputs of 0 tokens"));
}
