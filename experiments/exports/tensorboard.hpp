// Writes metrics as TensorBoard event files, without TensorFlow, because the format is small. A file is a sequence of
// records (https://www.tensorflow.org/tutorials/load_data/tfrecord, "TFRecords format details"):
//
//   8 bytes   length N of the data, little-endian
//   4 bytes   masked CRC-32C of these 8 bytes
//   N bytes   the data: an Event
//   4 bytes   masked CRC-32C of the data
//
// masked(c) = rotate_right(c, 15) + 0xa282ead8, modulo 2^32. An Event is a protocol buffer
// (https://protobuf.dev/programming-guides/encoding) with these fields (event.proto and summary.proto in
// tensorboard/compat/proto):
//
//   1 wall_time: double, seconds since 1970    2 step: int64    3 file_version: "brain.Event:2", of the first event
//   5 summary: { 1 value, repeated: { 1 tag: string    2 simple_value: float } }
#pragma once

#include "experiments/metrics/record.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace heed {

/// CRC-32C (Castagnoli, RFC 3720 appendix B.4).
std::uint32_t crc32c(std::string_view bytes);

/// tensorboard_beginning returns the beginning of a file. tensorboard_event returns an event for a line of metrics,
/// with all its values. Its wall time is `start` (seconds since 1970) plus the seconds trained. Values of parts, such
/// as attention_entropy.blocks.0.attention.0, are grouped by metric: the tag is
/// "attention_entropy/blocks.0.attention.0". TensorBoard stores values as 32-bit floats.
std::string tensorboard_beginning(double start);
std::string tensorboard_event(const MetricsRecord& line, double start);

/// "2024-05-01T12:00:00Z" in seconds since 1970; 0 if the text is not such a time.
double seconds_since_1970(const std::string& utc);

} // namespace heed
