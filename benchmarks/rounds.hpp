// Measuring in rounds on request, so that a driver can let programs take turns.
//
// The protocol is lines: the program says `{"ready": true, ...}`; for each line `SECONDS` on standard input it repeats
// its work for about that long and answers `{"milliseconds": [...], ...}`, one number for each repetition; at the end
// of the input it ends.
#pragma once

#include <boost/json/object.hpp>
#include <functional>

namespace heed::bench {

/// Serves rounds of `work` until standard input ends. `about` stands in the first line, after one unmeasured round of
/// `warm_up` repetitions; each answer also has `peak_bytes`: the most memory that the process has had resident beyond
/// what it had when `serve_rounds` was called.
void serve_rounds(boost::json::object about, int warm_up, const std::function<void()>& work);

} // namespace heed::bench
