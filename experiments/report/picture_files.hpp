// The formats in which a picture is written.
#pragma once

#include <filesystem>
#include <string>

namespace heed {

/// The format that the name ends in: svg (also without an ending), pdf or png. Throws heed::Refused for another ending,
/// and if the program that makes pdf and png (rsvg-convert) is not installed.
std::string picture_format(const std::filesystem::path& file);

/// The picture in this format. Throws heed::Failed if it cannot be made.
std::string picture_in(const std::string& format, const std::string& svg);

} // namespace heed
