#pragma once

// Brings aten's own matrix products to us, so that existing models need no
// change, and gives them back.

namespace tunedops {

/// Puts our functions in the place of aten's products on the devices that we
/// have kernels for, if they are not there. They stay when we are switched off:
/// torch's dispatcher does not expect registration while other threads
/// multiply. Whether a product is looked up is up to TuningContext::is_active.
void install_routing();

/// Gives aten its own functions back: the dispatcher is as if they had never
/// been replaced. For the same reason no other thread may multiply meanwhile.
void remove_routing();

bool routing_is_installed();

}  // namespace tunedops
