// Token-by-token decoding for every model that predicts tokens, including models without a decoding of their own.
#pragma once

#include "experiments/models/model.hpp"

namespace heed::HEED_REAL {

/// The model's own decoding. If the model has none, a decoding that recomputes all logits of a row for every token. The
/// model must outlive the returned object. Throws heed::Failed for a form without an output to decode.
std::unique_ptr<Decoding> start_decoding(const Model& model, Pass& pass, const Batch& batch);

/// A decoding that recomputes all logits of a row for every token, even if the model has a decoding of its own.
std::unique_ptr<Decoding> reread(const Model& model, const Batch& batch);

} // namespace heed::HEED_REAL
