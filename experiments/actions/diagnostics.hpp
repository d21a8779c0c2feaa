// Errors and notes as data: where something is, what was found, what is allowed, and what was probably meant.
#pragma once

#include "experiments/actions/result_schema.hpp"

#include <boost/describe/enum.hpp>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// An error stops the command; a note does not.
enum class Severity { error, note };
BOOST_DESCRIBE_ENUM(Severity, error, note)

/// One error or note. What the message does not say is empty.
struct Diagnostic {
  Severity severity = Severity::error;
  std::string message = {};             ///< all of it, as people read it
  std::optional<std::string> file = {}; ///< the file, or "command line" for an override there
  std::optional<std::int64_t> line = {}, column = {};
  std::optional<std::string> option = {};  ///< the full name of the config's option: "attention.score"
  std::optional<std::string> found = {};   ///< what was found
  std::optional<std::string> allowed = {}; ///< what is allowed, or what to do
  std::vector<std::string> words = {};     ///< if it must be one of some words: these
  std::optional<std::string> nearest = {}; ///< the nearest name that is allowed
  std::optional<std::string> hint = {};    ///< what Heed calls it, or the command that helps
};
HEED_RESULT(Diagnostic,
            ((severity, "error or note"))((message, "all of it, as people read it"))(
                (file, "the file, \"command line\" or \"standard input\"; null: no place"))((line, "from 1"))(
                (column, "from 1"))((option, "the full name of the config's option"))((found, "what was found"))(
                (allowed, "what is allowed, or what to do"))((words, "if it must be one of some words: these"))(
                (nearest, "the nearest name that is allowed"))((hint, "what Heed calls it, or the command that helps")))

/// The parts of a message that has the form of Heed's messages: "PLACE: FOUND; ALLOWED; did you mean 'NAME'?", then
/// lines with a hint.
Diagnostic diagnostic_of(std::string_view message, Severity severity = Severity::error);

/// The diagnostic of a failure during the work, whose message has no such form.
Diagnostic failure_of(std::string_view message);

/// The diagnostics of an error: of a refused configuration, one for each of its errors.
std::vector<Diagnostic> diagnostics_of(const std::exception& error);

} // namespace heed
