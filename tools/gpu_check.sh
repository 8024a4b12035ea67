#!/usr/bin/env bash
# Builds, tests, tunes and compares with torch on a GPU, with the Python and the torch that
# are there: a machine with a GPU is often lent for minutes and without a network. It tunes
# twice, with all kernels and with those of libraries only, and both are compared. A stage
# that fails does not keep the others from running, except for the build; all of it is
# known at the end, and the families' table is the last thing printed. Called by
# `make gpu-check`; results are in build/gpu.
#
#   PYTHON     the Python to use (python3)
#   DEVICE     cuda or cuda:INDEX (cuda)
#   WORKLOADS  what to tune and to compare (tuning/workloads/gpu.csv)
#   RECORD     a name: the record is copied into benchmarks/results if nothing failed
set -uo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
device=${DEVICE:-cuda}
workloads=${WORKLOADS:-tuning/workloads/gpu.csv}
record=${RECORD:-}
out=build/gpu
export PYTHONPATH=$PWD/python${PYTHONPATH:+:$PYTHONPATH} PYTHONUNBUFFERED=1

fail() {
  echo "gpu-check: $1" >&2
  exit 1
}

failed=()
stage() {
  local name=$1 start=$SECONDS verdict=passed
  shift
  printf '\n######## %s (%d s so far)\n' "$name" "$SECONDS"
  "$@" || { verdict=FAILED && failed+=("$name"); }
  printf '%s %s (%d s)\n' "$name" "$verdict" $((SECONDS - start))
}

build() {
  # For this GPU only, which saves half of nvcc's time.
  TORCH_CUDA_ARCH_LIST=${TORCH_CUDA_ARCH_LIST:-$architecture} USE_CUDA=1 \
    "$python" setup.py --quiet egg_info build_ext --inplace >"$out/build.log" 2>&1 ||
    { tail -n 60 "$out/build.log" && return 1; }
}

run_tests() {
  local workers=()
  "$python" -c 'import xdist' 2>/dev/null && workers=(-n 4)
  "$python" -m pytest -q "${workers[@]}" tests/gpu
}

# Into the results file of that name.
tune() {
  local name=$1 code=0
  "$python" -m tunedops tune "$workloads" --device "$device" -o "$out/$name.csv" \
    >"$out/$name.log" || code=$?
  # The table is long; each suite's geometric mean, and what failed, is enough here.
  grep -E 'geomean|failed|disturbed|^tuned ' "$out/$name.log" | tr -s ' ' || true
  return "$code"
}

tune_library() {
  TUNEDOPS_KERNELS=Gemm_Cublas,Gemm_Cublaslt tune library
}

compare() {
  local library=()
  [ ! -f "$out/library.csv" ] || library=(--library-results "$out/library.csv")
  "$python" benchmarks/compare.py --workloads "$workloads" --results "$out/tuned.csv" \
    "${library[@]}" --device "$device" --tunableop --record "$out/record"
}

"$python" -c 'import torch' 2>/dev/null ||
  fail "$python has no torch that can be imported; PYTHON may name another one"
architecture=$("$python" -c '
import sys, torch
device = torch.device(sys.argv[1])
if device.type != "cuda" or (device.index or 0) >= torch.cuda.device_count():
    sys.exit(1)
major, minor = torch.cuda.get_device_capability(device)
print(f"{major}.{minor}" + ("a" if major >= 9 else ""))
' "$device" 2>/dev/null) || fail "torch sees no GPU '$device' here, and all of this needs one"
"$python" tools/python_packages.py build run test || fail "packages are lacking"
rm -rf "$out" && mkdir -p "$out"

stage build build
[ ${#failed[@]} -eq 0 ] || fail "the build failed"
stage tests run_tests
stage tune tune tuned
stage "tune, library kernels only" tune_library
printf '\n######## compare (%d s so far)\n' "$SECONDS"
compare || failed+=(compare)

[ ${#failed[@]} -eq 0 ] || fail "FAILED: ${failed[*]}"
if [ -n "$record" ]; then
  for ending in .csv .json; do
    cp "$out/record$ending" "benchmarks/results/$record$ending"
  done
  for results in tuned library; do
    cp "$out/$results.csv" "benchmarks/results/${record}_$results.csv"
  done
fi
