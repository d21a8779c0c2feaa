// Error messages for unknown options and tables.
#pragma once

#include <string>
#include <string_view>

namespace heed {

/// "[attention] has no option 'scroe'; did you mean 'score'?"
std::string unknown_option(std::string_view table, std::string_view name);
/// "there is no table [atention]; did you mean [attention]?"
std::string unknown_table(std::string_view table);
/// The message for a full name, as on a command line: about the option or the table, depending on which helps more.
std::string unknown_key(std::string_view key);

} // namespace heed
