// Tests of reading image files: bytes become pixels, and no value in a header is trusted without a check.
#include "experiments/data/image_files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/tasks/task_support.hpp"

using namespace heed;
using namespace heed::test;
using Catch::Contains;
using namespace std::string_literals;

namespace {

std::string big_endian(std::uint32_t n) {
  return {static_cast<char>(n >> 24), static_cast<char>(n >> 16 & 255), static_cast<char>(n >> 8 & 255),
          static_cast<char>(n & 255)};
}

std::string idx_images(std::uint32_t n, std::uint32_t height, std::uint32_t width, const std::string& pixels) {
  return big_endian(0x803) + big_endian(n) + big_endian(height) + big_endian(width) + pixels;
}

std::string idx_labels(std::uint32_t n, const std::string& labels) {
  return big_endian(0x801) + big_endian(n) + labels;
}

LabelledImages read(const std::string& images, const std::string& labels) {
  return images_from_idx(images, "i", labels, "l");
}

} // namespace

TEST_CASE("IDX images and labels are read as they stand", "[images]") {
  const LabelledImages images = read(idx_images(2, 1, 3, "\x01\x02\x03\xff\x00\x7f"s), idx_labels(2, "\x07\x00"s));
  CHECK(images.size() == 2);
  CHECK(images.channels == 1);
  CHECK(images.height == 1);
  CHECK(images.width == 3);
  CHECK(images.pixels == std::vector<std::uint8_t>{1, 2, 3, 255, 0, 127});
  CHECK(images.labels == std::vector<std::uint8_t>{7, 0});
}

TEST_CASE("an IDX file that is not what it says is refused", "[images]") {
  const auto message = [](const std::string& images, const std::string& labels) {
    return refusal([&] { read(images, labels); });
  };
  const std::string labels = idx_labels(1, "\x01");
  CHECK_THAT(message(idx_images(1, 2, 2, "abc"), labels), Contains("i holds 3 bytes after its header, which says 4"));
  CHECK_THAT(message(idx_images(0xffffffff, 0xffffffff, 0xffffffff, "abc"), labels), Contains("which says 79228162"));
  CHECK_THAT(message(labels, labels), Contains("i is not an IDX file of bytes with 3 dimensions: it begins with "
                                               "0x00000801, and should with 0x00000803"));
  CHECK_THAT(message("\x1f\x8b\x08\x00"s + std::string(40, 'x'), labels), Contains("it is compressed: gunzip it"));
  CHECK_THAT(message("ab", labels), Contains("fewer than 4 bytes"));
  CHECK_THAT(message(idx_images(2, 1, 1, "ab"), labels), Contains("i has 2 images and l has 1 labels"));
  CHECK_THAT(message(idx_images(0, 1, 1, ""), idx_labels(0, "")), Contains("has no pixels"));
}

TEST_CASE("CIFAR-10's records are a label and three planes", "[images]") {
  LabelledImages images;
  add_cifar10("\x03" + std::string(1024, 'r') + std::string(1024, 'g') + std::string(1024, 'b'), "c", images);
  add_cifar10("\x09" + std::string(3072, 'x'), "c", images);
  CHECK(images.labels == std::vector<std::uint8_t>{3, 9});
  CHECK(images.channels == 3);
  CHECK(images.pixels.size() == 6144);
  CHECK(images.pixels[0] == 'r');
  CHECK(images.pixels[1024] == 'g');
  CHECK(images.pixels[3071] == 'b');
  const auto message = [](const std::string& bytes) {
    return refusal([&] {
      LabelledImages all;
      add_cifar10(bytes, "c", all);
    });
  };
  CHECK_THAT(message(std::string(3072, 'x')), Contains("c has 3072 bytes, which are not whole records of 3073"));
  CHECK_THAT(message(""), Contains("c has 0 bytes"));
  CHECK_THAT(message("\x0a" + std::string(3072, 'x')), Contains("c: record 1 has the label 10"));
}

TEST_CASE("a folder without images is refused with what it should hold", "[images]") {
  CHECK_THAT(refusal([] { read_image_folder("/nowhere"); }),
             Contains("\"/nowhere\" is not a folder with images") && Contains("train-images-idx3-ubyte"));
  CHECK_THAT(refusal([] { read_image_folder(""); }), Contains("[data] path is empty"));
}
