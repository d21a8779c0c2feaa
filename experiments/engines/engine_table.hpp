// Declares the engines that a program may contain itself, one for each precision, compiled with the build's own flags.
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
