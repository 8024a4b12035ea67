#!/usr/bin/env bash
# Runs every compiled variant of our kernels under compute-sanitizer, with the Python and
# the torch that are there. Called by `make gpu-memcheck`; the log is build/gpu/memcheck.log.
#
#   PYTHON     the Python to use (python3)
#   RACE=1     look for races in shared memory too (racecheck), which takes longer
#   SANITIZER  the compute-sanitizer to use, if it is not found by itself
set -uo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
out=build/gpu
export PYTHONPATH=$PWD/python${PYTHONPATH:+:$PYTHONPATH} PYTHONUNBUFFERED=1
export PYTORCH_NO_CUDA_MEMORY_CACHING=1 CUDA_MODULE_LOADING=LAZY

fail() {
  echo "gpu-memcheck: $1" >&2
  exit 1
}

find_sanitizer() {
  local place
  for place in "${SANITIZER:-}" "$(command -v compute-sanitizer)" \
    "${CUDA_HOME:-/usr/local/cuda}/bin/compute-sanitizer" \
    "${CUDA_HOME:-/usr/local/cuda}/compute-sanitizer/compute-sanitizer"; do
    [ -n "$place" ] && [ -x "$place" ] && echo "$place" && return
  done
  return 1
}

check() {
  local tool=$1 log=$out/$1.log code=0 start=$SECONDS
  shift
  printf '\n######## %s\n' "$tool"
  "$sanitizer" --tool "$tool" --error-exitcode 9 "$@" "$python" tests/gpu/memcheck.py \
    >"$log" 2>&1 || code=$?
  if grep -qi 'device not supported' "$log"; then
    fail "compute-sanitizer refuses this device (Device not supported); see $log"
  fi
  grep -E 'memcheck: |ERROR SUMMARY|RACECHECK SUMMARY' "$log" || true
  if [ "$code" -ne 0 ]; then
    tail -n 60 "$log"
    fail "$tool FAILED with code $code; see $log"
  fi
  grep -q 'memcheck: ' "$log" || fail "$tool ended without a result; see $log"
  printf '%s passed (%d s)\n' "$tool" $((SECONDS - start))
}

"$python" -c 'import torch' 2>/dev/null ||
  fail "$python has no torch that can be imported; PYTHON may name another one"
"$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null ||
  fail "torch sees no GPU here, and all of this needs one"
sanitizer=$(find_sanitizer) ||
  fail "compute-sanitizer was not found. A full CUDA toolkit has it, torch's wheels do not; where
the toolkit was installed in parts, NVIDIA's Debian package is cuda-sanitizer-<version> and
conda's cuda-sanitizer-api. SANITIZER may name the program."
"$python" -c 'import tunedops' 2>/dev/null ||
  fail "tunedops is not built for $python: make build, or make gpu-check, does that"
mkdir -p "$out"

# Space between allocations, so that none hides an access beyond its neighbour.
check memcheck --padding 256
if [ "${RACE:-0}" = 1 ]; then
  check racecheck
fi
