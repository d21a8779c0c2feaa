// The number type. Every numerical source is written once against `Real` and compiled twice, with -DHEED_REAL=f32 and
// -DHEED_REAL=f64, so that runs are fast and gradient checks are exact. Sources open `namespace heed::HEED_REAL`.
#pragma once

#ifndef HEED_REAL
#define HEED_REAL f32
#endif

namespace heed {
namespace f32 {
using Real = float;
}
namespace f64 {
using Real = double;
}
} // namespace heed
