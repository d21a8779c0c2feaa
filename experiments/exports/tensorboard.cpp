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
#include "experiments/exports/export.hpp"

#include <bit>
#include <boost/crc.hpp>
#include <cstring>
#include <ctime>

namespace heed {
namespace {

static_assert(std::endian::native == std::endian::little, "the records' numbers are little-endian");

template <class Number> std::string bytes_of(Number number) {
  std::string out(sizeof number, '\0');
  std::memcpy(out.data(), &number, sizeof number);
  return out;
}

std::string varint(std::uint64_t n) {
  std::string out;
  for (; n >= 0x80; n >>= 7) out += static_cast<char>((n & 0x7f) | 0x80);
  return out + static_cast<char>(n);
}

/// The encoding of a field's value; part of the field's tag.
enum Wire : std::uint64_t { plain_number = 0, eight_bytes = 1, counted_bytes = 2, four_bytes = 5 };

std::string field(std::uint64_t number, Wire wire, const std::string& value) {
  return varint(number << 3 | wire) + (wire == counted_bytes ? varint(value.size()) : "") + value;
}

std::string record(const std::string& data) {
  const auto masked = [](std::string_view bytes) { return std::rotr(crc32c(bytes), 15) + 0xa282ead8U; };
  const std::string length = bytes_of(std::uint64_t{data.size()});
  return length + bytes_of(masked(length)) + data + bytes_of(masked(data));
}

std::string tag_of(std::string name) {
  if (const auto dot = name.find('.'); dot != std::string::npos) name[dot] = '/';
  return name;
}

} // namespace

std::uint32_t crc32c(std::string_view bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> sum;
  sum.process_bytes(bytes.data(), bytes.size());
  return sum.checksum();
}

std::string tensorboard_beginning(double start) {
  return record(field(1, eight_bytes, bytes_of(start)) + field(3, counted_bytes, "brain.Event:2"));
}

std::string tensorboard_event(const MetricsRecord& line, double start) {
  std::string summary;
  for (const auto& [name, value] : line.values)
    summary += field(1, counted_bytes,
                     field(1, counted_bytes, tag_of(name)) + field(2, four_bytes, bytes_of(static_cast<float>(value))));
  return record(field(1, eight_bytes, bytes_of(start + line.seconds)) +
                field(2, plain_number, varint(static_cast<std::uint64_t>(line.step))) +
                field(5, counted_bytes, summary));
}

double seconds_since_1970(const std::string& utc) {
  std::tm parts = {};
  const char* end = strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return end && *end == '\0' ? static_cast<double>(timegm(&parts)) : 0.0;
}

} // namespace heed
