"""Builds `tunedops._C`, the one compiled module, with torch's own build tools.

The folders are the source list: every `.cpp` under `csrc`, and every `.cu` and
every file in a folder named `cuda` when CUDA is built in. The metadata is in
pyproject.toml. Environment variables:

    USE_CUDA=0|1          without or with CUDA (default: with it, if it is there)
    CUDA_HOME             the CUDA toolkit (default: found through nvcc)
    TORCH_CUDA_ARCH_LIST  GPU architectures, 8.0 or newer (default: "8.0+PTX;9.0a")
    TUNEDOPS_DEBUG=1      no optimisation, debug symbols
    MAX_JOBS              compilers that run at the same time
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import find_packages, setup

try:
    import pybind11
    import torch
except ImportError as error:
    raise SystemExit(
        f"tunedops: {error}. It is built against the torch that it will run with: "
        "install torch, pybind11 and ninja first, then use --no-build-isolation."
    ) from error

ROOT = Path(__file__).resolve().parent
os.chdir(ROOT)  # setuptools wants source paths relative to this file
# A Python that is called by its path leaves its folder, and so its ninja, off PATH.
os.environ["PATH"] += os.pathsep + str(Path(sys.executable).parent)


def find_cuda_home() -> Path | None:
    """The first toolkit that has both a compiler and the runtime's headers.

    Torch takes the parent of the folder of the first nvcc on PATH. That is wrong
    where this nvcc is a link or a script that calls the real one elsewhere.
    """
    named = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    if named:
        candidates = [Path(named)]
    else:
        nvcc = shutil.which("nvcc")
        candidates = [Path(nvcc).resolve().parents[1]] if nvcc else []
        candidates += [Path("/usr/local/cuda"), Path("/opt/cuda")]
    for home in candidates:
        if (home / "bin/nvcc").exists() and (home / "include/cuda_runtime.h").exists():
            return home
    return None


def decide_cuda(home: Path | None) -> bool:
    """Whether to build CUDA in: what was asked for or, unasked, what is possible."""
    asked = os.environ.get("USE_CUDA", "").strip().lower()
    if asked in ("0", "off", "no", "false"):
        return False
    if torch.version.cuda is None:
        lacking = f"torch {torch.__version__} is a build without CUDA"
    elif home is None:
        lacking = "no CUDA toolkit (nvcc) was found; CUDA_HOME may name one"
    else:
        return True
    if asked:
        raise SystemExit(f"tunedops: USE_CUDA={asked} was asked for, but {lacking}.")
    print(f"tunedops: building for the CPU only, since {lacking}.", file=sys.stderr)
    return False


CUDA_HOME = find_cuda_home()
USE_CUDA = decide_cuda(CUDA_HOME)
if CUDA_HOME is not None:
    os.environ["CUDA_HOME"] = str(CUDA_HOME)  # read by the import below


def choose_architectures(asked: str) -> str:
    """The architectures of a list, as torch takes it, that our kernels can run on."""
    names = asked.replace(" ", ";").split(";")
    old = [n for n in names if n and n[0].isdigit() and float(n.split("+")[0].rstrip("af")) < 8]
    kept = [n for n in names if n and n not in old]
    if not kept:
        raise SystemExit(
            f"tunedops: TORCH_CUDA_ARCH_LIST is '{asked}', but the GPU kernels need compute "
            "capability 8.0 or newer; USE_CUDA=0 builds without them."
        )
    if old:
        print(f"tunedops: left out {', '.join(old)}, older than 8.0.", file=sys.stderr)
    return ";".join(kept)


if USE_CUDA:
    # Without a list torch asks the GPUs of this machine, and a builder may have none. The
    # PTX is for GPUs that are newer than both.
    os.environ["TORCH_CUDA_ARCH_LIST"] = choose_architectures(
        os.environ.get("TORCH_CUDA_ARCH_LIST") or "8.0+PTX;9.0a"
    )

from torch.utils import cpp_extension  # noqa: E402


def read_instruction_sets() -> dict[str, list[str]]:
    """File-name suffix -> compiler flags."""
    lines = (ROOT / "tools/isa_flags.txt").read_text().splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    return {suffix: flags for suffix, *flags in rows}


INSTRUCTION_SETS = read_instruction_sets()


def find_sources() -> tuple[list[str], dict[str, list[str]]]:
    """The plain sources, and those that are for one instruction set by its suffix."""
    files = [*Path("csrc").rglob("*.cpp"), *Path("csrc").rglob("*.cu")]
    plain: list[str] = []
    special: dict[str, list[str]] = {}
    objects: dict[Path, Path] = {}
    for file in sorted(files):
        if not USE_CUDA and ("cuda" in file.parts or file.suffix == ".cu"):
            continue
        twin = objects.setdefault(file.with_suffix(".o"), file)
        if twin != file:
            raise SystemExit(f"tunedops: {twin} and {file} need different stems.")
        suffix = next((s for s in INSTRUCTION_SETS if file.stem.endswith(s)), None)
        if suffix is None:
            plain.append(file.as_posix())
        elif platform.machine().lower() in ("x86_64", "amd64"):
            special.setdefault(suffix, []).append(file.as_posix())
    return plain, special


def cuda_wheel_folders(kind: str) -> list[Path]:
    """The `include` or `lib` folders of the nvidia-* wheels that torch brought along.

    They hold what a small toolkit lacks, cuBLAS above all. CUDA 13's wheels share one
    folder, `nvidia/cu13`; before, each library had its own.
    """
    spec = importlib.util.find_spec("nvidia")
    roots = [Path(p) for p in (spec.submodule_search_locations or [])] if spec else []
    shared = f"cu{torch.version.cuda.split('.')[0]}"
    folders = [folder for root in roots for folder in sorted(root.glob(f"*/{kind}"))]
    return [f for f in folders if f.parent.name == shared] or folders


def cublas_link_flags() -> list[str]:
    """Link flags for cuBLAS from the toolkit or else from the wheels.

    A wheel has only the file with the major version, which is CUDA's and which `-l:`
    can name. If neither has the library, nothing is lost: importing torch loads it and
    exports its symbols.
    """
    flags = []
    for name in ("cublasLt", "cublas"):
        file = f"lib{name}.so.{torch.version.cuda.split('.')[0]}"
        wheels = [f for f in cuda_wheel_folders("lib") if (f / file).exists()]
        if list(CUDA_HOME.glob(f"lib*/lib{name}.so")):
            flags.append(f"-l{name}")
        elif wheels:
            flags += [f"-L{wheels[0]}", f"-l:{file}"]
    return flags


class BuildWithInstructionSets(cpp_extension.BuildExtension):
    """Adds what setuptools lacks: compiler flags for single files.

    Each instruction set's files are compiled first, by the same ninja-driven
    `compile` but with its flags and into a folder of its own, and then linked in as
    ready objects. Ninja leaves alone what has not changed.
    """

    def build_extension(self, ext) -> None:
        for suffix, sources in SPECIAL_SOURCES.items():
            flags = dict(ext.extra_compile_args)
            flags["cxx"] = flags["cxx"] + INSTRUCTION_SETS[suffix]
            ext.extra_objects += self.compiler.compile(
                sources,
                output_dir=os.path.join(self.build_temp, suffix.strip("_")),
                macros=ext.define_macros,
                include_dirs=ext.include_dirs,
                extra_postargs=flags,
            )
        super().build_extension(ext)


def cxx_runtime_flags() -> list[str]:
    """The C++ runtime that torch has loaded, where the compiler has only a static one.

    Two copies of it in a process share some symbols and not others: streams that one
    makes crash in the other.
    """
    compiler = shlex.split(os.environ.get("CXX", "c++"))  # "ccache g++", say
    found = subprocess.run(
        [*compiler, "-print-file-name=libstdc++.so"], capture_output=True, text=True, check=False
    ).stdout.strip()
    if os.path.isabs(found):
        return []
    maps = Path("/proc/self/maps")
    lines = maps.read_text().splitlines() if maps.exists() else []
    loaded = {line.split()[-1] for line in lines if "/libstdc++.so" in line}
    return sorted(loaded)[:1]


def make_extension(sources: list[str]):
    debug = os.environ.get("TUNEDOPS_DEBUG") == "1"
    kind = cpp_extension.CUDAExtension if USE_CUDA else cpp_extension.CppExtension
    ext = kind(
        "tunedops._C",
        sources,
        # Without -fopenmp torch's at::parallel_for silently uses one thread.
        extra_link_args=[
            "-fopenmp",
            *cxx_runtime_flags(),
            *(cublas_link_flags() if USE_CUDA else []),
        ],
        define_macros=[("TUNEDOPS_USE_CUDA", None)] if USE_CUDA else [],
    )
    # Other people's headers are system headers, so that -Wall speaks of ours only;
    # the toolkit's come before the wheels', which only fill in what it lacks.
    wheels = [str(p) for p in cuda_wheel_folders("include")] if USE_CUDA else []
    foreign = [pybind11.get_include(), *ext.include_dirs, *wheels]
    ext.include_dirs = [str(ROOT / "csrc")]
    if USE_CUDA:
        ext.include_dirs += [str(CUDA_HOME / "include"), *wheels]
    ext.extra_compile_args = {
        "cxx": [
            *(f"-isystem{path}" for path in foreign if path != "/usr/include"),
            # System headers are no dependencies to ninja: this makes it recompile
            # everything after torch was upgraded.
            f'-DTUNEDOPS_BUILT_WITH_TORCH="{torch.__version__}"',
            *(("-O0", "-g") if debug else ("-O3", "-g0")),
            # It gathers single values into vector registers, through memory: on the
            # path of every call that is longer. (Loops are vectorized all the same.)
            "-fno-tree-slp-vectorize",
            *("-std=c++20", "-fopenmp", "-fvisibility=hidden", "-Wall", "-Wextra"),
        ],
        # A flag with "arch" in it, even in a path, would make torch drop its
        # architecture list.
        "nvcc": [
            *("-std=c++20", "-O3", "--expt-relaxed-constexpr"),
            "--compiler-options=-Wall,-fvisibility=hidden",
            # Torch turns off the operators of half and bfloat16; our kernels use them.
            *("-U__CUDA_NO_HALF_OPERATORS__", "-U__CUDA_NO_HALF_CONVERSIONS__"),
            *("-U__CUDA_NO_HALF2_OPERATORS__", "-U__CUDA_NO_BFLOAT16_CONVERSIONS__"),
        ],
    }
    return ext


PLAIN_SOURCES, SPECIAL_SOURCES = find_sources()

setup(
    license="BSD-3-Clause",
    # Folders outside `python` that the wheel carries as data. In a source tree
    # the package finds them where they are.
    packages=[
        *find_packages("python", include=["tunedops*"]),
        *("tunedops.workloads", "tunedops.databases", "tunedops.include"),
    ],
    package_dir={
        "": "python",
        "tunedops.workloads": "tuning/workloads",
        "tunedops.databases": "tuning/databases",
        "tunedops.include": "csrc",
    },
    package_data={
        "tunedops": ["py.typed", "*.pyi"],
        "tunedops.workloads": ["*.csv"],
        "tunedops.databases": ["**/*.csv"],
        "tunedops.include": ["**/*.h", "**/*.cuh"],
    },
    # Else everything that MANIFEST.in lists below these folders is data, .cpp too.
    include_package_data=False,
    py_modules=sorted(path.stem for path in Path("python").glob("*.py")),
    ext_modules=[make_extension(PLAIN_SOURCES)],
    cmdclass={"build_ext": BuildWithInstructionSets},
)
