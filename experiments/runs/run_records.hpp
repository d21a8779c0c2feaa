// A run's records as JSON: its manifest, and how far it is.
#pragma once

#include "experiments/runs/run_folder.hpp"
#include "experiments/training/training.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// What the build knows of itself.
struct Build {
  std::string version; ///< Heed's
  std::string compiler;
  std::string flags;        ///< of the compiler
  std::string blas;         ///< who multiplies matrices: Heed's own products, or BLAS as it describes itself
  std::string kernels = {}; ///< engines/kernels.hpp; empty: of a version that didn't say
};

/// What metrics.jsonl was when a checkpoint was kept.
struct MetricsChecksum {
  std::int64_t step = 0; ///< the checkpoint's
  std::string hash;      ///< content_hash() of the file up to then

  bool operator==(const MetricsChecksum&) const = default;
};

/// Steps that were made before a run went on elsewhere: by another program, on another CPU, with other kernels of BLAS.
struct EarlierSteps {
  std::int64_t until = 0; ///< the last of them
  std::string made;       ///< what was different then: cpu "...", blas "..."

  bool operator==(const EarlierSteps&) const = default;
};

/// manifest.json. Empty texts and zeros: not known (yet).
struct Manifest {
  std::string run;       ///< the ID
  std::string name;      ///< the configuration's
  std::string outcome;   ///< running | interrupted | failed | finished
  std::string failure;   ///< why it failed
  bool refused = false;  ///< it failed before its first step
  std::int64_t step = 0; ///< the last that is kept, when it ended
  int threads = 0;
  Build build;
  std::string host, cpu;
  int numerics = 0;
  std::string data;                     ///< the task's fingerprint
  std::string started, ended;           ///< UTC, "2024-05-01T12:00:00Z"; `started` is the first start
  double seconds = 0;                   ///< of wall time in all its processes together
  int starts = 0;                       ///< how often it was begun or continued
  std::vector<MetricsChecksum> metrics; ///< of the checkpoints that are there, oldest first; empty in earlier versions
  std::vector<EarlierSteps> earlier;    ///< oldest first; empty where all steps were made alike
};
std::string to_json(const Manifest& manifest);
Parsed<Manifest> manifest_from_json(std::string_view bytes);

std::string to_json(const Progress& progress);
Parsed<Progress> progress_from_json(std::string_view bytes);

Parsed<Manifest> read_manifest(const RunFolder& run);

} // namespace heed
