// Which parameters weight decay pulls towards 0: every parameter of every variant stands in a list here.
#include "experiments/config/config.hpp"
#include "tests/experiments/models/small_model.hpp"

#include <map>
#include <set>
#include <sstream>

using namespace heed;
using namespace heed::f32;

namespace {

// What a name ends in says what a parameter is, whichever model and block it is in.
const std::vector<std::string> decaying = {
    // linear maps and convolutions
    "qkv.weight", "query.weight", "key.weight", "key_value.weight", "value.weight", "output.weight", "expand.weight",
    "project.weight", "projection.weight", "readout.weight", "input.weight", "keys.weight", "hidden.weight",
    "patches.weight", "enter.weight", "refine.weight", "attention_gate.weight", "cross_attention_gate.weight",
    "ffn_gate.weight",
    // recurrences
    "recurrent.weight",
    // tables of vectors
    "embedding.weight", "output_embedding.weight", "position.weight", "position.keys", "position.values",
    // scores' matrices
    "score.weight", "score.query", "score.key"};
const std::vector<std::string> left_alone = {
    // biases, and gains of norms
    "bias", "attention_norm.weight", "cross_attention_norm.weight", "ffn_norm.weight", "final_norm.weight",
    "enter_norm.weight", "refine_norm.weight", "attention_norm_behind.weight", "cross_attention_norm_behind.weight",
    "ffn_norm_behind.weight", "query_norm.weight", "key_norm.weight",
    // what a residual connection is scaled by
    "attention_scale", "cross_attention_scale", "ffn_scale",
    // what a normaliser learns
    "normalizer.alpha",
    // maps between heads, of which the identity changes nothing
    "talking_heads.scores", "talking_heads.weights",
    // numbers that a position's formula has
    "position.amount", "position.shape",
    // what a score weighs features or sums with, and its scales and temperatures
    "score.v", "score.scale", "score.temperature", "score.concat_score_weight",
    // what a prediction of a place is weighed with, and a learned query
    "height.weight", "pooling.query"};

// Ends the name so, in whole parts? "ffn.project.weight" ends in "project.weight".
bool ends_in(const std::string& name, const std::string& end) { return ("." + name).ends_with("." + end); }

// The longest of the ends that fit; empty where none does.
std::string end_of(const std::string& name, const std::vector<std::string>& ends) {
  std::string best;
  for (const std::string& end : ends)
    if (ends_in(name, end) && end.size() > best.size()) best = end;
  return best;
}

// All parameters of all models that change one option of the kind's (or what a variant has of it): name, does it decay.
std::map<std::string, bool> all_parameters() {
  std::map<std::string, bool> out;
  const auto take = [&](std::vector<std::string> assignments, const std::string& kind) {
    assignments.insert(assignments.begin(), "model.kind=" + kind);
    if (kind == "patches") assignments.emplace_back("model.patches.patch=2");
    try {
      const SmallModel m(assignments);
      for (const auto& e : m.weights.parameters.entries()) {
        INFO(e.name);
        const bool decays = e.decay == WeightDecay::yes;
        CHECK(out.try_emplace(e.name, decays).first->second == decays);
      }
    } catch (const Refused&) {
    } catch (const Failed&) {
    }
  };
  const auto chosen = [&](const std::string& key) { // the choice that a variant's own option needs
    std::vector<std::string> choices;
    for (const FamilyPlace& place : family_places())
      for (const Variant* v : place.family.variants)
        if (place.key != "model.kind" && key.starts_with(full_name(place.family.table, v->name) + "."))
          choices.push_back(place.key + "=" + v->name);
    return choices;
  };
  for (const std::string& kind : find_option("model.kind")->words) {
    std::vector<std::vector<std::string>> bases = {{}};
    if (find_option("model." + kind + ".pooling")) bases.push_back({"model." + kind + ".pooling=context"});
    if (kind == "recurrent") bases.push_back({"recurrent.attention=luong", "recurrent.reach=local_p"});
    for (const auto& base : bases) {
      take(base, kind);
      for (const std::string& key : all_keys())
        for (const std::string table : {"model.", "position.", "block.", "attention.", "recurrent."})
          if (key.starts_with(table) && key != "model.kind" && key != "model.width")
            for (const Value& value : test::other_values(*find_option(key))) {
              std::vector<std::string> assignments = base;
              for (const std::string& choice : chosen(key)) assignments.push_back(choice);
              assignments.push_back(key + "=" + value_text(value));
              take(assignments, kind);
            }
    }
  }
  return out;
}

} // namespace

TEST_CASE("every parameter of every variant says whether it decays, and matrices alone do", "[models][decay]") {
  const std::map<std::string, bool> parameters = all_parameters();
  CHECK(parameters.size() > 100);
  std::set<std::string> used;
  for (const auto& [name, decays] : parameters) {
    INFO(name << (decays ? " decays" : " doesn't decay")
              << ". A new parameter belongs into one of this file's lists: pulled are weights of maps and tables");
    const std::string yes = end_of(name, decaying), no = end_of(name, left_alone);
    CHECK(decays == (yes.size() > no.size()));
    CHECK((!yes.empty() || !no.empty()));
    used.insert(decays ? yes : no);
  }
  for (const auto& list : {decaying, left_alone})
    for (const std::string& end : list) {
      INFO("no parameter ends in " << end);
      CHECK(used.contains(end));
    }
}
