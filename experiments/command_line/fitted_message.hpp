// Breaks messages between words where they are wider than the terminal.
#pragma once

#include "experiments/command_line/console.hpp"

#include <cstddef>
#include <string>

namespace heed {

/// Breaks each line of a message that is wider than `width` columns at spaces. New lines begin with the indentation of
/// their line; after the first line of the message, with six spaces. A line that begins with `program` is a command for
/// the user to copy and stays whole, and so does a word that is too wide. With a width of 0, nothing is broken.
/// @param before  columns that the caller prints before the message
std::string fitted(const std::string& message, std::size_t width, const std::string& program, std::size_t before = 0);

/// The same with the width of the terminal to which errors are written, and without the end of a text that no person
/// reads (system/cut_text.hpp). Without a terminal, nothing is broken, so that
/// a message is one line in a log.
std::string fitted(const std::string& message, const Console& console, std::size_t before = 0);

/// Writes "heed: MESSAGE" to the console's stream of errors, with a line end, fitted to its terminal.
void say(Console& console, const std::string& message);

} // namespace heed
