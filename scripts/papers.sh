#!/usr/bin/env bash
# Runs the suites of the papers' figures, of the RFCs, of losses, the scoreboard and where
# controllers break, and puts what came of them into docs/. Takes about seven minutes without
# the suite of losses.
# MIMOSA names the program; without it, one is built.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${MIMOSA:-}" ]; then
    cargo build --quiet --profile play --package mimosa-cli --features x264
fi
python3 scripts/papers.py
