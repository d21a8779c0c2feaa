#include "layers/attention/part.hpp"

namespace heed::HEED_REAL {

namespace {

struct Options {
  std::int64_t persistent_keys = 0;
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("persistent_keys", &Options::persistent_keys,
             "Number of learned keys and values of each head of self attention, in addition to those of the sequence. "
             "Every "
             "query sees them, and they have no position; rotary positions still rotate the query (persistent memory).")
          .between(0, 1048576)
          .unit("keys")
          .default_means("0: only the sequence's"));
  return t;
}

/// Learned keys and values, [count, heads * width] each (`persistent_keys`, `persistent_values`).
class PersistentKeys final : public AttentionPart {
public:
  PersistentKeys(const Scope& scope, const PartSizes& sizes, std::int64_t count)
      : count_(count),
        keys_(scope.vectors("persistent_keys", {count, sizes.key_heads * sizes.query_width}, Init::normal(1))),
        values_(scope.vectors("persistent_values", {count, sizes.value_heads * sizes.value_width}, Init::normal(1))) {}

  std::int64_t learned_key_count() const override { return count_; }
  Projected learned_keys(Pass& pass) const override { return {.k = pass(keys_), .v = pass(values_)}; }

private:
  std::int64_t count_;
  ParameterId keys_, values_;
};

void vectors(PartSequence& sequence) {
  const std::int64_t count = table().read(sequence.choice->part_options).persistent_keys;
  const auto put_first = [count](std::vector<std::vector<Real>>& vectors, const Real* learned) {
    const auto width = std::ssize(vectors.front());
    for (std::int64_t n = count - 1; n >= 0; --n)
      vectors.emplace(vectors.begin(), learned + n * width, learned + (n + 1) * width);
  };
  put_first(sequence.k, sequence.parameters[0]);
  put_first(sequence.v, sequence.parameters[1]);
}

} // namespace

extern const AttentionPartInfo attention_part_persistent_keys{
    .about = {.name = "persistent_keys",
              .summary =
                  "each head has learned keys and values in addition to those of the sequence, which every query sees",
              .paper = "Sukhbaatar et al. 2019, arXiv 1907.01470 (persistent memory)",
              .cost = "two vectors of parameters for each key and head; as many more keys",
              .options = table().options()},
    .place = AttentionPartInfo::Place::self_attention,
    .make = [](const Scope& scope, const PartSizes& sizes,
               const LayerChoice& choice) -> std::unique_ptr<AttentionPart> {
      return std::make_unique<PersistentKeys>(scope, sizes, table().read(choice.part_options).persistent_keys);
    },
    .loops = {.vectors = vectors},
    .adds_keys = true};

} // namespace heed::HEED_REAL
