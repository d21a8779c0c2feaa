// What the standard library throws, as sentences.
#pragma once

#include <exception>
#include <filesystem>
#include <string>

namespace heed {

/// What an exception says, for people: of Refused and Failed their text; of the standard library's the path or the limit,
/// the reason, and how to mend it.
std::string failure_in_words(const std::exception& error);

/// Throws Refused where `out`, which should hold runs, is no folder, or can't be looked at.
void require_folder_of_runs(const std::filesystem::path& out);

} // namespace heed
