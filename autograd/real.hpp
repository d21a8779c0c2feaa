// Real, the floating-point type of the engine. Every numerical source is written once against `Real`. It is compiled
// for each precision and instruction set with -DHEED_REAL=f32, f64, f32_avx2, ..., so that runs are fast (float) and
// gradient checks are exact (double). Sources open `namespace heed::HEED_REAL`. Each build has its own namespace, so
// one program may contain several.
#pragma once

#ifndef HEED_REAL
#define HEED_REAL f32
#endif

namespace heed {
// Compiled with the flags of the build.
namespace f32 {
using Real = float;
}
namespace f64 {
using Real = double;
}
// Compiled for a named instruction set (engines/instruction_sets.hpp).
namespace f32_baseline {
using Real = float;
}
namespace f64_baseline {
using Real = double;
}
namespace f32_avx2 {
using Real = float;
}
namespace f64_avx2 {
using Real = double;
}
namespace f32_avx512 {
using Real = float;
}
namespace f64_avx512 {
using Real = double;
}
} // namespace heed
