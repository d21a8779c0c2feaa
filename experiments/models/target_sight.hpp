// Whether a model's masks let it see the tokens that it is to predict.
#pragma once

#include "autograd/real.hpp"
#include "experiments/config/config.hpp"
#include "experiments/tasks/task.hpp"

#include <string>

namespace heed::HEED_REAL {

/// Why a language model sees a token that it is to predict, as the options say it: "attention.causal = false",
/// "attention.prefix = 12 in block 1"; empty where it sees none, or is not trained.
///
/// Position i predicts token i + 1 and reads the tokens that reach it: its own, and through each block those that
/// reached the positions that the block's mask lets i attend to (causal, prefix, window, dilation, and mask_mod with what
/// its numbers start with; any head's). Only positions count that rows of the validation split have a target at. The
/// model doesn't run. Of long rows, the first 1024 positions are looked at, with mask_mod the first 256.
/// Encoders and encoder-decoders see nothing that they predict: their targets are not in what they read, or are masked.
std::string target_sight(const Config& config, const Task& task);

} // namespace heed::HEED_REAL
