# What `.ci/run` and `.ci/wheel` are made of: named steps, of which the one that failed is told.
# `scratch` is removed at the end, and what runs `beside` the steps is ended.

finish() {
  local code=$?
  if [ -n "${beside:-}" ]; then kill $beside 2>/dev/null || true; fi
  rm -rf "${scratch:-}"
  if [ "$code" -ne 0 ]; then echo "CI FAILED in: $step" >&2; fi
  exit "$code"
}
trap finish EXIT

begin() {
  step=$1
  echo
  echo "=== $step ($((SECONDS - begun)) s)"
}

fail() {
  echo "$(basename "$0"): $1" >&2
  exit 1
}
