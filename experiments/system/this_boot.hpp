// Which machine this is, since its last start.
#pragma once

#include <string>

namespace heed {

/// The machine's name; empty where the system does not tell. Several machines may have one name.
const std::string& this_host();

/// The kernel's own identifier of the machine's last start; empty where the system does not tell. No two machines, and
/// no two starts of one, share it.
const std::string& this_boot();

} // namespace heed
