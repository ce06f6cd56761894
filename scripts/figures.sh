#!/usr/bin/env bash
# Makes the tables and figures of docs/ again; with --check says what is stale.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --quiet --release --package mimosa
python3 scripts/make_traces.py
python3 scripts/figures.py "$@"
