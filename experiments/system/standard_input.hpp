// Standard input as a text.
#pragma once

#include <cstddef>
#include <string>

namespace heed {

/// All of standard input, which may be a pipe or a device that never ends. Throws heed::Refused if it can't be read, or
/// has more than `most` bytes.
std::string standard_input(std::size_t most);

} // namespace heed
