#include "experiments/command_line/process_group.hpp"

#include "autograd/error.hpp"
#include "experiments/engines/mpi.hpp"
#include "experiments/system/machine.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace heed {

namespace {
bool agreed = false;
} // namespace

bool has_agreed_to_begin() { return agreed; }

void agree_to_begin(const ProcessGroupWord& own) {
  MpiRanks& ranks = mpi_ranks();
  agreed = true;
  constexpr char runs = 'r', helps = 'h', refuses = 'p';
  const char kind = !own.problem.empty() ? refuses : own.runs ? runs : helps;
  const std::vector<std::string> words =
      gather(ranks, Packed().add(kind).add_text(this_machine().host).add_text(own.problem).take());
  std::vector<char> kinds;
  std::string problem;
  for (std::size_t rank = 0; rank < words.size(); ++rank) {
    Unpacked word(words[rank]);
    kinds.push_back(word.get<char>());
    const std::string host = word.text(), said = word.text();
    if (!problem.empty() || said.empty()) continue;
    problem = rank == 0 ? said : fmt::format("process {} of {}, on {}: {}", rank, words.size(), host, said);
  }
  if (std::ranges::count(kinds, runs) == std::ssize(kinds)) return;
  ranks.finish();
  if (problem.empty() && std::ranges::count(kinds, runs) > 0)
    problem = fmt::format("{} of the {} processes that mpirun started have the option for help, the others do not; "
                          "give all processes the same command line",
                          std::ranges::count(kinds, helps), kinds.size());
  if (!problem.empty()) throw Refused(problem);
}

} // namespace heed
