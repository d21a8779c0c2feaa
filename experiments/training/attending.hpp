// The attention weights of a model at work on one input.
#pragma once

#include "experiments/training/attention_example.hpp"
#include "experiments/training/run_model.hpp"

#include <span>

namespace heed::HEED_REAL {

/// Runs the model, with dropout off, on one input, and tells every head's weights, entropy and distance (as
/// inspect_model defines them). Where an attention is called step by step, its steps are stacked to one map.
///
/// Axes: self attention has the tokens that are read on both; in sequence_to_sequence, attention to the input has the
/// input's tokens as keys and, as queries, the token that each step puts out, the end included. Pooling has one query
/// of its own, "<query>". Patches are called "row,column", from 0.
///
/// A decoder that reads outputs is given the request's, or else what it finds greedily. Throws heed::Refused for an
/// input that can't be read (an unknown word, an empty or too long one, an output where there is none to give), and for
/// a model without attention; heed::Failed where weights and tokens don't fit together.
AttentionExample attend(const Task& task, RunModel& run, const AttentionRequest& request);

} // namespace heed::HEED_REAL
