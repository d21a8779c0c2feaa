// A data file that is read in pieces, so the whole file is never in memory.
#pragma once

#include "experiments/data/data_cache.hpp"
#include "experiments/system/files.hpp"
#include "experiments/system/text.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace heed {

/// Where a file may be cut into pieces. The last piece ends at the end of the range.
enum class Cut {
  anywhere,
  after_character, ///< after a UTF-8 character
  after_space,     ///< after white space: " \t\r\n\v\f"
  nowhere          ///< the range is one piece
};

/// A file that an option names. It is read and never mapped: if the file is truncated while it is open, this is
/// reported and nothing crashes.
class DataFile {
public:
  /// Option `option` of [table] names the file; errors mention it. Throws heed::Refused if the path is empty, missing,
  /// not a regular file or not readable, if the file is empty, or if the file has more bytes than the machine has
  /// memory.
  DataFile(const std::string& table, const std::string& option, const std::string& path);

  const std::string& name() const { return name_; } ///< with its option: [data] path = "input.txt"
  const std::string& path() const { return path_; }
  std::uint64_t size() const { return parts_.size(); }
  FileIdentity identity() const { return parts_.identity(); }

  /// Calls `use` with bytes [begin, end) in pieces of about 1 MB, and with the offset of each piece. Throws
  /// heed::Refused if they cannot be read.
  void each_piece(std::uint64_t begin, std::uint64_t end, Cut cut,
                  const std::function<void(std::string_view piece, std::uint64_t at)>& use) const;

  /// Calls `use` with each character of bytes [begin, end). Throws heed::Refused if they are not UTF-8, with the
  /// message of require_utf8.
  template <class Use> void each_character(std::uint64_t begin, std::uint64_t end, Use use) const;
  void require_utf8() const;

  /// The size of the byte-order mark before the text: 3 or 0 bytes.
  std::uint64_t mark_size() const;
  /// The offset after the first space, tab or line end at or after `from`; the file's size if there is none.
  std::uint64_t behind_space(std::uint64_t from) const;
  /// The fingerprint (see fingerprint_of) of the bytes from offset `begin` to the end.
  std::string fingerprint(std::uint64_t begin = 0) const;

private:
  [[noreturn]] void refuse_character(std::uint64_t at) const;

  std::string path_, name_;
  FileParts parts_;
};

/// Like `file.fingerprint(begin)`, but cached in `place`. The file is not read again as long as its inode, size and
/// times are unchanged. On a file system that several machines share, the file is always read, because a machine may
/// see new times late.
/// @param settled  the fingerprint is only cached if the file has not changed for this long: later changes could
/// otherwise fall within the clock resolution of the file system and leave the times unchanged
std::string known_fingerprint(const DataFile& file, std::uint64_t begin, const DataCachePlace& place,
                              std::chrono::nanoseconds settled = std::chrono::seconds(3));

template <class Use> void DataFile::each_character(std::uint64_t begin, std::uint64_t end, Use use) const {
  each_piece(begin, end, Cut::after_character, [&](std::string_view piece, std::uint64_t at) {
    if (const std::size_t right = each_utf8(piece, use); right < piece.size()) refuse_character(at + right);
  });
}

} // namespace heed
