#pragma once

// Marks what other extensions may link against; all else in the module is
// hidden.

#define TUNEDOPS_PUBLIC __attribute__((visibility("default")))
