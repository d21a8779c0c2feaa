// Caches the datasets of large data files, so that one process makes a dataset and all others read it.
#pragma once

#include "experiments/data/data_cache.hpp"
#include "experiments/tasks/listed_task.hpp"

#include <functional>
#include <string>
#include <vector>

namespace heed {

/// A data file with the option that names it.
struct NamedFile {
  std::string table, option, path;
};

/// The files of [data] that are given: path, validation_path and test_path, and Config::of_set.
std::vector<NamedFile> named_files(const Config& config);

/// The dataset that `make` makes from these files and the configuration's [data] and [task]. The dataset of large files
/// is cached (data/data_cache.hpp): the next process reads the cache and does not parse the files again. Throws
/// heed::Refused if a file cannot be used; exceptions of `make` are passed on.
/// @param place  the place of the cache for this number of bytes of data
Dataset cached_dataset(const Config& config, const std::vector<NamedFile>& files, const std::function<Dataset()>& make,
                       const std::function<DataCachePlace(std::uint64_t data_bytes)>& place = data_cache_place);

} // namespace heed
