// Tests of TensorBoard event files. A separate reader in this file decodes the records by the format's description,
// byte by byte; tests/peers/tensorboard_reads.py reads them with TensorBoard itself.
#include "experiments/exports/export.hpp"
#include "tests/catch.hpp"

#include <cstring>

using namespace heed;

namespace {

// CRC-32C by its definition, one bit at a time: the reflected polynomial 0x82f63b78 (RFC 3720).
std::uint32_t by_bits(std::string_view bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78U : 0U);
  }
  return ~crc;
}

template <class Number> Number taken(std::string_view& bytes) {
  Number n{};
  REQUIRE(bytes.size() >= sizeof n);
  std::memcpy(&n, bytes.data(), sizeof n);
  bytes.remove_prefix(sizeof n);
  return n;
}

std::uint64_t varint(std::string_view& bytes) {
  std::uint64_t out = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = taken<std::uint8_t>(bytes);
    out |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return out;
  }
}

struct Event {
  double wall_time = 0;
  std::uint64_t step = 0;
  std::string version;
  std::vector<std::pair<std::string, float>> values;
};

void read_value(std::string_view bytes, Event& event) {
  std::pair<std::string, float> out;
  while (!bytes.empty()) {
    const std::uint64_t tag = varint(bytes);
    if (tag == (1 << 3 | 2)) {
      const std::uint64_t n = varint(bytes);
      out.first = bytes.substr(0, n);
      bytes.remove_prefix(n);
    } else {
      REQUIRE(tag == (2 << 3 | 5));
      out.second = taken<float>(bytes);
    }
  }
  event.values.push_back(out);
}

Event read_event(std::string_view bytes) {
  Event event;
  while (!bytes.empty()) {
    const std::uint64_t tag = varint(bytes);
    if (tag == (1 << 3 | 1)) event.wall_time = taken<double>(bytes);
    else if (tag == (2 << 3 | 0)) event.step = varint(bytes);
    else {
      const std::uint64_t n = varint(bytes);
      std::string_view part = bytes.substr(0, n);
      bytes.remove_prefix(n);
      if (tag == (3 << 3 | 2)) event.version = part;
      else {
        REQUIRE(tag == (5 << 3 | 2));
        while (!part.empty()) {
          REQUIRE(varint(part) == (1 << 3 | 2));
          const std::uint64_t size = varint(part);
          read_value(part.substr(0, size), event);
          part.remove_prefix(size);
        }
      }
    }
  }
  return event;
}

std::vector<Event> read_events(std::string_view bytes) {
  const auto masked = [](std::string_view of) {
    const std::uint32_t crc = by_bits(of);
    return (crc >> 15 | crc << 17) + 0xa282ead8U;
  };
  std::vector<Event> out;
  while (!bytes.empty()) {
    const std::string_view head = bytes.substr(0, 8);
    const auto length = taken<std::uint64_t>(bytes);
    CHECK(taken<std::uint32_t>(bytes) == masked(head));
    REQUIRE(bytes.size() >= length);
    const std::string_view data = bytes.substr(0, length);
    bytes.remove_prefix(length);
    CHECK(taken<std::uint32_t>(bytes) == masked(data));
    out.push_back(read_event(data));
  }
  return out;
}

std::string events_file(const std::vector<MetricsRecord>& metrics, double start) {
  std::string out = tensorboard_beginning(start);
  for (const MetricsRecord& line : metrics) out += tensorboard_event(line, start);
  return out;
}

} // namespace

TEST_CASE("CRC-32C has the values of RFC 3720, appendix B.4", "[exports][tensorboard]") {
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aaU);
  CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43U);
  CHECK(crc32c("123456789") == 0xe3069283U);
}

TEST_CASE("every line of metrics is an event with all its values", "[exports][tensorboard]") {
  const std::vector<MetricsRecord> metrics{
      {10, 0.5, 320, {{"train_loss", 1.25}, {"learning_rate", 0.001}}},
      {300, 2.25, 9600, {{"val_loss", 0.5}, {"attention_entropy.blocks.0.attention.0", 1.5}}}};
  const std::vector<Event> events = read_events(events_file(metrics, 1714564800.0));
  REQUIRE(events.size() == 3);
  CHECK(events[0].version == "brain.Event:2");
  CHECK(events[1].step == 10);
  CHECK(events[1].wall_time == 1714564800.5);
  CHECK(events[1].values ==
        std::vector<std::pair<std::string, float>>{{"train_loss", 1.25F}, {"learning_rate", 0.001F}});
  CHECK(events[2].step == 300);
  CHECK(events[2].values.at(1) == std::pair<std::string, float>{"attention_entropy/blocks.0.attention.0", 1.5F});
}

TEST_CASE("a run without metrics has a file that only says its version", "[exports][tensorboard]") {
  const std::vector<Event> events = read_events(events_file({}, 0));
  REQUIRE(events.size() == 1);
  CHECK(events[0].version == "brain.Event:2");
}

TEST_CASE("a manifest's time is read as UTC", "[exports][tensorboard]") {
  CHECK(seconds_since_1970("1970-01-02T00:00:01Z") == 86401.0);
  CHECK(seconds_since_1970("2024-05-01T12:00:00Z") == 1714564800.0); // date -u -d 2024-05-01T12:00:00Z +%s
  CHECK(seconds_since_1970("") == 0.0);
  CHECK(seconds_since_1970("yesterday") == 0.0);
}
