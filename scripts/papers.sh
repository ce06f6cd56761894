#!/usr/bin/env bash
# Runs the suites of the papers' figures, of the RFCs, of losses, the scoreboard, where controllers
# break and how they do beside each other, and puts what came of them into docs/. With names of
# suites as arguments, only these: `scripts/papers.sh coexistence`. All take about a quarter of an
# hour without the suite of losses.
# MIMOSA names the program; without it, one is built.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${MIMOSA:-}" ]; then
    cargo build --quiet --profile play --package mimosa-cli --features x264
fi
python3 scripts/papers.py "$@"
