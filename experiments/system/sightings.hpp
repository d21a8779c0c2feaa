// How long a file that another process renews has not changed, by this process's own clock.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

namespace heed {

/// The clock that says how old a file was when this process first looked at it.
enum class AgeClock { files, machine };

/// The time for which the file is known to be in this state: since this process first saw it, or longer if `age` said
/// so at that look. So a file whose time lies in the future gets old, too, and a clock that jumps later changes
/// nothing. The steady clock stops while the machine sleeps, like the machine's other processes. Any thread may call
/// it.
/// @param state  differs after each renewal
/// @param asked  a time right before the file was read; nothing is known of the time since
/// @param age    its age in seconds by `clock`, asked for once for each state and clock
std::chrono::steady_clock::duration time_unchanged(const std::filesystem::path& file, const std::string& state,
                                                   std::chrono::steady_clock::time_point asked, AgeClock clock,
                                                   const std::function<double()>& age);

} // namespace heed
