#include "experiments/runs/checkpoints.hpp"
#include "experiments/runs/run_folder.hpp"
#include "tests/catch.hpp"
#include "tests/fixtures/fixture.hpp"

#include <cstring>
#include <random>

using namespace heed;
using Catch::Contains;

namespace {

template <class Real> StoredTensor tensor(std::string name, std::vector<std::int64_t> shape, std::vector<Real> values) {
  StoredTensor t{std::move(name), std::move(shape), sizeof(Real) == 8, {}};
  t.bytes.resize(values.size() * sizeof(Real));
  if (!values.empty()) std::memcpy(t.bytes.data(), values.data(), t.bytes.size());
  return t;
}

Checkpoint example() {
  Checkpoint c;
  c.metadata = {{"step", "120"}, {"random", "\"quoted\" \xc3\xa9\n"}};
  c.tensors = {tensor<float>("block.0.weight", {2, 3}, {1, 2, 3, 4, 5, -0.0f}), tensor<float>("empty", {0, 7}, {}),
               tensor<double>("scalar", {}, {0.1}), tensor<float>("bias", {1}, {7})};
  return c;
}

/// A file with the given header before `data`.
std::string file(const std::string& header, const std::string& data = "") {
  const std::uint64_t length = header.size();
  std::string out(8, '\0');
  std::memcpy(out.data(), &length, 8);
  return out + header + data;
}

std::string error_of(const std::string& bytes) {
  const auto read = from_safetensors(bytes);
  REQUIRE_FALSE(read);
  return read.error;
}

std::string one_tensor(const std::string& fields) { return file("{\"w\":{" + fields + "}}", std::string(8, 'x')); }

} // namespace

TEST_CASE("a checkpoint comes back as it was", "[runs][safetensors]") {
  const Checkpoint before = example();
  const auto after = from_safetensors(to_safetensors(before));
  REQUIRE(after);
  CHECK(after->metadata == before.metadata);
  REQUIRE(after->tensors.size() == before.tensors.size());
  for (std::size_t i = 0; i < before.tensors.size(); ++i) {
    CHECK(after->tensors[i].name == before.tensors[i].name);
    CHECK(after->tensors[i].shape == before.tensors[i].shape);
    CHECK(after->tensors[i].float64 == before.tensors[i].float64);
    CHECK(after->tensors[i].bytes == before.tensors[i].bytes);
  }
  CHECK(from_safetensors(to_safetensors({})));
}

TEST_CASE("the data begins at a multiple of 8 bytes, as the format advises", "[runs][safetensors]") {
  const std::string bytes = to_safetensors(example());
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  CHECK(length % 8 == 0);
  CHECK(bytes.size() == 8 + length + 6 * 4 + 8 + 4);
}

TEST_CASE("a file that PyTorch's library wrote is read, but for its missing checksum", "[runs][safetensors]") {
  // safetensors 0.8.0: save({"a": numpy.array([1.5], "float32")}, metadata={"step": "3"})
  const std::string header =
      "{\"__metadata__\":{\"step\":\"3\"},\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}";
  CHECK_THAT(error_of(file(header, std::string("\x00\x00\xc0\x3f", 4))), Contains("no checksum"));
}

TEST_CASE("every byte that changes is noticed", "[runs][safetensors]") {
  const std::string whole = to_safetensors(example());
  const auto original = from_safetensors(whole);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x04);
    INFO("byte " << i);
    const auto read = from_safetensors(damaged);
    CHECK_FALSE(read);
  }
}

namespace {

Checkpoint with_moments() {
  Checkpoint c = example();
  StoredTensor moment = c.tensors[0];
  moment.name = "optimizer.adam.m.w";
  c.tensors.insert(c.tensors.begin() + 1, moment);
  return c;
}

} // namespace

TEST_CASE("weights are read without the optimiser's tensors", "[runs][safetensors]") {
  const auto weights = from_safetensors(to_safetensors(with_moments()), CheckpointPart::weights);
  REQUIRE(weights);
  CHECK(weights->metadata == example().metadata);
  REQUIRE(weights->tensors.size() == example().tensors.size());
  for (std::size_t i = 0; i < weights->tensors.size(); ++i) {
    CHECK(weights->tensors[i].name == example().tensors[i].name);
    CHECK(weights->tensors[i].bytes == example().tensors[i].bytes);
  }
}

TEST_CASE("of weights every byte that changes is noticed, whatever the optimiser's are", "[runs][safetensors]") {
  const Checkpoint checkpoint = with_moments();
  const std::string whole = to_safetensors(checkpoint);
  std::size_t at = whole.size(); // where the tensors' data begins
  for (const StoredTensor& t : checkpoint.tensors) at -= t.bytes.size();
  for (const StoredTensor& t : checkpoint.tensors) {
    for (std::size_t i = at; i < at + t.bytes.size(); ++i) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ 0x04);
      CAPTURE(t.name, i);
      CHECK_FALSE(from_safetensors(damaged));
      CHECK(from_safetensors(damaged, CheckpointPart::weights).value.has_value() == t.name.starts_with("optimizer."));
    }
    at += t.bytes.size();
  }
  std::string other_step = whole;
  const std::size_t step = whole.find("\"step\":\"") + 8;
  other_step[step] = static_cast<char>(other_step[step] ^ 1);
  CHECK_THAT(from_safetensors(other_step, CheckpointPart::weights).error, Contains("changed or damaged"));
}

TEST_CASE("every file that is cut short or too long is noticed", "[runs][safetensors]") {
  const std::string whole = to_safetensors(example());
  for (std::size_t n = 0; n < whole.size(); ++n) CHECK_FALSE(from_safetensors(whole.substr(0, n)));
  CHECK_THAT(error_of(whole + "x"), Contains("belong to no tensor"));
}

TEST_CASE("malformed files are refused with the reason", "[runs][safetensors]") {
  CHECK_THAT(error_of(""), Contains("too few"));
  CHECK_THAT(error_of(std::string(8, '\xff') + "{}"), Contains("claims 18446744073709551615 bytes"));
  CHECK_THAT(error_of(file("nonsense")), Contains("not JSON"));
  CHECK_THAT(error_of(file(std::string(100000, '['))), Contains("not JSON"));
  CHECK_THAT(error_of(file("[]")), Contains("not a JSON object"));
  CHECK_THAT(error_of(file("{\"__metadata__\":{\"step\":3}}")), Contains("\"step\" is not a text"));
  CHECK_THAT(error_of(file("{\"w\":3}")), Contains("tensor \"w\" is not a JSON object"));
  CHECK_THAT(error_of(one_tensor("\"dtype\":\"I8\",\"shape\":[8],\"data_offsets\":[0,8]")),
             Contains("\"I8\"") && Contains("F32 and F64"));
  CHECK_THAT(error_of(one_tensor("\"shape\":[2],\"data_offsets\":[0,8]")), Contains("no \"dtype\""));
  CHECK_THAT(error_of(one_tensor("\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]")), Contains("its shape"));
  CHECK_THAT(error_of(one_tensor("\"dtype\":\"F32\",\"shape\":[1.5],\"data_offsets\":[0,8]")), Contains("its shape"));
  CHECK_THAT(error_of(one_tensor("\"dtype\":\"F32\",\"shape\":[4611686018427387904,16],\"data_offsets\":[0,8]")),
             Contains("too large for memory"));
  CHECK_THAT(error_of(one_tensor("\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0]")), Contains("1 data_offsets"));
  CHECK_THAT(error_of(one_tensor("\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]")), Contains("8 to 0 of 8"));
  CHECK_THAT(error_of(one_tensor("\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]")), Contains("0 to 16 of 8"));
  CHECK_THAT(error_of(one_tensor("\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]")), Contains("needs 12"));
  CHECK_THAT(error_of(file("{\"\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}}")), Contains("no name"));
  CHECK_THAT(error_of(one_tensor("\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]")),
             Contains("begins at byte 4"));
  CHECK_THAT(error_of(one_tensor("\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]")), Contains("no tensor"));
}

TEST_CASE("random damage never reads as a checkpoint and never crashes", "[runs][safetensors]") {
  const std::string whole = to_safetensors(example());
  std::mt19937 random(1);
  for (int trial = 0; trial < 5000; ++trial) {
    std::string damaged = whole;
    for (unsigned n = 1 + random() % 8; n > 0; --n) {
      const std::size_t at = random() % damaged.size();
      if (random() % 3 == 0) damaged.erase(at, 1 + random() % 16);
      else if (random() % 2 == 0) damaged.insert(at, 1, static_cast<char>(random()));
      else damaged[at] = static_cast<char>(random());
      if (damaged.empty()) break;
    }
    if (damaged != whole) CHECK_FALSE(from_safetensors(damaged));
  }
}

TEST_CASE("tensors that contradict themselves are not written", "[runs][safetensors]") {
  Checkpoint c;
  c.tensors = {tensor<float>("w", {3}, {1, 2})};
  CHECK_THROWS_WITH(to_safetensors(c), Contains("tensor w of shape [3] has 8 bytes, its shape needs 12"));
  c.tensors = {tensor<float>("w", {1}, {1}), tensor<float>("w", {1}, {2})};
  CHECK_THROWS_AS(to_safetensors(c), Failed);
}

TEST_CASE("names and types from a file are cut in messages, and a header has a bound", "[runs][safetensors]") {
  const std::string name(19'000'000, 'n'), type(30'000'000, 'F');
  CHECK_THAT(error_of(file("{\"" + name + "\":{}}")), Contains("n... (19000000 bytes)\" has no \"dtype\""));
  const std::string wrong_type = error_of(one_tensor("\"dtype\":\"" + type +
                                                     "\",\"shape\":[1],\"data_offsets\":[0,4]"));
  CHECK_THAT(wrong_type, Contains("tensor \"w\" has the type \"FFF") && Contains("... (30000002 bytes), where F32"));
  CHECK(wrong_type.size() < 500);
  CHECK(error_of(file("{\"__metadata__\":{\"" + name + "\":1}}")).size() < 500);
  CHECK_THAT(error_of(file(std::string(longest_header + 1, ' '))),
             Contains("its header has 33554433 bytes, and at most 33554432 make sense there"));
  Checkpoint c = example();
  c.metadata["step"] = type;
  CHECK(step_of(c).error.size() < 500);
  c.tensors = {tensor<float>(std::string(longest_header, 'n'), {1}, {1})};
  CHECK_THROWS_WITH(to_safetensors(c), Contains("and can have at most 33554432"));
}
