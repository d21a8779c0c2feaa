// Fuzz target: the readers of image files. Input: one byte, then the file. If the lowest bit of the byte is set, the
// file has CIFAR-10 records. Otherwise two bytes give the length of an IDX file of images, which is followed by an IDX
// file of labels.
#include "experiments/data/image_files.hpp"
#include "tests/fuzz/target.hpp"

#include <algorithm>

using namespace heed;
using fuzz::refusal;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  LabelledImages images;
  const std::string_view bytes = fuzz::text(data + 3, size - 3);
  const std::size_t first = std::min(bytes.size(), std::size_t{data[1]} * 256 + data[2]);
  const auto read = [&] {
    if (data[0] & 1) add_cifar10(bytes, "input.bin", images);
    else images = images_from_idx(bytes.substr(0, first), "images", bytes.substr(first), "labels");
  };
  if (!refusal(read).empty()) return 0;
  require(images.channels > 0 && images.height > 0 && images.width > 0 && images.size() > 0, "images of no size");
  require(std::ssize(images.pixels) == images.size() * images.image_size(), "pixels that belong to no image");
  return 0;
}
