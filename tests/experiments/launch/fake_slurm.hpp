// FakeSlurm: shell scripts in place of Slurm's sbatch, squeue, scontrol and sinfo. Their output comes from files that a
// test writes. sbatch stores its arguments and its input in files for the test to read.
#pragma once

#include "tests/experiments/system/scratch.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

namespace heed {

class FakeSlurm {
public:
  FakeSlurm() : before_(std::getenv("PATH")) {
    std::filesystem::create_directory(folder / "bin");
    // sbatch prints the number of a new job array: 1, 2, 3, ...
    script("sbatch", R"sh(
for word; do printf '%s\n' "$word"; done > $here/sbatch.words
cat > $here/sbatch.script
case "$*" in *--test-only*) printf tested >> $here/tests; exit 0;; esac
[ -e $here/sbatch.refusal ] && { cat $here/sbatch.refusal >&2; exit 1; }
printf x >> $here/count
wc -c < $here/count
)sh");
    script("squeue", "[ -e $here/squeue.refusal ] && { cat $here/squeue.refusal >&2; exit 1; }; cat $here/squeue.out");
    script("scontrol", "cat $here/scontrol.out");
    script("sinfo", "printf 'main\\nnight\\n'");
    put(folder / "squeue.out", "");
    put(folder / "scontrol.out", "MaxArraySize            = 1001\n");
    setenv("PATH", ((folder / "bin").string() + ":" + before_).c_str(), 1);
  }
  ~FakeSlurm() { setenv("PATH", before_.c_str(), 1); }
  FakeSlurm(const FakeSlurm&) = delete;
  FakeSlurm& operator=(const FakeSlurm&) = delete;

  void script(const std::string& name, const std::string& body) {
    const auto file = folder / "bin" / name;
    put(file, "#!/bin/sh\nhere='" + folder.path.string() + "'\n" + body + "\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }

  std::size_t submitted() const { return content(folder / "count").size(); }
  std::string words() const { return content(folder / "sbatch.words"); }

  Scratch folder;

private:
  std::string before_;
};

} // namespace heed
