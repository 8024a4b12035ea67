"""Installs a wheel into a temporary folder and sees whether it is all there.

    python tools/check_wheel.py dist/tunedops-*.whl

A package that works in its source tree can lack data, headers or the compiled module
as a wheel; only an installed copy shows that.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

# Runs in a fresh interpreter, in a folder that holds nothing but the installed wheel.
CHECK = """
from pathlib import Path

import torch
import tunedops

package = Path(tunedops.__file__).parent
assert package.parent == Path.cwd(), f"imported from {package}, not from the wheel"
a, b = torch.randn(5, 7), torch.randn(7, 3)
torch.testing.assert_close(torch.ops.tunedops.mm(a, b), a @ b)
assert (package / "py.typed").exists(), "py.typed is missing: users get no types"
assert list((package / "workloads").glob("*.csv")), "no workloads"
assert tunedops.get_databases() == package / "databases", "the databases are not the wheel's"
assert list((package / "databases").glob("*/*.csv")), "no databases"
headers = Path(tunedops.get_include())
assert headers.is_relative_to(package), f"get_include() points outside: {headers}"
assert list(headers.rglob("*.h")), "no headers"
assert not list(package.rglob("*.cpp")), "sources in the wheel"
print(f"wheel: {tunedops.__name__} {tunedops.__version__} imports and runs")
"""


def main(wheels: list[str]) -> int:
    if len(wheels) != 1:
        raise SystemExit(f"one wheel expected, got {wheels}")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    with tempfile.TemporaryDirectory() as folder:
        install = ["pip", "install", "--quiet", "--no-deps", "--target", folder]
        subprocess.check_call([sys.executable, "-m", *install, *wheels])
        return subprocess.call([sys.executable, "-c", CHECK], cwd=folder, env=environment)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
