// bench_engine: measures one operation or workload in rounds. benchmarks/bench.py starts it. It can also be started by
// hand, for example for profiling:
//   echo 10 | build/benchmarks/bench_engine attention additive 1 4 2048 32 causal 1 0
#include "autograd/error.hpp"
#include "benchmarks/measurements.hpp"
#include "experiments/actions/build.hpp"
#include "experiments/runs/run_records.hpp"
#include "experiments/system/machine.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/core.h>
#include <iostream>
#include <string>
#include <vector>

namespace {

constexpr const char* usage =
    "usage: bench_engine machine\n"
    "       bench_engine peak THREADS\n"
    "       bench_engine steps THREADS CONFIG [a.b=value ...]\n"
    "       bench_engine evaluate THREADS CONFIG [a.b=value ...]\n"
    "       bench_engine generate PROMPT TOKENS CONFIG [a.b=value ...]\n"
    "       bench_engine decoder ATTENTION WIDTH BATCH LENGTH SOURCE [a.b=value ...]\n"
    "       bench_engine recurrent gru|lstm once|steps|together ROWS STEPS WIDTH\n"
    "       bench_engine mixer KIND BATCH LENGTH WIDTH HEADS THREADS [a.b=value ...]\n"
    "       bench_engine recurrence DECAYS ERASES BATCH HEADS LENGTH KEYS VALUES THREADS\n"
    "       bench_engine attention SCORE BATCH HEADS LENGTH WIDTH causal|full THREADS ROWS [a.b=value ...]\n"
    "ROWS: attention is composed of operations, so many queries at a time; 0: computed as in training\n";

void print_machine() {
  const heed::Machine machine = heed::this_machine();
  const heed::Build build = heed::this_build();
  const boost::json::object object{{"cpu", machine.cpu},    {"cores", machine.cores},     {"memory", machine.memory},
                                   {"heed", build.version}, {"compiler", build.compiler}, {"flags", build.flags},
                                   {"blas", build.blas}};
  std::cout << boost::json::serialize(object) << std::endl;
}

int measure(const std::vector<std::string>& words) {
  const std::string what = words.empty() ? "" : words[0];
  if (what == "machine" && words.size() == 1) {
    print_machine();
  } else if (what == "peak" && words.size() == 2) {
    heed::bench::measure_peak(std::stoi(words[1]));
  } else if (what == "steps" && words.size() >= 3) {
    heed::bench::measure_steps(words[2], {words.begin() + 3, words.end()}, std::stoi(words[1]));
  } else if (what == "evaluate" && words.size() >= 3) {
    heed::bench::measure_evaluation(words[2], {words.begin() + 3, words.end()}, std::stoi(words[1]));
  } else if (what == "generate" && words.size() >= 4) {
    heed::bench::measure_generation(words[3], {words.begin() + 4, words.end()}, std::stoi(words[1]),
                                    std::stoi(words[2]));
  } else if (what == "decoder" && words.size() >= 6) {
    heed::bench::measure_decoder({.attention = words[1],
                                  .width = std::stoi(words[2]),
                                  .batch = std::stoi(words[3]),
                                  .length = std::stoi(words[4]),
                                  .source = std::stoi(words[5]),
                                  .overrides = {words.begin() + 6, words.end()}});
  } else if (what == "mixer" && words.size() >= 7) {
    heed::bench::measure_mixer({.kind = words[1],
                                .batch = std::stoi(words[2]),
                                .length = std::stoi(words[3]),
                                .width = std::stoi(words[4]),
                                .heads = std::stoi(words[5]),
                                .overrides = {words.begin() + 7, words.end()}},
                               std::stoi(words[6]));
  } else if (what == "recurrence" && words.size() == 9) {
    heed::bench::measure_recurrence({.decays = std::stoi(words[1]),
                                     .erases = std::stoi(words[2]),
                                     .batch = std::stoi(words[3]),
                                     .heads = std::stoi(words[4]),
                                     .length = std::stoi(words[5]),
                                     .keys = std::stoi(words[6]),
                                     .values = std::stoi(words[7])},
                                    std::stoi(words[8]));
  } else if (what == "recurrent" && words.size() == 6) {
    heed::bench::measure_recurrent({.cell = words[1],
                                    .stepping = words[2],
                                    .rows = std::stoi(words[3]),
                                    .steps = std::stoi(words[4]),
                                    .width = std::stoi(words[5])});
  } else if (what == "attention" && words.size() >= 9) {
    heed::bench::measure_attention({.score = words[1],
                                    .batch = std::stoi(words[2]),
                                    .heads = std::stoi(words[3]),
                                    .length = std::stoi(words[4]),
                                    .width = std::stoi(words[5]),
                                    .causal = words[6] == "causal",
                                    .rows = std::stoi(words[8]),
                                    .overrides = {words.begin() + 9, words.end()}},
                                   std::stoi(words[7]));
  } else {
    fmt::print(stderr, "{}", usage);
    return 2;
  }
  return 0;
}

} // namespace

int main(int count, char** words) {
  try {
    return measure({words + 1, words + count});
  } catch (const heed::Refused& e) {
    fmt::print(stderr, "bench_engine: {}\n", e.what());
    return 2;
  } catch (const std::exception& e) {
    fmt::print(stderr, "bench_engine: {}\n", e.what());
    return 1;
  }
}
