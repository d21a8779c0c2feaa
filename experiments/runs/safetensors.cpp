// Reads and writes checkpoints as safetensors (https://github.com/huggingface/safetensors), a format that PyTorch,
// NumPy and JAX can open:
//
//   8 bytes      length N of the header, little-endian
//   N bytes      JSON: {"__metadata__": {string: string}, NAME: {"dtype", "shape", "data_offsets": [begin, end]}, ...}
//   the rest     the tensors' data without gaps, each at its offsets from the end of the header
//
// Heed adds two checksums to the metadata. "checksum" is the XXH3-128 of the names, shapes and types, the metadata and
// the data. "weights_checksum" is the same without the optimiser's tensors, so that the weights can be read without
// them.
#include "experiments/runs/checkpoints.hpp"

#include "experiments/system/content_hash.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <bit>
#include <boost/json.hpp>
#include <cstring>
#include <fmt/format.h>
#include <new>

namespace heed {
namespace {

namespace json = boost::json;

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian, and so are Heed's arrays");

constexpr const char* metadata_key = "__metadata__";
constexpr const char* checksum_key = "checksum";
constexpr const char* weights_checksum_key = "weights_checksum";

const char* checksum_key_of(CheckpointPart part) {
  return part == CheckpointPart::weights ? weights_checksum_key : checksum_key;
}

std::size_t item_size(bool float64) { return float64 ? 8 : 4; }

std::string_view view(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The bytes of a tensor with this shape; none if it is negative or larger than the address space.
std::optional<std::size_t> bytes_of(const std::vector<std::int64_t>& shape, bool float64) {
  std::size_t size = item_size(float64);
  bool empty = false;
  for (const std::int64_t n : shape) {
    if (n < 0) return std::nullopt;
    empty = empty || n == 0;
    if (n > 0 && __builtin_mul_overflow(size, static_cast<std::size_t>(n), &size)) return std::nullopt;
  }
  return empty ? 0 : size;
}

bool of_optimizer(std::string_view name) { return name.starts_with(optimizer_prefix); }

/// The checksum of the whole content, or of everything except the optimiser's tensors. It does not depend on the order
/// that a JSON writer chose.
std::string checksum(const std::map<std::string, std::string>& metadata, const std::vector<StoredTensor>& tensors,
                     CheckpointPart part) {
  ContentHash hash;
  const auto add = [&](std::string_view bytes) {
    const std::uint64_t size = bytes.size();
    hash.add({reinterpret_cast<const char*>(&size), sizeof size});
    hash.add(bytes);
  };
  for (const auto& [key, value] : metadata) {
    if (key == checksum_key || (key == weights_checksum_key && part == CheckpointPart::weights)) continue;
    add(key);
    add(value);
  }
  for (const StoredTensor& tensor : tensors) {
    if (part == CheckpointPart::weights && of_optimizer(tensor.name)) continue;
    add(tensor.name);
    add(fmt::format("{} {}", tensor.float64 ? "F64" : "F32", fmt::join(tensor.shape, ",")));
    add(view(tensor.bytes));
  }
  return hash.text();
}

/// Thrown when the bytes are not in the format, and caught inside the reader.
struct Malformed {
  std::string why;
};

const json::object& object_in(const json::value& value, const std::string& what) {
  if (const auto* object = value.if_object()) return *object;
  throw Malformed{what + " is not a JSON object"};
}

const json::value& member(const json::object& object, const char* key, const std::string& what) {
  if (const json::value* value = object.if_contains(key)) return *value;
  throw Malformed{fmt::format("{} has no \"{}\"", what, key)};
}

std::vector<std::int64_t> naturals(const json::value& value, const std::string& what) {
  const json::array* array = value.if_array();
  if (!array) throw Malformed{what + " is not a list"};
  std::vector<std::int64_t> out;
  for (const json::value& entry : *array) {
    const std::int64_t* n = entry.if_int64();
    if (!n || *n < 0) throw Malformed{what + " holds something that is not a number 0, 1, 2, ..."};
    out.push_back(*n);
  }
  return out;
}

struct PlacedTensor {
  StoredTensor tensor;
  std::size_t begin = 0, end = 0;
};

PlacedTensor read_tensor(const std::string& name, const json::value& value, std::uint64_t data_size) {
  const std::string what = fmt::format("tensor \"{}\"", cut(name));
  const json::object& object = object_in(value, what);
  PlacedTensor placed;
  if (name.empty()) throw Malformed{"a tensor has no name"};
  placed.tensor.name = name;

  const json::string* dtype = member(object, "dtype", what).if_string();
  if (!dtype || (*dtype != "F32" && *dtype != "F64"))
    throw Malformed{fmt::format("{} has the type {}, where F32 and F64 are allowed", what,
                                cut(json::serialize(member(object, "dtype", what))))};
  placed.tensor.float64 = *dtype == "F64";

  placed.tensor.shape = naturals(member(object, "shape", what), what + ": its shape");
  const auto size = bytes_of(placed.tensor.shape, placed.tensor.float64);
  if (!size) throw Malformed{what + " has a shape that is too large for memory"};

  const auto offsets = naturals(member(object, "data_offsets", what), what + ": its data_offsets");
  if (offsets.size() != 2) throw Malformed{fmt::format("{} has {} data_offsets, not 2", what, offsets.size())};
  placed.begin = static_cast<std::size_t>(offsets[0]);
  placed.end = static_cast<std::size_t>(offsets[1]);
  if (placed.begin > placed.end || placed.end > data_size)
    throw Malformed{fmt::format("{} claims bytes {} to {} of {}", what, placed.begin, placed.end, data_size)};
  if (placed.end - placed.begin != *size)
    throw Malformed{fmt::format("{} has {} bytes, its shape needs {}", what, placed.end - placed.begin, *size)};
  return placed;
}

/// Access to a file's bytes, on disk or in memory: `copy` copies the bytes that start at `begin`.
struct CheckpointSource {
  std::uint64_t size = 0;
  std::function<void(std::uint64_t begin, std::span<std::byte> to)> copy;
};

Checkpoint read(const CheckpointSource& file, CheckpointPart part) {
  std::uint64_t length = 0;
  if (file.size < sizeof length) throw Malformed{fmt::format("it has {} bytes, too few for a header", file.size)};
  file.copy(0, std::as_writable_bytes(std::span(&length, 1)));
  const std::uint64_t behind = file.size - sizeof length;
  if (length > behind) throw Malformed{fmt::format("its header claims {} bytes, where {} follow", length, behind)};
  if (length > longest_header)
    throw Malformed{fmt::format("its header has {} bytes, and at most {} make sense there", length, longest_header)};
  std::string header(static_cast<std::size_t>(length), '\0');
  file.copy(sizeof length, std::as_writable_bytes(std::span(header)));
  const std::uint64_t data = sizeof length + length, data_size = file.size - data;

  json::error_code error;
  const json::value parsed = json::parse(header, error);
  if (error) throw Malformed{"its header is not JSON: " + error.message()};

  Checkpoint checkpoint;
  std::vector<PlacedTensor> placed;
  for (const auto& entry : object_in(parsed, "its header")) {
    const std::string name(entry.key());
    if (name != metadata_key) {
      placed.push_back(read_tensor(name, entry.value(), data_size));
      continue;
    }
    for (const auto& pair : object_in(entry.value(), metadata_key)) {
      const json::string* text = pair.value().if_string();
      if (!text) throw Malformed{fmt::format("its metadata \"{}\" is not a text", cut(pair.key()))};
      checkpoint.metadata[std::string(pair.key())] = std::string(*text);
    }
  }

  std::stable_sort(placed.begin(), placed.end(), [](const PlacedTensor& a, const PlacedTensor& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::size_t at = 0;
  for (PlacedTensor& p : placed) {
    if (p.begin != at)
      throw Malformed{fmt::format("tensor \"{}\" begins at byte {}, where the one before ends at {}",
                                  cut(p.tensor.name), p.begin, at)};
    at = p.end;
  }
  if (at != data_size) throw Malformed{fmt::format("it holds {} bytes that belong to no tensor", data_size - at)};
  // Copies the data only after all checks, because overlapping tensors could cause any number of copies.
  for (PlacedTensor& p : placed) {
    if (part == CheckpointPart::weights && of_optimizer(p.tensor.name)) continue;
    p.tensor.bytes.resize(p.end - p.begin);
    file.copy(data + p.begin, p.tensor.bytes);
    checkpoint.tensors.push_back(std::move(p.tensor));
  }

  const auto stated = checkpoint.metadata.find(checksum_key_of(part));
  if (stated == checkpoint.metadata.end()) throw Malformed{"its metadata has no checksum"};
  if (const std::string found = checksum(checkpoint.metadata, checkpoint.tensors, part); stated->second != found)
    throw Malformed{
        fmt::format("its checksum is {}, its content's {}: it was changed or damaged", cut(stated->second), found)};
  for (const char* key : {checksum_key, weights_checksum_key}) checkpoint.metadata.erase(key);
  return checkpoint;
}

/// The file can't be read at the moment.
struct Unread {
  std::string why;
};

Parsed<Checkpoint> parsed(const CheckpointSource& file, CheckpointPart part) {
  using Result = Parsed<Checkpoint>;
  try {
    return Result::ok(read(file, part));
  } catch (const Malformed& malformed) {
    return Result::wrong(malformed.why);
  } catch (const Unread& unread) {
    return Result::wrong(unread.why, ReadProblem::unreadable);
  } catch (const std::bad_alloc&) {
    return Result::wrong(fmt::format("its {} bytes do not fit into memory", file.size), ReadProblem::unreadable);
  }
}

} // namespace

std::string to_safetensors(const Checkpoint& checkpoint) {
  auto metadata = checkpoint.metadata;
  for (const CheckpointPart part : {CheckpointPart::weights, CheckpointPart::all})
    if (!metadata.emplace(checksum_key_of(part), checksum(metadata, checkpoint.tensors, part)).second)
      throw Failed(fmt::format("[checkpoint] the metadata \"{}\" is reserved for the file", checksum_key_of(part)));
  json::object header;
  header[metadata_key] = json::value_from(metadata);

  std::uint64_t at = 0;
  for (const StoredTensor& tensor : checkpoint.tensors) {
    const auto size = bytes_of(tensor.shape, tensor.float64);
    if (!size || *size != tensor.bytes.size())
      throw Failed(fmt::format("[checkpoint] tensor {} of shape [{}] has {} bytes, its shape needs {}", tensor.name,
                               fmt::join(tensor.shape, ", "), tensor.bytes.size(), size.value_or(0)));
    if (header.contains(tensor.name) || tensor.name.empty())
      throw Failed(fmt::format("[checkpoint] two tensors are called \"{}\", or one has no name", tensor.name));
    json::array shape(tensor.shape.begin(), tensor.shape.end());
    header[tensor.name] = {
        {"dtype", tensor.float64 ? "F64" : "F32"}, {"shape", std::move(shape)}, {"data_offsets", {at, at + *size}}};
    at += *size;
  }

  std::string text = json::serialize(header);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > longest_header)
    throw Failed(fmt::format("[checkpoint] the names and shapes of its {} tensors have {} bytes, and can have at most "
                             "{}; make the model smaller",
                             checkpoint.tensors.size(), text.size(), longest_header));
  const std::uint64_t length = text.size();
  std::string out(sizeof length, '\0');
  std::memcpy(out.data(), &length, sizeof length);
  out.reserve(out.size() + text.size() + at);
  out += text;
  for (const StoredTensor& tensor : checkpoint.tensors) out += view(tensor.bytes);
  return out;
}

Parsed<Checkpoint> from_safetensors(std::string_view bytes, CheckpointPart part) {
  return parsed({bytes.size(),
                 [&](std::uint64_t begin, std::span<std::byte> to) {
                   if (!to.empty()) std::memcpy(to.data(), bytes.data() + begin, to.size());
                 }},
                part);
}

Parsed<Checkpoint> read_safetensors(const FileParts& file, CheckpointPart part) {
  return parsed({file.size(),
                 [&](std::uint64_t begin, std::span<std::byte> to) {
                   ReadProblem problem = ReadProblem::none;
                   std::string why = file.read(begin, to, &problem);
                   if (problem == ReadProblem::unreadable) throw Unread{std::move(why)};
                   if (!why.empty()) throw Malformed{std::move(why)};
                 }},
                part);
}

} // namespace heed
