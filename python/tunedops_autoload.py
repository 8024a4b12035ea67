"""What torch calls when it is imported, so that a program need not import tunedops.

With ``TUNEDOPS_ENABLED=1`` set, ``import torch`` imports tunedops, which then routes torch's
products. Without the variable this returns at once. It is a module of its own because the
entry point's module is imported even when there is nothing to do, and because nothing here
may make ``import torch`` fail.
"""

import os
import sys


def autoload() -> None:
    """The ``torch.backends`` entry point."""
    # Whether the value means "on" is known to the package; what is absent or plainly off
    # should not cost an import. If the program imported tunedops first, that import is
    # what brought torch in, and it does the rest itself.
    if os.environ.get("TUNEDOPS_ENABLED", "0") in ("", "0") or "tunedops" in sys.modules:
        return
    try:
        import tunedops  # noqa: F401
    except Exception as error:
        say(
            f"TUNEDOPS_ENABLED is set, but tunedops could not be imported ({error!r}); "
            "torch runs without it"
        )


def say(message: str) -> None:
    """Warns; where warnings are errors it prints, since importing torch must not fail."""
    import warnings

    try:
        warnings.warn(message, stacklevel=3)
    except Warning:
        print(f"tunedops: {message}", file=sys.stderr)
