#include "experiments/data/image_files.hpp"

#include "autograd/error.hpp"
#include "experiments/data/text_file.hpp"
#include "experiments/system/text.hpp"
#include "experiments/system/working_folder.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace heed {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t cifar_side = 32, cifar_channels = 3, cifar_classes = 10;

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

/// The sizes in the header of an IDX file of bytes (type 0x08) with this number of dimensions. Checked against the
/// number of bytes.
std::vector<std::int64_t> idx_sizes(std::string_view bytes, std::size_t dimensions, const std::string& name) {
  const std::size_t header = 4 + 4 * dimensions;
  const auto magic = static_cast<std::uint32_t>(0x800 + dimensions);
  if (bytes.size() < header || big_endian(bytes, 0) != magic)
    throw Refused(fmt::format("{} is not an IDX file of bytes with {} dimension{}: it begins with {}, and should with "
                              "0x{:08X}{}",
                              name, dimensions, plural(dimensions),
                              bytes.size() < 4 ? "fewer than 4 bytes" : fmt::format("0x{:08X}", big_endian(bytes, 0)),
                              magic, bytes.starts_with("\x1f\x8b") ? "; it is compressed: gunzip it" : ""));
  std::vector<std::int64_t> sizes;
  double product = 1;
  for (std::size_t i = 0; i < dimensions; ++i) {
    sizes.push_back(big_endian(bytes, 4 + 4 * i));
    product *= static_cast<double>(sizes.back());
  }
  if (product != static_cast<double>(bytes.size() - header))
    throw Refused(fmt::format("{} holds {} bytes after its header, which says {:.0f}: it is cut off or damaged; get it "
                              "again",
                              name, bytes.size() - header, product));
  return sizes;
}

/// Reads parts of image sets. Option `option` named the folder. The fingerprints of the files are added to `all`.
struct FolderReader {
  std::string option;
  fs::path folder;
  std::string all;

  std::string read(const std::string& file) {
    std::string bytes = read_data_file("data", option, (folder / file).string());
    all += fingerprint_of(bytes);
    return bytes;
  }

  LabelledImages idx(const char* images, const char* labels) {
    const std::string pixels = read(images), classes = read(labels);
    return images_from_idx(pixels, (folder / images).string(), classes, (folder / labels).string());
  }
  LabelledImages idx_training() { return idx("train-images-idx3-ubyte", "train-labels-idx1-ubyte"); }
  LabelledImages idx_test() { return idx("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"); }

  void cifar(const std::string& file, LabelledImages& to) { add_cifar10(read(file), (folder / file).string(), to); }
  LabelledImages cifar_training() {
    LabelledImages out;
    for (int i = 1; i <= 5; ++i) cifar(fmt::format("data_batch_{}.bin", i), out);
    return out;
  }
  LabelledImages cifar_test() {
    LabelledImages out;
    cifar("test_batch.bin", out);
    return out;
  }
};

} // namespace

LabelledImages images_from_idx(std::string_view images, const std::string& images_name, std::string_view labels,
                               const std::string& labels_name) {
  const auto size = idx_sizes(images, 3, images_name), count = idx_sizes(labels, 1, labels_name);
  if (size[0] != count[0])
    throw Refused(fmt::format("{} has {} images and {} has {} labels; they do not belong together", images_name,
                              size[0], labels_name, count[0]));
  if (size[0] == 0 || size[1] == 0 || size[2] == 0)
    throw Refused(fmt::format("{} has no pixels: it says {} x {} x {}", images_name, size[0], size[1], size[2]));
  LabelledImages out{1, size[1], size[2], {}, {}};
  out.pixels.assign(images.begin() + 16, images.end());
  out.labels.assign(labels.begin() + 8, labels.end());
  return out;
}

void add_cifar10(std::string_view bytes, const std::string& name, LabelledImages& images) {
  images.channels = cifar_channels;
  images.height = images.width = cifar_side;
  const auto record = static_cast<std::size_t>(1 + images.image_size());
  if (bytes.empty() || bytes.size() % record != 0)
    throw Refused(fmt::format("{} has {} bytes, which are not whole records of {} (CIFAR-10, binary version): it is "
                              "cut off or another file; get it again",
                              name, bytes.size(), record));
  for (std::size_t at = 0; at < bytes.size(); at += record) {
    const auto label = static_cast<std::uint8_t>(bytes[at]);
    if (label >= cifar_classes)
      throw Refused(fmt::format("{}: record {} has the label {}, and CIFAR-10 has 0 to 9", name, at / record + 1,
                                label));
    images.labels.push_back(label);
    const std::string_view pixels = bytes.substr(at + 1, record - 1);
    images.pixels.insert(images.pixels.end(), pixels.begin(), pixels.end());
  }
}

ImageSet read_image_folder(const std::string& path) {
  if (path.empty()) throw Refused("[data] path is empty, and the task reads a folder: name one, data.path=FOLDER");
  FolderReader reader{"path", WorkingFolder::place_of(path), ""};
  const fs::path& folder = reader.folder;
  std::error_code error;
  ImageSet set;
  if (fs::exists(folder / "train-images-idx3-ubyte", error)) {
    set.training = reader.idx_training();
    set.test = reader.idx_test();
  } else if (fs::exists(folder / "data_batch_1.bin", error)) {
    set.training = reader.cifar_training();
    set.test = reader.cifar_test();
  }
  set.fingerprint = fingerprint_of(reader.all);
  if (set.training.size() > 0) return set;
  const bool compressed = fs::exists(folder / "train-images-idx3-ubyte.gz", error);
  throw Refused(fmt::format("[data] path = \"{}\" is not a folder with images{}; it should hold "
                            "train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and "
                            "t10k-labels-idx1-ubyte (MNIST and its family), or data_batch_1.bin to data_batch_5.bin "
                            "and test_batch.bin (CIFAR-10, binary version)",
                            path, compressed ? ": its files are compressed, so gunzip them" : ""));
}

LabelledImages read_test_images(const std::string& option, const std::string& path, std::string& fingerprint) {
  FolderReader reader{option, WorkingFolder::place_of(path), ""};
  const auto part = [&] {
    std::error_code error;
    if (fs::exists(reader.folder / "t10k-images-idx3-ubyte", error)) return reader.idx_test();
    if (fs::exists(reader.folder / "test_batch.bin", error)) return reader.cifar_test();
    throw Refused(fmt::format("[data] {} = \"{}\" is not a folder with a test part of images; it should hold "
                              "t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte (MNIST and its family), or "
                              "test_batch.bin (CIFAR-10, binary version)",
                              option, path));
  };
  LabelledImages out = part();
  fingerprint += reader.all;
  return out;
}

} // namespace heed
