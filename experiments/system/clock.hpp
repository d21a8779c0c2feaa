// The current time in UTC as text, for files that people and other machines read.
#pragma once

#include <string>

namespace heed {

/// "2026-11-22T10:15:00Z".
std::string utc_now();

} // namespace heed
