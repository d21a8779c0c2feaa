// A data file that is read in pieces, so that it is never held whole.
#pragma once

#include "experiments/data/data_cache.hpp"
#include "experiments/system/utf8.hpp"
#include "experiments/system/files.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace heed {

/// Where a file may be cut into pieces; the last piece ends where it must.
enum class Cut {
  anywhere,
  after_character, ///< of UTF-8
  after_space,     ///< white space: " \t\r\n\v\f"
  nowhere          ///< it is one piece
};

/// A file that an option names. It is read, never mapped: who shortens it meanwhile is told of, and ends nobody.
class DataFile {
public:
  /// Option `option` of [table] names it, and stands in errors. Throws heed::Refused where the path is empty, missing,
  /// not a regular file or not readable, where the file is empty, and where the machine has less memory than it has
  /// bytes.
  DataFile(const std::string& table, const std::string& option, const std::string& path);

  const std::string& name() const { return name_; } ///< with its option: [data] path = "input.txt"
  const std::string& path() const { return path_; }
  std::uint64_t size() const { return parts_.size(); }
  FileIdentity identity() const { return parts_.identity(); }

  /// Calls `use` with bytes [begin, end) piece by piece, of a MB or so each, and where each begins. Throws
  /// heed::Refused where they can't be read.
  void each_piece(std::uint64_t begin, std::uint64_t end, Cut cut,
                  const std::function<void(std::string_view piece, std::uint64_t at)>& use) const;

  /// Calls `use` with each character of bytes [begin, end). Throws heed::Refused where they are not UTF-8, as
  /// require_utf8.
  template <class Use> void each_character(std::uint64_t begin, std::uint64_t end, Use use) const;
  void require_utf8() const;

  /// The bytes before the text: those of a byte-order mark, 3 or none.
  std::uint64_t mark_size() const;
  /// Behind the first space, tab or line end at `from` or after it; the file's size where there is none.
  std::uint64_t behind_space(std::uint64_t from) const;
  /// Of the bytes from `begin` on, as fingerprint_of.
  std::string fingerprint(std::uint64_t begin = 0) const;

private:
  [[noreturn]] void refuse_character(std::uint64_t at) const;

  std::string path_, name_;
  FileParts parts_;
};

/// The same as `file.fingerprint(begin)`. Where data is kept, so is this, and the file is not read again as long as its
/// inode, size and times are what they were; of a file system that several machines share, whose times one of them may
/// hear of late, it is read each time.
/// @param settled  so long it must not have changed: what changed a moment ago may change again within what a file
///                 system's clock can tell apart
std::string known_fingerprint(const DataFile& file, std::uint64_t begin, const DataCachePlace& place,
                              std::chrono::nanoseconds settled = std::chrono::seconds(3));

template <class Use> void DataFile::each_character(std::uint64_t begin, std::uint64_t end, Use use) const {
  each_piece(begin, end, Cut::after_character, [&](std::string_view piece, std::uint64_t at) {
    if (const std::size_t right = each_utf8(piece, use); right < piece.size()) refuse_character(at + right);
  });
}

} // namespace heed
