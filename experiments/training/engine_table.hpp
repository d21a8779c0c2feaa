// Each precision's engine.
#pragma once

#include "experiments/training/training.hpp"

namespace heed {
namespace f32 {
const Engine& engine_table();
}
namespace f64 {
const Engine& engine_table();
}
} // namespace heed
