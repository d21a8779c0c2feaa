// Decoding of any model that puts out tokens.
#pragma once

#include "experiments/models/model.hpp"

namespace heed::HEED_REAL {

/// The model's own decoding, or, where it has none, one that computes all of a row's logits anew for every token. The
/// model must outlive it. Throws heed::Failed for a form that has no output to decode.
std::unique_ptr<Decoding> start_decoding(const Model& model, Pass& pass, const Batch& batch);

/// The latter, whether or not the model has its own.
std::unique_ptr<Decoding> reread(const Model& model, const Batch& batch);

} // namespace heed::HEED_REAL
