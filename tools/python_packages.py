"""Makes sure that a Python has the packages that pyproject.toml asks for.

    python tools/python_packages.py build run test models dev [--install]

`build` is what the build needs, `run` the package's own dependencies; other names are
optional extras. Without `--install` it names what lacks and exits with 1. Only the
standard library and pip are used, since it must work in a fresh environment.
"""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from pip._vendor.packaging.requirements import Requirement

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def requirements(groups: list[str]) -> list[str]:
    """The requirement lines of the groups, in order and once each."""
    content: dict[str, Any] = tomllib.loads(PROJECT.read_text())
    known: dict[str, list[str]] = {
        "build": content["build-system"]["requires"],
        "run": content["project"]["dependencies"],
        **content["project"]["optional-dependencies"],
    }
    unknown = [group for group in groups if group not in known]
    if unknown:
        raise SystemExit(f"unknown groups {unknown}; there are {sorted(known)}")
    return list(dict.fromkeys(line for group in groups for line in known[group]))


def is_satisfied(line: str) -> bool:
    requirement = Requirement(line)
    try:
        version = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        return False
    return requirement.specifier.contains(version, prereleases=True)


def main(arguments: list[str]) -> int:
    groups = [argument for argument in arguments if argument != "--install"]
    lacking = [line for line in requirements(groups) if not is_satisfied(line)]
    if not lacking:
        return 0
    if "--install" in arguments:
        return subprocess.call([sys.executable, "-m", "pip", "install", *lacking])
    print(
        f"{sys.executable} lacks: {', '.join(lacking)}.\n"
        "Install them, or set TUNEDOPS_PIP=1 and they are installed into it, or leave "
        "PYTHON and TUNEDOPS_PYTHON unset and a .venv is made.",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
