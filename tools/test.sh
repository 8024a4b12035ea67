#!/usr/bin/env bash
# Runs every check of the project and says at the end which ones failed. One failure
# does not keep the others from running, so that one run shows all there is to mend.
# Called by `make test`, which has set everything up; arguments are the make targets.
set -uo pipefail

failed=0 summary=()
for target in "$@"; do
  printf '\n==== %s\n' "$target"
  start=$SECONDS
  if "${MAKE:-make}" --no-print-directory "$target"; then
    verdict=passed
  else
    verdict=FAILED failed=1
  fi
  summary+=("$(printf '%-14s %s (%d s)' "$target" "$verdict" $((SECONDS - start)))")
done

printf '\n==== summary\n'
printf '%s\n' "${summary[@]}"
exit $failed
