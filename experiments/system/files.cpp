#include "experiments/system/file_entry.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace heed {

namespace fs = std::filesystem;
using file_entry::entry_of;

void write_file(const fs::path& path, std::string_view bytes, Durability durability) {
  if (const int error = file_entry::try_write(entry_of(path), bytes, durability))
    file_entry::fail("write", path, error);
}

void append_line(const fs::path& path, std::string_view line) { file_entry::append_line(entry_of(path), line); }

Parsed<std::string> read_file(const fs::path& path, std::uint64_t most) {
  return file_entry::read_regular(entry_of(path), most, file_entry::Take::all);
}

Parsed<std::string> read_beginning(const fs::path& path, std::uint64_t bytes) {
  return file_entry::read_regular(entry_of(path), bytes, file_entry::Take::beginning);
}

Parsed<FileParts> FileParts::open(const fs::path& path) { return file_entry::open_parts(entry_of(path)); }

void make_folder(const fs::path& path) {
  if (const int error = file_entry::try_make_folder(path)) file_entry::fail("make the folder", path, error);
}

void remove_leftovers(const fs::path& folder) {
  file_entry::remove_leftovers(Descriptor(::open(folder.empty() ? "." : folder.c_str(),
                                                 O_PATH | O_DIRECTORY | O_CLOEXEC)));
}

void make_output_folder(const fs::path& path) {
  using file_entry::complaint;
  if (path.empty()) throw Refused("the output folder is an empty text; name a folder, such as \"runs\"");
  if (const int error = file_entry::try_make_folder(path))
    throw Refused(complaint("make the output folder", path, error));
  remove_leftovers(path);
  const fs::path probe = path / ".heed-probe";
  if (const int error = file_entry::try_write(entry_of(probe), "heed\n", Durability::disk))
    throw Refused(complaint("write to the output folder", path, error));
  ::unlink(probe.c_str());
}

} // namespace heed
