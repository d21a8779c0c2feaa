// Tests of the user's settings for a Slurm cluster.
#include "autograd/error.hpp"
#include "experiments/launch/slurm_launcher.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/system/scratch.hpp"

#include <fmt/format.h>

using namespace heed;
using Catch::Contains;

namespace {

struct SlurmFile {
  Scratch folder;
  std::filesystem::path path = folder / "slurm.toml";

  explicit SlurmFile(const std::string& text) { put(path, text); }
};

std::string refusal_of(const std::string& file, const std::vector<std::string>& overrides = {}) {
  const SlurmFile written(file);
  try {
    read_slurm_settings(written.path, overrides);
  } catch (const Refused& error) {
    return error.what();
  }
  return "";
}

} // namespace

TEST_CASE("all of [slurm] is read, and the command line wins", "[sweep][slurm]") {
  const SlurmFile file("[slurm]\naccount = \"lab\"\npartition = \"main\"\nqos = \"low\"\ntime = 90\nmemory = \"4G\"\n"
                       "cpus = 4\nat_once = 20\ntask_minutes = 2.5\noptions = [\"--constraint=avx512\", \"--nice\"]\n");
  SlurmSettings settings = read_slurm_settings(file.path, {});
  CHECK(settings.account == "lab");
  CHECK(settings.partition == "main");
  CHECK(settings.qos == "low");
  CHECK(settings.time == "90");
  CHECK(settings.memory == "4G");
  CHECK(settings.cpus == 4);
  CHECK(settings.at_once == 20);
  CHECK(settings.task_minutes == 2.5);
  CHECK(settings.options == std::vector<std::string>{"--constraint=avx512", "--nice"});

  settings = read_slurm_settings(file.path, {"slurm.partition=night", "slurm.time=1-12", "slurm.cpus=8",
                                             "slurm.options=[\"--exclusive\"]", "slurm.task_minutes=30"});
  CHECK(settings.account == "lab");
  CHECK(settings.partition == "night");
  CHECK(settings.time == "1-12");
  CHECK(settings.cpus == 8);
  CHECK(settings.task_minutes == 30);
  CHECK(settings.options == std::vector<std::string>{"--exclusive"});
}

TEST_CASE("one core and one task at once are enough", "[sweep][slurm]") {
  const SlurmSettings settings = read_slurm_settings(SlurmFile("[slurm]\ncpus = 1\nat_once = 1\n").path, {});
  CHECK(settings.cpus == 1);
  CHECK(settings.at_once == 1);
}

TEST_CASE("every option is described", "[sweep][slurm]") {
  CHECK(slurm_options().size() == 9);
  for (const SlurmOption& option : slurm_options()) CHECK_FALSE(option.meaning.empty());
}

TEST_CASE("what is wrong in [slurm] is told with its place and what is allowed", "[sweep][slurm]") {
  CHECK_THAT(refusal_of("[slurm]\n\ntmie = 3\n"), Contains("slurm.toml:3:1") && Contains("did you mean 'time'"));
  CHECK_THAT(refusal_of("time = 3\n"), Contains("slurm.toml:1:1") && Contains("[slurm]"));
  CHECK_THAT(refusal_of("[slurm]\ntime = \"soon\"\n"), Contains("slurm.time") && Contains("D-H:M:S"));
  CHECK_THAT(refusal_of("[slurm]\ntime = 2.5\n"), Contains("slurm.time"));
  CHECK_THAT(refusal_of("[slurm]\nmemory = \"4 GB\"\n"), Contains("slurm.memory") && Contains("4G"));
  CHECK_THAT(refusal_of("[slurm]\nmemory = \"G\"\n"), Contains("slurm.memory"));
  CHECK_THAT(refusal_of("[slurm]\ncpus = 0\n"), Contains("slurm.cpus") && Contains("of 1 or more"));
  CHECK_THAT(refusal_of("[slurm]\nat_once = \"2\"\n"), Contains("slurm.at_once"));
  CHECK_THAT(refusal_of("[slurm]\ntask_minutes = -1\n"), Contains("slurm.task_minutes"));
  CHECK_THAT(refusal_of("[slurm]\npartition = \"a b\"\n"), Contains("slurm.partition") && Contains("one word"));
  CHECK_THAT(refusal_of("[slurm]\npartition = \"--help\"\n"), Contains("slurm.partition"));
  CHECK_THAT(refusal_of("[slurm]\noptions = \"constraint=x\"\n"), Contains("slurm.options") && Contains("begin with"));
  CHECK_THAT(refusal_of("[slurm]\noptions = [\"--array=0-9\"]\n"), Contains("--array") && Contains("Heed sets itself"));
  // The option in every spelling: abbreviated, with its value in the same word, or combined with other letters.
  for (const char* word : {"--arr=0-3", "--a",        "--outp=x",      "--jo=x",       "--err=x", "--wai", "--sig=USR1",
                           "--test",    "--ntasks=2", "--open=append", "--clusters=b", "--help",  "-a0-3", "-Qa0-3",
                           "-Jname",    "-J",         "-osome",        "-vW",          "-Mb",     "-h",    "--"})
    CHECK_THAT(refusal_of(fmt::format("[slurm]\noptions = [\"{}\"]\n", word)),
               Contains("Heed sets itself") && Contains("'-"));
  for (const char* word : {"--wait-all-nodes=1", "--ntasks-per-node=1", "--nodes=1", "--comment=--array", "-pnight",
                           "-Aa", "-Nome", "-Ca", "-sv", "--mem-per-cpu=1G", "--chdir=/tmp", "--exclusive"})
    CHECK(refusal_of(fmt::format("[slurm]\noptions = [\"{}\"]\n", word)).empty());
  CHECK_THAT(refusal_of("[slurm]\noptions = [\"-\"]\n"), Contains("begin with"));
  CHECK_THAT(refusal_of("[slurm]\noptions = [3]\n"), Contains("slurm.options"));
  CHECK_THAT(refusal_of("[slurm\n"), Contains("slurm.toml:1"));
  CHECK_THAT(refusal_of("", {"slurm.partition"}), Contains("command line") && Contains("slurm.partition=VALUE"));
  CHECK_THAT(refusal_of("", {"slurm.cpus=many"}), Contains("command line") && Contains("'many'"));
  CHECK_THROWS_AS(read_slurm_settings(std::filesystem::path("/no/such/slurm.toml"), {}), Refused);
}

TEST_CASE("times are sbatch's", "[sweep][slurm]") {
  // The formats of --time in sbatch(1).
  CHECK(seconds_of_slurm_time("90") == 90 * 60);
  CHECK(seconds_of_slurm_time("90:30") == 90 * 60 + 30);
  CHECK(seconds_of_slurm_time("2:03:04") == 2 * 3600 + 3 * 60 + 4);
  CHECK(seconds_of_slurm_time("1-12") == 36 * 3600);
  CHECK(seconds_of_slurm_time("1-12:30") == 36 * 3600 + 30 * 60);
  CHECK(seconds_of_slurm_time("1-12:30:15") == 36 * 3600 + 30 * 60 + 15);
  for (const char* wrong : {"", "x", "1:", ":1", "1-", "-1", "1:2:3:4", "1-2-3", "1.5", " 1", "UNLIMITED"}) {
    CAPTURE(wrong);
    CHECK_FALSE(seconds_of_slurm_time(wrong));
  }
  CHECK(slurm_time(0) == "00:01:00");
  CHECK(slurm_time(60) == "00:01:00");
  CHECK(slurm_time(61) == "00:02:00");
  CHECK(slurm_time(3600) == "01:00:00");
  CHECK(slurm_time(86400 + 7260) == "1-02:01:00");
  for (const double seconds : {60.0, 5940.0, 86340.0, 86400.0, 1e6 - 40})
    CHECK(seconds_of_slurm_time(slurm_time(seconds)) == seconds);
}
