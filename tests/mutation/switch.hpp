// For mutation tests: selects the active mutant of a program that contains many mutants. HEED_MUTANT is the number of
// the active mutant. With HEED_MUTANTS_REACHED=FILE no mutant is active, and the program marks each mutant whose
// expression is evaluated in FILE, one byte per mutant. Forked and started processes do the same.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

inline constinit int heed_mutant_that_is_on = 0; // -1: only marks the mutants that are reached
inline constinit unsigned char* heed_mutants_reached = nullptr;

// Runs before all other initialisation of the program.
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

// `constexpr` functions can call this function, but a constant expression cannot, because a run-time switch cannot
// change a constant expression. The ELF section .heed_mutants of the program lists the mutants that the program has
// code for. For example, a mutant of a default argument that no call uses is not in the list.
template <int number> [[gnu::always_inline]] constexpr bool heed_mutant() {
  asm volatile(".pushsection .heed_mutants,\"\",%%progbits\n.ascii \"%c0 \"\n.popsection" ::"i"(number));
  return heed_mutant_that_is_on == number || (heed_mutant_that_is_on < 0 && heed_mutant_is_reached(number));
}
