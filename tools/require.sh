#!/usr/bin/env bash
# Makes sure that programs and headers are there, before a build fails halfway.
#
#   tools/require.sh command:cmake=cmake header:gtest/gtest.h=libgtest-dev
#
# Each argument is KIND:WHAT=PACKAGE, the package by its Debian name. What lacks is
# installed when this runs as root on Debian or Ubuntu; elsewhere it is named and the
# exit status is 1. Kinds: `command`, `header` (a C++ compiler must find it), and
# `python-header` and `python-venv`, where WHAT is a Python interpreter.
set -euo pipefail

have() {
  local kind=$1 what=$2
  case $kind in
    command) command -v "$what" >/dev/null ;;
    header) echo "#include <$what>" | c++ -std=c++20 -fsyntax-only -x c++ - 2>/dev/null ;;
    python-header)
      "$what" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))'
      ;;
    python-venv) "$what" -c 'import ensurepip, venv' 2>/dev/null ;;
    *) echo "tools/require.sh: unknown kind '$kind'" >&2 && exit 2 ;;
  esac
}

find_lacking() {
  lacking=() packages=()
  local argument kind what
  for argument in "$@"; do
    kind=${argument%%:*}
    what=${argument#*:} && what=${what%=*}
    if ! have "$kind" "$what"; then
      lacking+=("$what") packages+=("${argument##*=}")
    fi
  done
}

find_lacking "$@"
[ ${#lacking[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "Lacking: ${lacking[*]}. Please install (Debian's names): ${packages[*]}" >&2
  exit 1
fi

echo "Installing ${packages[*]} (for ${lacking[*]})"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq </dev/null
apt-get install -y -qq --no-install-recommends "${packages[@]}" </dev/null
find_lacking "$@"
if [ ${#lacking[@]} -ne 0 ]; then
  echo "Still lacking after installing ${packages[*]}: ${lacking[*]}" >&2
  exit 1
fi
