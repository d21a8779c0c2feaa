// Tests of the effect of [init] and of the bias options on every kind of model: which parameters exist, and how each
// one is initialised. A parameter's values follow from its Init, its name and the seed, so equal Inits give equal bits.
#include "tests/experiments/models/model_support.hpp"

#include "tests/catch.hpp"

#include <map>

using namespace heed;
using namespace heed::f32;

namespace {

const std::vector<std::string> kinds = {"decoder",   "encoder",           "encoder_decoder",     "patches",
                                        "recurrent", "recurrent_decoder", "recurrent_classifier"};

TaskSizes sizes_for(TaskFormat format) {
  if (format == TaskFormat::image_classification) return {.classes = 40, .image = {3, 16, 16}};
  if (format == TaskFormat::sequence_to_sequence)
    return {.vocabulary = 50, .length = 20, .classes = 60, .output_length = 24, .begin = 58, .end = 59};
  return {.vocabulary = 50, .length = 20, .classes = format == TaskFormat::language_model ? 50 : 40};
}

struct Made {
  Config config;
  Parameters parameters;
  std::map<std::string, Parameters::Entry> all;

  Made(const std::string& kind, std::vector<std::string> assignments)
      : config(test::config("[model]\nkind = \"" + kind + "\"\nwidth = 64\ninit_std = 0.03\n", assignments)) {
    const ModelInfo& info = model_info(kind);
    info.make(Scope(parameters, init_rules(config)), config, sizes_for(info.format));
    for (const auto& e : parameters.entries()) all.emplace(e.name, e);
  }
};

bool named(const std::string& name, const std::string& part) { return name.find(part) != std::string::npos; }

// The role of a parameter, by its name. These are all the names in models with default scores.
enum class Sort { embedding, position, map, bias, norm, head, head_bias, cell, cell_bias, score, own };
Sort sort_of(const std::string& name, const std::string& kind) {
  const bool bias = name.ends_with(".bias");
  if (name.starts_with("output.")) return bias ? Sort::head_bias : Sort::head;
  if (named(name, "norm.")) return Sort::norm;
  if (named(name, "embedding.weight")) return Sort::embedding;
  if (name.starts_with("position.") || named(name, ".position."))
    return named(name, "projection") ? Sort::map : Sort::position;
  if (named(name, ".score.")) return Sort::score;
  if (named(name, ".layers.") && kind.starts_with("recurrent")) return bias ? Sort::cell_bias : Sort::cell;
  if (name == "pooling.query") return Sort::own;
  return bias ? Sort::bias : Sort::map;
}

bool ends_branch(const std::string& name) { return named(name, "attention.output.") || named(name, "ffn.project."); }
// Layers whose linear maps have a different initialisation by default.
bool starts_by_itself(const std::string& name) {
  return named(name, "readout.") || named(name, ".place.") || named(name, "pooling.keys.");
}

bool same(const Init& a, const Init& b) {
  return a.kind == b.kind && a.a == Approx(b.a).epsilon(1e-12) && a.first == 0;
}

const std::map<std::string, std::vector<std::string>> variants = {
    {"decoder", {"position.kind=learned", "model.tied_embeddings=false", "attention.score=additive"}},
    {"encoder", {"position.kind=shaw", "model.encoder.pooling=context"}},
    {"encoder_decoder", {"model.tied_embeddings=false", "position.kind=learned", "position.combine=concat"}},
    {"patches", {"model.patches.stem=convolution"}},
    {"recurrent", {"recurrent.reach=local_p"}},
    {"recurrent_decoder", {}},
    {"recurrent_classifier", {}}};

} // namespace

TEST_CASE("without [init], everything starts as it did before there was one", "[model][init]") {
  for (const std::string& kind : kinds) {
    const Made m(kind, variants.at(kind));
    const double scaled = 0.03 / std::sqrt(2.0 * 2); // two layers
    for (const auto& [name, e] : m.all) {
      INFO(kind << ": " << name);
      switch (sort_of(name, kind)) {
        case Sort::embedding:
        case Sort::position:
        case Sort::head: CHECK(same(e.init, Init::normal(0.03))); break;
        case Sort::map:
          if (starts_by_itself(name)) CHECK(e.init.kind == Init::Kind::uniform);
          else CHECK(same(e.init, Init::normal(ends_branch(name) ? scaled : 0.03)));
          break;
        case Sort::bias:
        case Sort::cell_bias:
        case Sort::head_bias: CHECK(same(e.init, Init::zeros())); break;
        case Sort::norm: CHECK(same(e.init, name.ends_with("bias") ? Init::zeros() : Init::constant(1))); break;
        case Sort::cell:
        case Sort::own:
        case Sort::score: CHECK(e.init.kind == Init::Kind::uniform); break;
      }
    }
  }
}

TEST_CASE("each kind of parameter starts as its own option says, in every model", "[model][init]") {
  for (const std::string& kind : kinds) {
    const Made before(kind, variants.at(kind));
    const auto has = [&](Sort sort) {
      for (const auto& [name, e] : before.all)
        if (sort_of(name, kind) == sort) return true;
      return false;
    };
    const std::vector<std::pair<std::string, Sort>> options = {{"init.embedding", Sort::embedding},
                                                               {"init.position", Sort::position},
                                                               {"init.linear", Sort::map},
                                                               {"init.head", Sort::head}};
    for (const auto& [option, sort] : options)
      for (const std::string word : {"xavier_uniform", "xavier_normal", "torch", "0.4"}) {
        auto assignments = variants.at(kind);
        assignments.push_back(option + "=" + word);
        INFO(kind << ": " << option << " = " << word);
        // An option without an effect is refused.
        const std::string refused = test::refusal([&] { Made(kind, assignments); });
        CHECK(refused.empty() == has(sort));
        if (!refused.empty()) continue;
        const Made after(kind, assignments);
        CHECK(after.all.size() == before.all.size());
        for (const auto& [name, e] : after.all) {
          INFO(name);
          const Init old = before.all.at(name).init;
          const bool map_bias = (sort == Sort::map && sort_of(name, kind) == Sort::bias) ||
                                (sort == Sort::head && sort_of(name, kind) == Sort::head_bias);
          if (sort_of(name, kind) != sort && !map_bias) {
            CHECK(same(e.init, old));
            continue;
          }
          // Fan-in and fan-out by the shape: rows are outputs; the kernel size of image convolutions counts.
          const double pixels = e.shape.rank == 4 ? static_cast<double>(e.shape[2] * e.shape[3]) : 1;
          double in = static_cast<double>(e.shape[e.shape.rank == 4 ? 1 : -1]) * pixels;
          const std::int64_t rows = e.shape.rank == 4 ? e.shape[0] : e.shape.rank == 1 ? 0 : e.shape[-2];
          double out = static_cast<double>(rows) * pixels;
          if (named(name, "qkv")) out /= 3;
          if (map_bias) {
            if (word != "torch") CHECK(same(e.init, Init::zeros()));
            else {
              const Parameters::Entry& weight = after.all.at(name.substr(0, name.size() - 4) + "weight");
              CHECK(same(e.init, Init::uniform(weight.init.a)));
            }
            continue;
          }
          const Init found{e.init.kind, e.init.a};
          if (e.init.first > 0) CHECK(e.init.b == Approx(e.init.a)); // all heads have the same width
          if (word == "xavier_uniform") CHECK(same(found, Init::uniform(std::sqrt(6 / (in + out)))));
          if (word == "xavier_normal") CHECK(same(found, Init::normal(std::sqrt(2 / (in + out)))));
          const bool vectors = sort == Sort::embedding || sort == Sort::position;
          if (word == "torch") CHECK(same(found, vectors ? Init::normal(1) : Init::uniform(1 / std::sqrt(in))));
          const bool scaled = sort == Sort::map && ends_branch(name);
          if (word == "0.4") CHECK(same(found, Init::normal(scaled ? 0.2 : 0.4)));
        }
      }
  }
}

TEST_CASE("joint fans are those of queries, keys and values together", "[model][init]") {
  const Made m("encoder_decoder", {"init.linear=xavier_uniform", "init.qkv=joint"});
  const auto bound = [&](const std::string& name) { return m.all.at(name).init.a; };
  const double all = std::sqrt(6.0 / (4 * 64)); // torch.nn.MultiheadAttention's in_proj_weight is [3 width, width]
  CHECK(bound("encoder.blocks.0.attention.qkv.weight") == Approx(all));
  for (const std::string name : {"query", "key", "value"})
    CHECK(bound("decoder.blocks.1.cross_attention." + name + ".weight") == Approx(all));
  CHECK(bound("decoder.blocks.1.cross_attention.output.weight") == Approx(std::sqrt(6.0 / (2 * 64))));
}

TEST_CASE("biases are there where their options say so", "[model]") {
  const auto has = [](const std::string& kind, const std::vector<std::string>& assignments, const std::string& name) {
    const Made m(kind, assignments);
    return m.all.contains(name);
  };
  // The bias of the output layer: by default, classifiers and recurrent models have one.
  for (const std::string& kind : kinds) {
    INFO(kind);
    const bool usual = kind != "decoder" && kind != "encoder_decoder";
    CHECK(has(kind, {}, "output.bias") == usual);
    CHECK(has(kind, {"model.head_bias=yes"}, "output.bias"));
    CHECK_FALSE(has(kind, {"model.head_bias=no"}, "output.bias"));
  }
  CHECK(has("decoder", {"model.tied_embeddings=false", "model.head_bias=yes"}, "output.bias"));
  CHECK_FALSE(has("decoder", {"model.head_bias=yes"}, "output.weight"));
  // Inside blocks, block.bias sets the biases of the feed-forward layer and of modules with "same".
  const std::vector<std::pair<std::string, std::vector<std::string>>> own = {
      {"attention.qkv_bias",
       {"encoder.blocks.0.attention.qkv.bias", "decoder.blocks.1.cross_attention.query.bias",
        "decoder.blocks.1.cross_attention.key.bias", "decoder.blocks.1.cross_attention.value.bias"}},
      {"attention.output_bias",
       {"encoder.blocks.0.attention.output.bias", "decoder.blocks.1.cross_attention.output.bias"}},
      {"block.norm_bias",
       {"encoder.blocks.0.ffn_norm.bias", "decoder.blocks.1.cross_attention_norm.bias", "encoder.final_norm.bias",
        "decoder.final_norm.bias"}}};
  for (const bool rest : {true, false})
    for (const auto& [chosen, unused] : own)
      for (const std::string word : {"same", "yes", "no"}) {
        const Made m("encoder_decoder", {std::string("block.bias=") + (rest ? "true" : "false"), chosen + "=" + word});
        INFO(chosen << " = " << word << " with block.bias = " << rest);
        CHECK(m.all.contains("decoder.blocks.0.ffn.expand.bias") == rest);
        for (const auto& [option, names] : own)
          for (const std::string& name : names) {
            INFO(name);
            CHECK(m.all.contains(name) == (option != chosen || word == "same" ? rest : word == "yes"));
          }
      }
}

TEST_CASE("a tied head's bias is added to the logits", "[model]") {
  const std::vector<std::string> with = {"model.head_bias=yes"};
  TestModel plain({}), biased(with);
  for (const auto& e : plain.weights.parameters.entries()) {
    const Real* from = plain.weights.parameters.values() + e.offset;
    biased.weights.set(e.name, {from, from + e.shape.size()});
  }
  biased.weights.set("output.bias", {1, -2, 3, -4, 5});
  const Batch batch = plain.batch({4, 2});
  const std::vector<Real> before = plain.logits(batch), after = biased.logits(batch);
  const Real bias[] = {1, -2, 3, -4, 5};
  for (std::size_t i = 0; i < before.size(); ++i) CHECK(after[i] == Approx(before[i] + bias[i % 5]).margin(1e-5));
}
