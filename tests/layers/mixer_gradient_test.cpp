// Gradients of recurrent mixers by their inputs and parameters, compared with finite differences in double.
#include "tests/layers/mixer_support.hpp"
#include "tests/layers/module_check.hpp"

using namespace heed;
using namespace heed::HEED_REAL;

TEST_CASE("every recurrence has the right gradient", "[mixer][gradient]") {
  std::vector<std::int32_t> numbers;
  for (std::int32_t t = 0; t < 40; ++t) numbers.push_back(t / 6);
  const auto word = [](const char* text) { return Value(std::string(text)); };
  std::vector<std::pair<std::string, std::map<std::string, Value>>> cases;
  for (const std::string& kind : recurrences()) cases.emplace_back(kind, std::map<std::string, Value>{});
  for (const FeatureInfo* info : features())
    if (info->about.name != "relu" && info->about.name != "dpfp") // not smooth
      cases.emplace_back("recurrence", std::map<std::string, Value>{{"mixer.feature", word(info->about.name.c_str())},
                                                                    {"mixer.query_key_norm", word("l2")}});
  cases.emplace_back("gla", std::map<std::string, Value>{{"mixer.keys", word("complement")}});
  cases.emplace_back("gdn2", std::map<std::string, Value>{{"mixer.range", word("-1..1")}});
  cases.emplace_back("gdn2", std::map<std::string, Value>{{"mixer.steps", std::int64_t{3}}});
  cases.emplace_back("delta_net", std::map<std::string, Value>{{"mixer.decay", word("softplus")},
                                                               {"mixer.write", word("step")},
                                                               {"mixer.write_gate", word("head")}});
  for (const auto& [kind, changes] : cases)
    for (const bool segmented : {false, true}) {
      Weights weights;
      const LayerChoice choice = choice_of(kind, changes);
      const auto mixer = mixer_info(kind).make(weights.scope(), choice, {.width = 8, .heads = 2, .longest = 40},
                                               Init::normal(0.5));
      weights.fill(3, {-0.6, 0.8});
      const Mask mask{.query_segments = {segmented ? numbers.data() : nullptr, 20}};
      // elu has a corner in its derivative; with a smaller step, it is rarely between two points of a difference.
      GradientError error;
      for (const double step : {1e-3, 1e-5}) {
        error = gradient_error(
            weights, {Operand({2, 19, 8}, 5, {-1, 1})},
            [&](Pass& pass, const std::vector<Tensor>& x) { return (*mixer)(pass, x[0], mask); }, step, 1e-7);
        if (error.worst < 1e-7) break;
      }
      INFO(kind << ", " << (changes.empty() ? "" : changes.begin()->first) << ": " << error.where);
      CHECK(error.worst < 1e-7);
    }
}
