// The fingerprint of the interface between the program and its engines.
#pragma once

namespace heed {

/// A hash of all headers that engines share with the program, as the program was compiled. An engine with another value
/// may have other layouts of classes, so that its functions must not be called.
const char* engine_interface();

} // namespace heed
