#include "experiments/index/run_index.hpp"

namespace heed {

namespace {

Cell text_or_null(const std::string& text) { return text.empty() ? Cell() : Cell(text); }
Cell number_or_null(std::int64_t n) { return n == 0 ? Cell() : Cell(n); }

/// The value of one of the entry's options; NULL if it has none.
Cell option_of(const RunEntry& entry, std::string_view key) {
  for (const auto& [name, value] : entry.options)
    if (name == key) return value;
  return {};
}

} // namespace

std::vector<Cell> row_of(const RunEntry& entry) {
  const Manifest m = entry.manifest.value_or(Manifest{});
  const bool begun = entry.manifest.has_value();
  return {entry.id,
          option_of(entry, "name"),
          std::string(name_of(entry.state)),
          option_of(entry, "seed"),
          text_or_null(m.started),
          text_or_null(m.ended),
          begun ? Cell(m.seconds) : Cell(),
          begun ? Cell(m.step) : Cell(),
          cell_of(entry.parameters),
          number_or_null(m.threads),
          number_or_null(m.starts),
          text_or_null(m.build.version),
          text_or_null(m.build.compiler),
          text_or_null(m.build.flags),
          text_or_null(m.build.kernels),
          text_or_null(m.build.blas),
          text_or_null(m.numerics),
          text_or_null(m.host),
          text_or_null(m.cpu),
          text_or_null(m.data),
          text_or_null(m.failure)};
}

} // namespace heed
