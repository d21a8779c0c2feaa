// Listings of large data files, made once for all processes.
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

/// Those of [data]: path, validation_path and test_path, as far as they are given.
std::vector<NamedFile> named_files(const DataOptions& data);

/// What `make` makes of these files and the configuration's [data] and [task]. Of large files it is kept
/// (data/data_cache.hpp), and the next process reads what was kept, and them no more. Throws heed::Refused where a file
/// can't be used, and what `make` throws.
/// @param place  where it is kept, of so many bytes of data
Dataset cached_dataset(const Config& config, const std::vector<NamedFile>& files, const std::function<Dataset()>& make,
                       const std::function<DataCachePlace(std::uint64_t data_bytes)>& place = data_cache_place);

} // namespace heed
