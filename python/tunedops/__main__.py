"""``python -m tunedops``, and the console script ``tunedops``."""

from __future__ import annotations

import sys

from tunedops.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
