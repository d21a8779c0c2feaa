// Measures in rounds on request, so that a driver can alternate between programs.
//
// The protocol is line based. The program writes `{"ready": true, ...}`. For each line `SECONDS` on standard input it
// repeats its work for about this time and writes `{"milliseconds": [...], ...}`, one value per repetition. It exits at
// the end of the input.
#pragma once

#include <boost/json/object.hpp>
#include <functional>

namespace heed::bench {

/// Serves rounds of `work` until standard input ends. The first line contains `about`; it is written after one
/// unmeasured round of `warm_up` repetitions. Each answer also has `peak_bytes`: the peak resident memory of the
/// process minus its resident memory when `serve_rounds` was called.
void serve_rounds(boost::json::object about, int warm_up, const std::function<void()>& work);

} // namespace heed::bench
