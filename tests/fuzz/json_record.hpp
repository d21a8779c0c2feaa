// Check for fuzz targets of JSON records (one line or one file): a record that can be read must be written so that it
// reads back as the same record.
#pragma once

#include "experiments/system/files.hpp"
#include "tests/fuzz/target.hpp"

namespace heed::fuzz {

template <class Read, class Write> int json_record(std::string_view bytes, Read read, Write write) {
  const auto record = read(bytes);
  require(record.value.has_value() == record.error.empty(), "neither a value nor an error, or both");
  if (!record) return 0;
  const std::string written = write(*record);
  const auto again = read(written);
  require(again.value.has_value(), "what was written is refused: " + again.error + "\n" + written);
  require(write(*again) == written, "what was written reads as something else:\n" + written + "\n" + write(*again));
  return 0;
}

} // namespace heed::fuzz
