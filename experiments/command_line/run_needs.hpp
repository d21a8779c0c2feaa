// Measures the time and memory of a sweep's runs on this machine, for requests to a Slurm queue.
#pragma once

#include "experiments/launch/slurm_launcher.hpp"
#include "experiments/sweep/preparation.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <utility>

namespace heed {

/// The needs of runs, measured by a short training of each arm on the first request.
class RunNeeds {
public:
  RunNeeds(const Preparation& prepared, Tasks& tasks, std::filesystem::path out, int threads)
      : prepared_(prepared), tasks_(tasks), out_(std::move(out)), threads_(threads) {}

  RunNeed of(const RunFolder& run);

private:
  void measure();

  const Preparation& prepared_;
  Tasks& tasks_;
  std::filesystem::path out_;
  int threads_;
  bool measured_ = false;
  std::map<std::string, double> seconds_;
  double longest_ = 0, bytes_ = 0;
};

} // namespace heed
