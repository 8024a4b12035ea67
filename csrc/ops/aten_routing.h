#pragma once

// Brings aten's own matrix products to us, so that existing models need no
// change.

namespace tunedops {

/// Puts our functions in the place of aten's products on the devices that we
/// have kernels for. Once per process, and for good: torch's dispatcher does
/// not expect registration while other threads multiply. Whether a product is
/// looked up is up to TuningContext::is_active.
void install_routing();
bool routing_is_installed();

}  // namespace tunedops
