// Which mutant of a program with many is on: HEED_MUTANT is its number. With HEED_MUTANTS_REACHED=FILE none is, and
// those whose expressions are evaluated are marked in FILE, a byte each. Forks and programs that are started do the
// same.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

inline constinit int heed_mutant_that_is_on = 0; // -1: marks those that are reached
inline constinit unsigned char* heed_mutants_reached = nullptr;

// Before everything else that a program initialises.
[[gnu::constructor(101)]] static void heed_switch_mutant() {
  if (heed_mutant_that_is_on != 0) return;
  if (const char* number = std::getenv("HEED_MUTANT")) heed_mutant_that_is_on = std::atoi(number);
  const char* path = std::getenv("HEED_MUTANTS_REACHED");
  if (!path) return;
  const int file = open(path, O_RDWR | O_CLOEXEC);
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0) return;
  void* bytes = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (bytes == MAP_FAILED) return;
  heed_mutants_reached = static_cast<unsigned char*>(bytes);
  heed_mutant_that_is_on = -1;
}

[[gnu::noinline, gnu::cold]] inline bool heed_mutant_is_reached(int number) {
  heed_mutants_reached[number] = 1;
  return false;
}

// Functions that are `constexpr` can call it, but no constant expression can, which would be out of a switch's reach. A
// section of the program lists the mutants that it has code of: not those of a default that no call takes, for one.
template <int number> [[gnu::always_inline]] constexpr bool heed_mutant() {
  asm volatile(".pushsection .heed_mutants,\"\",%%progbits\n.ascii \"%c0 \"\n.popsection" ::"i"(number));
  return heed_mutant_that_is_on == number || (heed_mutant_that_is_on < 0 && heed_mutant_is_reached(number));
}
