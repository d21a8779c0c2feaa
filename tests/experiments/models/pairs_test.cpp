// Laws of every model, for pairs of choices that are drawn from all families: a score with a gate, a position with a
// normaliser, a norm with persistent keys. Each pair obeys them all, or its configuration is refused before a model is
// made, with a message that names one of the two. Each pair is tried in several models, with different options of its
// variants. With HEED_LONG in the environment: ten times as many.
#define HEED_REAL f64 // finite differences need double precision
#include "layers/attention/normalizer.hpp"
#include "layers/exclusions.hpp"
#include "layers/mixer.hpp"
#include "layers/variants.hpp"
#include "tests/experiments/models/model_support.hpp"
#include "tests/layers/kept_weights.hpp"
#include "tests/layers/module_check.hpp"
#include "tests/wanted.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

using namespace heed;
using namespace heed::f64;

namespace {

// ---- the choices ----------------------------------------------------------------------------------------------------

// One choice of a model: a variant, with its default options or with another value of one of them; or another option.
struct Choice {
  std::string key;                                   // "attention.score"
  std::vector<std::vector<std::string>> assignments; // one list for each setup
};

// Options whose usual other values do not fit a model of four features in two heads, on sequences of four tokens.
const std::map<std::string, std::vector<std::string>> values_that_fit = {
    {"attention.head_width", {"3", "4"}},
    {"attention.value_width", {"1", "3"}},
    {"attention.key_value_heads", {"1"}},
    {"attention.prefix", {"1", "2"}},
    {"attention.persistent_keys", {"1", "2"}},
    {"attention.convolution", {"2", "3"}},
    {"attention.selection_block", {"1", "2"}},
    {"attention.selection_chosen", {"1", "2"}},
    {"attention.selection_window", {"1", "2"}},
    {"attention.score_mod", {"2 * tanh(s / 2) - 0.3 * abs(i - j)", "s / (1 + h) + seen / (i + 2)"}},
    {"attention.mask_mod", {"(i + j) % 3 != 1", "i - j < 2 or j < h"}},
    {"block.ffn_width", {"5"}},
    {"mixer.heads", {"1", "4"}},
    {"mixer.key_heads", {"1"}},
    {"mixer.key_width", {"3"}},
    {"mixer.value_width", {"3"}},
    {"mixer.convolution", {"2", "3"}},
    {"model.registers", {"1", "2"}},
    {"model.layers", {"1", "3"}},
    {"position.path.rank", {"0", "3"}},
    {"position.path.convolution", {"0", "2"}},
    {"position.width", {"2"}},
};
// Options that need another one, which is chosen with them.
const std::map<std::string, std::vector<std::string>> needed = {
    {"attention.query_key_norm_over", {"attention.query_key_norm=rms"}},
    {"attention.convolution_on", {"attention.convolution=2"}},
    {"attention.selection_block", {"attention.selection=moba"}},
    {"attention.selection_chosen", {"attention.selection=moba"}},
    {"attention.selection_window", {"attention.selection=nsa"}},
    {"block.gated_width", {"block.activation=swiglu"}},
    {"block.gate_bias", {"block.connection=highway"}},
    {"mixer.convolution_bias", {"mixer.convolution=2"}},
    {"mixer.keys", {"mixer.decay=log_sigmoid"}},
    {"mixer.write", {"mixer.decay=softplus"}},
    {"mixer.gate_first", {"mixer.gate=silu", "mixer.output_norm=rms"}},
    {"position.shared", {"position.kind=kerple"}},
    {"position.combine", {"position.kind=sinusoidal", "position.width=2"}},
    {"position.width", {"position.kind=learned", "position.combine=concat"}},
    {"position.concat",
     {"position.kind=learned", "position.combine=concat", "position.width=2", "model.tied_embeddings=false"}},
};

// Options of the whole model that change what its blocks compute.
const std::set<std::string> of_models = {"model.registers",       "model.shared_layers", "model.embedding_norm",
                                         "model.embedding_scale", "model.layers",        "model.tied_embeddings"};

std::vector<std::string> values_of(const std::string& key) {
  if (const auto fitting = values_that_fit.find(key); fitting != values_that_fit.end()) return fitting->second;
  std::vector<std::string> out;
  for (const Value& value : test::other_values(*find_option(key))) {
    const auto* number = std::get_if<double>(&value);
    const bool is_tiny = number && *number > 0 && *number < 1e-3; // a bandwidth of 5e-324
    if (!is_tiny) out.push_back(value_text(value));
  }
  return out;
}

// Every word of every family of Transformers, and each other option of [mixer], [attention], [block] and [position].
std::vector<Choice> all_choices() {
  std::vector<Choice> out;
  std::set<std::string> families;
  for (const VariantFamily& family : layer_variant_families()) {
    const std::string key = family.table + "." + family.key;
    families.insert(key);
    if (family.table == "recurrent") continue;
    for (const Variant* variant : family.variants) {
      Choice choice{key, {{key + "=" + variant->name}}};
      for (const Option& option : variant->options) {
        const std::string own = fmt::format("{}.{}.{}", family.table, variant->name, option.name);
        for (const std::string& value : values_of(own))
          choice.assignments.push_back({key + "=" + variant->name, own + "=" + value});
      }
      out.push_back(std::move(choice));
    }
  }
  for (const std::string& key : all_keys()) {
    const std::string table = key.substr(0, key.rfind('.'));
    const bool counts = table == "attention" || table == "block" || table == "position" || table == "mixer" ||
                        of_models.contains(key);
    if (!counts || families.contains(key)) continue;
    Choice choice{key, {}};
    if (key == "attention.parameters") { // tables of the user's own parameters
      choice.assignments = {{"attention.parameters.slope.per=head", "attention.score_mod=s - slope * abs(i - j)"}};
      out.push_back(std::move(choice));
      continue;
    }
    for (const std::string& value : values_of(key)) {
      const auto with = needed.find(key);
      choice.assignments.push_back(with == needed.end() ? std::vector<std::string>{} : with->second);
      choice.assignments.back().push_back(key + "=" + value);
    }
    out.push_back(std::move(choice));
  }
  return out;
}

// ---- the laws -------------------------------------------------------------------------------------------------------

constexpr double tolerance = 1e-9;

// Options whose gradient is by definition not the derivative of the output.
bool has_differences(const LayerChoice& choice) {
  const NormalizerInfo& normalizer = normalizer_info(choice.attention.normalizer);
  return !normalizer.gradient_of || !normalizer.gradient_of(choice.normalizer_options);
}

// A model with a corner (ReLU, sparsemax, |q - k|) has no derivative there. With smaller steps, a corner between two
// points of a difference becomes unlikely; a gradient that is wrong stays wrong.
void check_gradient_of(TestModel& m) {
  if (!has_differences(m.config.layers[0]) || !has_differences(m.config.layers[0].for_cross_attention())) return;
  const Batch batch = m.batch({4, 2});
  GradientError found;
  for (const double step : {1e-4, 1e-5, 1e-6}) {
    found = gradient_error(
        m.weights, {},
        [&](Pass& pass, const std::vector<Tensor>&) {
          return cross_entropy(m.model->logits(pass, batch), batch.targets.data(), {.label_smoothing = 0.1});
        },
        step, 1e-8);
    if (found.worst <= 1e-8) break;
  }
  INFO("gradient: " << found.where);
  CHECK(found.worst <= 1e-8);
}

// Calls f(sequence, first entry, entries) for the tokens that a sequence has.
template <class F> void for_each_sequence_of(const TestModel& m, const Batch& batch, F&& f) {
  const bool writes = m.format == TaskFormat::sequence_to_sequence;
  const std::int64_t length = writes ? batch.output_length : batch.length;
  for (std::int64_t sequence = 0; sequence < batch.sequences; ++sequence) {
    const std::int64_t tokens = (writes ? batch.output_lengths : batch.lengths)[static_cast<std::size_t>(sequence)];
    if (m.format == TaskFormat::classification) f(sequence, sequence * m.sizes.classes, m.sizes.classes);
    else f(sequence, sequence * length * m.sizes.classes, tokens * m.sizes.classes);
  }
}

void check_padding(TestModel& m) {
  const Batch before = m.batch({2, 4, 1});
  Batch after = before;
  const auto exchange = [](std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& lengths,
                           std::int64_t length) {
    for (std::size_t sequence = 0; sequence < lengths.size(); ++sequence)
      for (std::int64_t t = lengths[sequence]; t < length; ++t)
        tokens[sequence * static_cast<std::size_t>(length) + static_cast<std::size_t>(t)] = 2;
  };
  exchange(after.tokens, after.lengths, after.length);
  exchange(after.outputs, after.output_lengths, after.output_length);
  REQUIRE(after.tokens != before.tokens);
  const std::vector<Real> a = m.logits(before), b = m.logits(after);
  INFO("padding");
  for_each_sequence_of(m, before, [&](std::int64_t, std::int64_t first, std::int64_t n) {
    CHECK(std::equal(a.begin() + first, a.begin() + first + n, b.begin() + first));
  });
}

// Without recording: the same bits. With an observer of the weights: the same up to rounding.
void check_passes(TestModel& m) {
  const Batch batch = m.batch({4, 3, 4});
  const std::vector<Real> expected = m.logits(batch);
  Tape tape;
  tape.record(false);
  Pass unrecorded = m.weights.pass(tape);
  INFO("without recording, or observed");
  CHECK(read(m.model->logits(unrecorded, batch)) == expected);
  KeptWeights kept;
  Pass observed = m.weights.pass(tape, {.observer = &kept});
  CHECK(distance(read(m.model->logits(observed, batch)), expected) < tolerance);
  CHECK(!kept.kept.empty());
}

void check_future(TestModel& m) {
  const auto is_causal = [](const LayerChoice& choice) {
    return choice.attention.causal && choice.attention.prefix <= 1;
  };
  const bool writes = m.format == TaskFormat::sequence_to_sequence;
  if (m.format == TaskFormat::classification || (!writes && !std::ranges::all_of(m.config.layers, is_causal))) return;
  if (writes && !std::ranges::all_of(m.config.decoder_layers, is_causal)) return;
  const Batch before = m.batch({4, 4, 4});
  Batch after = before;
  std::vector<std::int32_t>& tokens = writes ? after.outputs : after.tokens;
  for (std::size_t at = 0; at < tokens.size(); ++at)
    if (at % 4 >= 2) tokens[at] = (tokens[at] + 1) % 5;
  const std::vector<Real> a = m.logits(before), b = m.logits(after);
  INFO("later tokens");
  for (std::ptrdiff_t sequence = 0; sequence < 3; ++sequence) {
    const std::ptrdiff_t first = sequence * 4 * m.sizes.classes, n = 2 * m.sizes.classes;
    CHECK(std::equal(a.begin() + first, a.begin() + first + n, b.begin() + first));
  }
}

void check_decoding(TestModel& m) {
  if (m.format == TaskFormat::classification) return;
  Batch batch = m.batch({4, 4, 4});
  const std::vector<Real> whole = m.logits(batch);
  const std::vector<std::int32_t>& given = m.format == TaskFormat::sequence_to_sequence ? batch.outputs : batch.tokens;
  Tape tape;
  tape.record(false);
  Pass start = m.weights.pass(tape);
  const std::unique_ptr<Decoding> decoding = m.model->decoding(start, batch);
  if (!decoding) return;
  INFO("token by token");
  std::vector<std::int64_t> sequences = {0, 1, 2};
  for (std::int64_t t = 0; t < 4; ++t) {
    tape.rewind();
    if (t == 2) sequences = {2, 0, 0, 1};
    if (t == 2) decoding->select(sequences);
    std::vector<std::int32_t> tokens;
    std::vector<Real> expected;
    for (const std::int64_t sequence : sequences) {
      tokens.push_back(given[static_cast<std::size_t>(sequence * 4 + t)]);
      const auto at = whole.begin() + (sequence * 4 + t) * m.sizes.classes;
      expected.insert(expected.end(), at, at + m.sizes.classes);
    }
    Pass pass = m.weights.pass(tape);
    CHECK(distance(read(decoding->step(pass, tokens)), expected) < tolerance);
  }
}

// ---- the pairs ------------------------------------------------------------------------------------------------------

// The last word of an option's name: "gate" of attention.gate.
std::string last_word(const std::string& key) { return key.substr(key.rfind('.') + 1); }

bool is_of_mixers(const Choice& choice) { return choice.key.starts_with("mixer."); }
// Options of attention do nothing in a recurrence.
bool fit(const Choice& a, const Choice& b) {
  const auto is_of_attention = [](const Choice& choice) { return choice.key.starts_with("attention."); };
  return a.key != b.key && !(is_of_mixers(a) && is_of_attention(b)) && !(is_of_mixers(b) && is_of_attention(a));
}

struct Count {
  int obeyed = 0, refused = 0;
};

// Draws a setup of each of the two and a model; `try_number` gives another one.
void try_pair(const Choice& a, const Choice& b, std::uint64_t pair, std::uint64_t try_number, Count& count) {
  RandomSource random({pair, Stream::test, try_number});
  const auto any_of = [&](const auto& list) { return list[random.below(static_cast<std::uint64_t>(list.size()))]; };
  const std::vector<std::string> kinds = {"decoder", "decoder", "encoder", "encoder_decoder"};
  // On the first try, a variant has its default options.
  const auto setup = [&](const Choice& choice) {
    return try_number ? any_of(choice.assignments) : choice.assignments[0];
  };
  std::vector<std::string> assignments = setup(a);
  for (const std::string& more : setup(b)) assignments.push_back(more);
  const bool has_recurrence = is_of_mixers(a) || is_of_mixers(b);
  const bool has_kind = a.key == "mixer.kind" || b.key == "mixer.kind";
  if (has_recurrence && !has_kind) assignments.push_back("mixer.kind=recurrence");
  assignments.push_back("model.kind=" + (has_recurrence ? "decoder" : any_of(kinds)));
  INFO(listed(assignments));
  std::unique_ptr<TestModel> m;
  try {
    m = std::make_unique<TestModel>(assignments);
  } catch (const Refused& refused) { // by the configuration: what it allows can be built
    const std::string why = refused.what();
    INFO(why);
    const auto names = [&](const std::string& assignment) {
      const std::size_t equals = assignment.find('=');
      const std::string value = assignment.substr(equals + 1);
      return why.find(last_word(assignment.substr(0, equals))) != std::string::npos ||
             (value.size() > 4 && value != "false" && why.find(value) != std::string::npos);
    };
    CHECK(std::ranges::any_of(assignments, names));
    ++count.refused;
    return;
  }
  ++count.obeyed;
  check_gradient_of(*m);
  check_padding(*m);
  check_passes(*m);
  check_future(*m);
  check_decoding(*m);
}

} // namespace

TEST_CASE("each exclusion refuses its combination, with its reason", "[model][pairs]") {
  const std::map<std::string, std::string> of_cross = {{"attention.normalizer", "attention.cross_normalizer"},
                                                       {"attention.projection", "attention.cross_projection"},
                                                       {"attention.mask_mod", "attention.cross_mask_mod"}};
  for (const Exclusion& exclusion : exclusions()) {
    std::vector<std::string> assignments = {"model.kind=decoder"};
    std::vector<std::string> chosen;
    const bool of_other = exclusion.of == Exclusion::Of::other_attention;
    if (of_other) assignments = {"model.kind=encoder_decoder"};
    for (const OptionCondition& c : exclusion.where) {
      const bool any = c.words.front() == OptionCondition::anything;
      if (any && c.unless) continue; // the default
      std::string value = c.words.front();
      if (any) value = values_of(c.on).front();
      if (c.unless) { // the first other one
        const std::vector<std::string> all = values_of(c.on);
        value = *std::ranges::find_if(all, [&](const std::string& other) {
          return std::ranges::none_of(c.words, [&](const std::string& word) {
            return other == word || other == value_text(Value(word));
          });
        });
      }
      if (const auto more = needed.find(c.on); more != needed.end())
        assignments.insert(assignments.end(), more->second.begin(), more->second.end());
      const auto cross = of_cross.find(c.on);
      chosen.push_back((of_other && cross != of_cross.end() ? cross->second : c.on) + "=" + value);
    }
    assignments.insert(assignments.end(), chosen.begin(), chosen.end());
    INFO(listed(assignments));
    CHECK_THROWS_AS(TestModel(assignments), Refused);
    CHECK_THROWS_WITH(TestModel(assignments), Catch::Contains(exclusion.why));
  }
}

TEST_CASE("pairs of choices from all families obey the laws of models, or are refused", "[model][contract][pairs]") {
  const std::vector<Choice> choices = all_choices();
  for (const Choice& choice : choices) {
    INFO(choice.key);
    REQUIRE(!choice.assignments.empty());
  }
#ifdef HEED_INSTRUMENTED
  constexpr std::uint64_t one_in = 8, usual = 1;
#else
  constexpr std::uint64_t one_in = 1, usual = 3;
#endif
  const std::uint64_t tries = (std::getenv("HEED_LONG") ? 10 : 1) * usual;
  Count count;
  std::uint64_t pair = 0;
  const auto is_wanted = [](const Choice& choice) {
    return std::ranges::any_of(choice.assignments, [](const auto& setup) {
      return std::ranges::any_of(setup, [](const std::string& a) { return wanted(a.substr(a.find('=') + 1)); });
    });
  };
  for (std::size_t i = 0; i < choices.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (fit(choices[i], choices[j]) && ++pair % one_in == 0 && (is_wanted(choices[i]) || is_wanted(choices[j])))
        for (std::uint64_t t = 0; t < tries; ++t) try_pair(choices[j], choices[i], pair, t, count);
  INFO(count.obeyed << " obeyed, " << count.refused << " refused");
  CHECK(count.obeyed > 2 * count.refused);
  CHECK(count.obeyed > (std::getenv("HEED_VARIANTS") ? 10 : 100));
}
