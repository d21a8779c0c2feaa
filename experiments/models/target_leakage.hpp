// Checks whether the masks of a language model let it attend to the tokens that it must predict.
#pragma once

#include "autograd/real.hpp"
#include "experiments/config/config.hpp"
#include "experiments/tasks/task.hpp"

#include <string>

namespace heed::HEED_REAL {

/// The reason why a language model can see a token that it must predict, in terms of options: "attention.causal =
/// false", "attention.prefix = 12 in block 1". Empty if it sees none, or if it is not trained.
///
/// Position i predicts token i + 1. It sees its own token and, through each block, the tokens that the block's mask
/// lets it reach: the tokens seen by the positions that it may attend to. The mask consists of causal, prefix, window,
/// dilation, and mask_mod with the initial values of its parameters; a position is reachable if any head allows it.
/// Only positions at which a sequence of the validation split has a target count. The model is not executed. In long
/// sequences, only the first 1024 positions are checked, with mask_mod the first 256. Encoders and encoder-decoders
/// never see their targets: the targets are not in their input, or they are masked.
std::string target_leakage(const Config& config, const Task& task);

} // namespace heed::HEED_REAL
