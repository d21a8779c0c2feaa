#include "experiments/system/failure.hpp"

#include "autograd/error.hpp"

#include <fmt/format.h>
#include <new>
#include <stdexcept>
#include <system_error>

namespace heed {

namespace {

/// Advice for using a path that failed; empty if the reason is sufficient.
std::string mend_of(const std::error_code& reason) {
  if (reason == std::errc::permission_denied) return "; let this user have it";
  if (reason == std::errc::filename_too_long) return "; give a shorter name";
  if (reason == std::errc::too_many_symbolic_link_levels) return "; a link leads back to itself: remove it";
  if (reason == std::errc::too_many_files_open || reason == std::errc::too_many_files_open_in_system)
    return "; raise the limit (ulimit -n), or run fewer at once (--jobs)";
  return "";
}

std::string words_of(const std::filesystem::filesystem_error& error) {
  std::string paths;
  for (const std::filesystem::path& path : {error.path1(), error.path2()})
    if (!path.empty()) paths += fmt::format("{}'{}'", paths.empty() ? "" : ", ", path.string());
  const std::string where = paths.empty() ? "a path" : paths;
  return fmt::format("{} can't be used: {}{}", where, error.code().message(), mend_of(error.code()));
}

std::string words_of(const std::system_error& error) {
  if (error.code() == std::errc::resource_unavailable_try_again)
    return "the system starts no more threads for this user: stop other programs, raise the limit (ulimit -u, or the "
           "container's), or give fewer --threads or --jobs";
  return fmt::format("the system refused something that Heed needs: {}{}", error.code().message(),
                     mend_of(error.code()));
}

} // namespace

std::string failure_in_words(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error)) return "out of memory";
  if (const auto* of_path = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) return words_of(*of_path);
  if (const auto* of_system = dynamic_cast<const std::system_error*>(&error)) return words_of(*of_system);
  if (dynamic_cast<const std::logic_error*>(&error))
    return fmt::format("a fault of Heed itself ({}): please report it, with the command and the files that it reads",
                       error.what());
  return error.what();
}

void require_folder_of_runs(const std::filesystem::path& out) {
  std::error_code error;
  const auto status = std::filesystem::status(out, error);
  if (std::filesystem::is_directory(status)) return;
  const std::string name = out.string();
  if (status.type() == std::filesystem::file_type::not_found)
    throw Refused(fmt::format("{}: there is no such folder; heed run CONFIG --out {} makes it", name, name));
  if (error)
    throw Refused(fmt::format("{}: the folder can't be looked at: {}{}", name, error.message(), mend_of(error)));
  throw Refused(fmt::format("{}: it is no folder; name the one that runs were written to", name));
}

} // namespace heed
