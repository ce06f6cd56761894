#!/usr/bin/env bash
# Makes the tables and figures of docs/ again, and the pages of the papers' claims from their data; with
# --check says what is stale; with --check --quick, of what is made quickly (scripts/figures.py).
# MIMOSA names the program; without it, one is built.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${MIMOSA:-}" ]; then
    cargo build --quiet --profile play --package mimosa-cli --features x264
fi
python3 scripts/make_traces.py
python3 scripts/claims.py "$@"
python3 scripts/figures.py "$@"
