// Computes the attention weights of a trained model for one input.
#pragma once

#include "experiments/training/attention_example.hpp"
#include "experiments/training/run_model.hpp"

namespace heed::HEED_REAL {

/// The number in "row 3", an input that stands for an image of the validation split. Throws heed::Refused for any other
/// text and for an image that does not exist. @param images  the number of the split's images
std::int64_t image_index(const std::string& text, std::int64_t images);

/// Runs the model, without dropout, on one input. Returns the weights, the entropy and the distance of every head
/// (inspect_model defines them). If an attention is called once per step, the rows of all steps are stacked into one
/// map.
///
/// Axes: self attention has the tokens that the model reads on both axes. In sequence_to_sequence, attention to the
/// input has the input tokens as keys. Its queries are named after the token that each step outputs, including the end
/// token. Pooling has one query of its own, "<query>". Image patches are named "row,column", counted from 0.
///
/// A decoder that reads outputs gets the output of the request. Without one, it gets the output that greedy decoding
/// finds. Throws heed::Refused if the input can't be read (an unknown word, an empty or too long input, an output for a
/// task without outputs), and if the model has no attention. Throws heed::Failed if weights and tokens do not match in
/// number.
AttentionExample attend(const Task& task, RunModel& run, const AttentionRequest& request);

} // namespace heed::HEED_REAL
