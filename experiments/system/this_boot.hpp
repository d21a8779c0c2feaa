// Identifies this machine and its last boot.
#pragma once

#include <string>

namespace heed {

/// The machine's name; empty if the system does not say. Several machines may have the same name.
const std::string& this_host();

/// The kernel's identifier of the machine's last boot; empty if the system does not say. It is unique for each machine
/// and each boot.
const std::string& this_boot();

} // namespace heed
