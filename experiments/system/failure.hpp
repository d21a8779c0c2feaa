// Converts exceptions to messages for users.
#pragma once

#include <exception>
#include <filesystem>
#include <string>

namespace heed {

/// An exception's message for users. For Refused and Failed, it is their text. For exceptions of the standard library,
/// it has the path or the limit, the reason, and how to fix the problem.
std::string failure_in_words(const std::exception& error);

/// Throws Refused if `out`, the output folder, is not a folder or can't be accessed.
void require_folder_of_runs(const std::filesystem::path& out);

} // namespace heed
