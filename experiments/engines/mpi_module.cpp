#include "autograd/error.hpp"
#include "experiments/engines/mpi.hpp"
#include "experiments/system/program.hpp"

#include <array>
#include <bit>
#include <boost/version.hpp>
#include <charconv>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <string_view>
#include <system_error>

namespace heed {

namespace {

int number_in(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  int value = otherwise;
  if (text) std::from_chars(text, text + std::string_view(text).size(), value);
  return value;
}

/// Environment variables in which MPI launchers store the number of processes and the number of this process: Open MPI,
/// Hydra (MPICH, Intel) and srun with PMI-2, srun with PMIx.
struct Said {
  const char *count, *process;
};
constexpr std::array launchers{Said{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, Said{"PMI_SIZE", "PMI_RANK"},
                               Said{"SLURM_NTASKS", "PMIX_RANK"}};

/// Null if this process was started without an MPI launcher.
const Said* mpi_launcher() {
  for (const Said& said : launchers)
    if (std::getenv(said.count) && std::getenv(said.process)) return &said;
  return nullptr;
}

MpiRanks& load_mpi() {
  const int count = processes_of_mpi();
  if (!std::has_single_bit(static_cast<unsigned>(count)))
    throw Refused(fmt::format("there are {} processes; a run is shared by 1, 2, 4, 8, ... (mpirun -np {})", count,
                              std::bit_floor(static_cast<unsigned>(count))));
  const std::filesystem::path file = part_of_program("libheed_mpi.so");
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored))
    throw Refused(fmt::format("mpirun started {} processes, and this Heed was built without MPI ({} is missing)\n"
                              "      install the packages libboost-mpi{}.{}-dev and openmpi-bin, then build Heed anew "
                              "(meson setup --reconfigure)",
                              count, file.string(), BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000));
  // RTLD_GLOBAL, because MPI's own components look for its symbols in the program.
  void* const module = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  using Door = MpiRanks* (*)();
  const auto door = module ? reinterpret_cast<Door>(dlsym(module, "heed_mpi_ranks")) : nullptr;
  if (!door) throw Refused(fmt::format("{} can't be loaded: {}", file.string(), dlerror()));
  return *door();
}

} // namespace

int processes_of_mpi() {
  const Said* const said = mpi_launcher();
  return said ? number_in(said->count, 1) : 1;
}

int process_of_mpi() {
  const Said* const said = mpi_launcher();
  return said ? number_in(said->process, 0) : 0;
}

MpiRanks& mpi_ranks() {
  static MpiRanks& ranks = load_mpi();
  return ranks;
}

} // namespace heed
