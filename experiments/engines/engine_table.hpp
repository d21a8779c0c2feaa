// The engines that a program may hold itself: those of each precision, by the build's own flags.
#pragma once

#include "experiments/engines/engine.hpp"

namespace heed {
namespace f32 {
const Engine& engine_table();
}
namespace f64 {
const Engine& engine_table();
}
} // namespace heed
