// Labelled images from the files that they are published in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// Images of one size, with their labels.
struct LabelledImages {
  std::int64_t channels = 0, height = 0, width = 0;
  std::vector<std::uint8_t> pixels; ///< [images, channels, height, width]
  std::vector<std::uint8_t> labels; ///< [images]

  std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
  std::int64_t image_size() const { return channels * height * width; }
};

/// A set with its own test part.
struct ImageSet {
  LabelledImages training, test;
  std::string fingerprint;
};

/// Images and labels in IDX, the format of MNIST (LeCun, Cortes and Burges): big-endian, 0x00000803 with three sizes
/// before pixels, 0x00000801 with one before labels. Throws heed::Refused, with the names, where a header is another,
/// where the bytes are not as many as it says, or where there are not as many labels as images.
LabelledImages images_from_idx(std::string_view images, const std::string& images_name, std::string_view labels,
                               const std::string& labels_name);

/// Appends the records of CIFAR-10's binary version: a label below 10, then 3 x 32 x 32 pixels, red, green, blue.
/// Throws heed::Refused where the bytes are not whole records, or a label is 10 or more.
void add_cifar10(std::string_view bytes, const std::string& name, LabelledImages& images);

/// The set in a folder: the four IDX files of the MNIST family (train-images-idx3-ubyte and so on), or CIFAR-10's
/// data_batch_1.bin to data_batch_5.bin and test_batch.bin. Throws heed::Refused where the folder holds neither.
ImageSet read_image_folder(const std::string& path);

/// The test part of the set in a folder, which need hold no other; option `option` of [data] named it. Appends the
/// files' fingerprints.
LabelledImages read_test_images(const std::string& option, const std::string& path, std::string& fingerprint);

} // namespace heed
