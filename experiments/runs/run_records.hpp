// A run's manifest and progress, and their JSON form.
#pragma once

#include "experiments/runs/run_folder.hpp"
#include "experiments/training/start_match.hpp"
#include "experiments/training/training.hpp"

#include <boost/describe/class.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// How this program was built.
struct Build {
  std::string version; ///< Heed's version
  std::string compiler;
  std::string flags;        ///< the compiler's flags
  std::string blas;         ///< the implementation of matrix products: Heed's own, or BLAS as it describes itself
  std::string kernels = {}; ///< the instruction set (engines/instruction_sets.hpp)
};

/// The checksum of metrics.jsonl at the time when a checkpoint was saved.
struct MetricsChecksum {
  std::int64_t step = 0;  ///< the checkpoint's step
  std::string hash;       ///< content_hash() of the file up to this step
  std::uint64_t size = 0; ///< the file's size in bytes up to this step

  bool operator==(const MetricsChecksum&) const = default;
};
BOOST_DESCRIBE_STRUCT(MetricsChecksum, (), (step, hash, size))

/// Steps that were executed in a different environment before the run continued here: a different program, CPU, or set
/// of BLAS kernels.
struct EarlierSteps {
  std::int64_t until = 0; ///< the last of these steps
  std::string made;       ///< what was different: cpu "...", blas "..."

  bool operator==(const EarlierSteps&) const = default;
};
BOOST_DESCRIBE_STRUCT(EarlierSteps, (), (until, made))

/// The weights of another run with which the run began ([train] start).
struct StartRecord {
  std::string run;       ///< the ID of the other run
  std::int64_t step = 0; ///< of its checkpoint
  std::string checksum;  ///< of this step and these weights ([train] start_checksum)
  std::string converted; ///< "float32 to float64"; empty: the precision is the same
  StartMatch match;
  /// "attention.window 0 -> 8": options by which the same weights compute something else than in the start
  std::vector<std::string> changes = {};

  bool operator==(const StartRecord&) const = default;
};

/// The format of a run's folder. It increases when programs can no longer read the files of before. Folders of versions
/// before 0.3.0 have none.
inline constexpr int run_format = 1;

/// The content of manifest.json. Empty texts and zeros: not known (yet).
struct Manifest {
  int format = run_format;
  std::string run;       ///< the ID
  std::string name;      ///< the configuration's name
  std::string outcome;   ///< running | interrupted | failed | finished
  std::string failure;   ///< the reason of the failure
  bool refused = false;  ///< it failed before its first step
  std::int64_t step = 0; ///< the last saved step when it ended
  int threads = 0;
  Build build;
  std::string host, cpu;
  std::string numerics;                  ///< `numerics_of` its configuration
  std::string data;                      ///< the task's fingerprint
  std::string started, ended;            ///< UTC, "2024-05-01T12:00:00Z"; `started` is the first start
  double seconds = 0;                    ///< total wall time of all its processes
  int starts = 0;                        ///< how often it was started or continued
  std::vector<MetricsChecksum> metrics;  ///< one for each existing checkpoint, oldest first
  std::vector<EarlierSteps> earlier;     ///< oldest first; empty if all steps were executed in the same environment
  std::optional<StartRecord> start = {}; ///< empty: it began with initial weights
};
std::string to_json(const Manifest& manifest);
Parsed<Manifest> manifest_from_json(std::string_view bytes);

std::string to_json(const Progress& progress);
Parsed<Progress> progress_from_json(std::string_view bytes);

Parsed<Manifest> read_manifest(const RunFolder& run);

} // namespace heed
