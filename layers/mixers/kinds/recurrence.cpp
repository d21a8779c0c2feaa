#include "layers/mixers/recurrence.hpp"

namespace heed::HEED_REAL {

extern const MixerInfo mixer_recurrence = recurrence_kind(
    {.name = "recurrence",
     .summary = "S_t = S_(t-1) + k_t v_t^T, o_t = S_t^T q_t / sqrt(width of a key), with nothing else: each "
                "further part is an option of [mixer]",
     .equals = "attention with score = \"scaled_dot\" and normalizer = \"none\"",
     .cost = "width^2 parameters for each of the four maps; 4 K V operations for each token and head with "
             "keys of width K and values of width V, whatever the length"});

} // namespace heed::HEED_REAL
