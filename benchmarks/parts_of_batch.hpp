// Parts of a batch that threads measure together.
#pragma once

#include "autograd/thread_pool.hpp"
#include "benchmarks/rounds.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace heed::bench {

/// Serves rounds of `run` of the parts of a batch, Part(about, sequences, seed). With several threads, each takes an
/// equal part or, if there are too few sequences, they share the work within the operations of a single part.
template <class Part, class Case> void measure_parts_of_batch(const Case& about, int threads) {
  const int count = about.batch % threads == 0 ? threads : 1;
  std::vector<std::unique_ptr<Part>> parts;
  for (int i = 0; i < count; ++i)
    parts.push_back(std::make_unique<Part>(about, about.batch / count, static_cast<std::uint64_t>(i)));
  ThreadPool workers(threads);
  serve_rounds({}, 2, [&] { workers.run(count, [&](int job, int) { parts[static_cast<std::size_t>(job)]->run(); }); });
}

} // namespace heed::bench
