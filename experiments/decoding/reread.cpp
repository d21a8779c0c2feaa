#include "experiments/decoding/reread.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

namespace {

/// Selects rows `parents` of [rows, width] values.
void select_rows(std::vector<std::int32_t>& numbers, std::int64_t width, std::span<const std::int64_t> parents) {
  std::vector<std::int32_t> out;
  out.reserve(parents.size() * static_cast<std::size_t>(width));
  for (const std::int64_t parent : parents)
    out.insert(out.end(), numbers.begin() + parent * width, numbers.begin() + (parent + 1) * width);
  numbers = std::move(out);
}

class Reread : public Decoding {
public:
  Reread(const Model& model, const Batch& batch) : model_(model), batch_(batch) {
    if (batch.form != TaskFormat::sequence_to_sequence && batch.form != TaskFormat::language_model)
      throw Failed("[decoding] the model gives a class, and no tokens");
    own_tokens_ = batch.form == TaskFormat::language_model;
    (own_tokens_ ? batch_.tokens : batch_.outputs).clear();
    (own_tokens_ ? batch_.lengths : batch_.output_lengths).assign(static_cast<std::size_t>(batch.rows), 0);
    (own_tokens_ ? batch_.length : batch_.output_length) = 0;
  }

  Tensor step(Pass& pass, std::span<const std::int32_t> tokens) override {
    std::vector<std::int32_t>& read = own_tokens_ ? batch_.tokens : batch_.outputs;
    std::int64_t& length = own_tokens_ ? batch_.length : batch_.output_length;
    std::vector<std::int32_t> longer;
    for (std::int64_t r = 0; r < batch_.rows; ++r) {
      longer.insert(longer.end(), read.begin() + r * length, read.begin() + (r + 1) * length);
      longer.push_back(tokens[static_cast<std::size_t>(r)]);
    }
    read = std::move(longer);
    ++length;
    std::ranges::fill(own_tokens_ ? batch_.lengths : batch_.output_lengths, static_cast<std::int32_t>(length));
    batch_.targets.assign(read.size(), ignored);
    const Tensor all = model_.logits(pass, batch_);
    return reshape(contiguous(slice(all, 1, length - 1, 1)), {batch_.rows, all.shape[2]});
  }

  void select(std::span<const std::int64_t> parents) override {
    if (!own_tokens_) {
      select_rows(batch_.tokens, batch_.length, parents);
      select_rows(batch_.lengths, 1, parents);
      select_rows(batch_.outputs, batch_.output_length, parents);
      select_rows(batch_.output_lengths, 1, parents);
    } else {
      select_rows(batch_.tokens, batch_.length, parents);
      select_rows(batch_.lengths, 1, parents);
    }
    batch_.rows = std::ssize(parents);
  }

private:
  const Model& model_;
  Batch batch_;
  bool own_tokens_ = false; // true: new tokens are appended to batch_.tokens; false: to batch_.outputs
};

} // namespace

std::unique_ptr<Decoding> reread(const Model& model, const Batch& batch) {
  return std::make_unique<Reread>(model, batch);
}

std::unique_ptr<Decoding> start_decoding(const Model& model, Pass& pass, const Batch& batch) {
  std::unique_ptr<Decoding> own = model.decoding(pass, batch);
  return own ? std::move(own) : reread(model, batch);
}

} // namespace heed::HEED_REAL
