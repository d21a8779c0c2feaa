// The number type. Every numerical source is written once against `Real` and compiled for each precision and kind of
// kernels, with -DHEED_REAL=f32, f64, f32_avx2, ..., so that runs are fast and gradient checks are exact. Sources open
// `namespace heed::HEED_REAL`. Each has a namespace of its own, so that one program may hold several.
#pragma once

#ifndef HEED_REAL
#define HEED_REAL f32
#endif

namespace heed {
// By the build's own flags.
namespace f32 {
using Real = float;
}
namespace f64 {
using Real = double;
}
// By those of kernels that have a name (engines/kernels.hpp).
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
