// Readers for labelled images in the file formats of MNIST (IDX) and CIFAR-10.
#pragma once

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

/// A training set and its test set.
struct ImageSet {
  LabelledImages training, test;
  std::string fingerprint;
};

/// Reads images and labels in IDX, the format of MNIST (LeCun, Cortes and Burges). The format is big-endian: 0x00000803
/// and three sizes before the pixels, 0x00000801 and one size before the labels. Throws heed::Refused, with the names,
/// if a header is different, if the number of bytes does not match the header, or if the numbers of labels and images
/// differ.
LabelledImages images_from_idx(std::string_view images, const std::string& images_name, std::string_view labels,
                               const std::string& labels_name);

/// Appends the records of CIFAR-10's binary version: a label below 10, then 3 x 32 x 32 pixels (red, green, blue).
/// Throws heed::Refused if the last record is incomplete or a label is 10 or more.
void add_cifar10(std::string_view bytes, const std::string& name, LabelledImages& images);

/// Reads the set in a folder: the four IDX files of the MNIST family (train-images-idx3-ubyte etc.), or CIFAR-10's
/// data_batch_1.bin to data_batch_5.bin and test_batch.bin. Throws heed::Refused if the folder contains neither.
ImageSet read_image_folder(const std::string& path);

/// Reads the test set in a folder, which does not need to contain a training set. Option `option` of [data] named the
/// folder. Appends the fingerprints of the files to `fingerprint`.
LabelledImages read_test_images(const std::string& option, const std::string& path, std::string& fingerprint);

} // namespace heed
