#!/usr/bin/env bash
# Runs the suites of the papers' claims, of the RFCs, of losses, the scoreboard, where controllers
# break and how they do beside each other, and puts what came of them into docs/. With names of
# suites as arguments, only these: `scripts/papers.sh coexistence`; `papers` stands for those of the
# papers' claims, which take some 90 minutes of one core. What was run stays in target/papers, and is
# not run again while it is newer than the program and the suite.
# TRACES names a folder of recordings, which the suite `ace-zhuge` needs (lab/ace/zhuge.py).
# MIMOSA names the program; without it, one is built.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${MIMOSA:-}" ]; then
    cargo build --quiet --profile play --package mimosa-cli --features x264
fi
python3 scripts/papers.py "$@"
