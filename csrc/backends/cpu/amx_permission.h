#pragma once

// Whether this process may use AMX. Linux saves the tiles, 8 KiB of each
// thread, only for processes that ask for it.

namespace tunedops::cpu {

/// Asks the processor for tiles and bfloat16 products of them, and then the
/// operating system, which remembers that it was asked: there is no way back,
/// and from then on it wants signal stacks (sigaltstack) to have room for
/// tiles.
bool amx_is_permitted();

}  // namespace tunedops::cpu
