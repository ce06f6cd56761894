#!/usr/bin/env bash
# Computes again what the documentation shows, as far as it does not depend on the machine; `make pages` calls it.
#
#   scripts/pages.sh [STEP...]    all steps, in this order, or those that are named
#
#   papers       docs/results, and the tables of docs/embed/feedback.md and docs/how-it-works/loss.md
#   experiments  the tables of the Mimosa controller's two pages
#   switch       docs/results/switch.md
#   fleets       docs/use/fleet.md
#   figures      the tables and figures of all other pages
#   notebooks    the figures of the notebooks, in out/notebooks
#
# A call that was stopped goes on where it was, and a step whose program and inputs are as they were is not done
# again. At the end it says which files of docs/ differ from those before the first call; those are in
# target/pages/before. MIMOSA names the program and MIMOSA_PYTHON a Python with the package; without them, both are
# built.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly kept=target/pages
readonly steps=(papers experiments switch fleets figures notebooks)
# What the results come from, besides the program.
readonly inputs=(lab scenarios experiments notebooks scripts)

main() {
    local step wanted=("${@:-${steps[@]}}")
    for step in "${wanted[@]}"; do
        [[ " ${steps[*]} " == *" $step "* ]] || fail "there is no step $step; there is ${steps[*]}"
    done
    programs
    mkdir -p "$kept"
    [ -d $kept/before ] || cp -r docs "$kept/before"
    for step in "${wanted[@]}"; do
        take "$step"
    done
    if diff -rq "$kept/before" docs; then
        echo "every file of docs/ is as it was"
    fi
}

# The program, and a Python that has the package.
programs() {
    if [ -z "${MIMOSA:-}" ]; then
        cargo build --quiet --profile play --package mimosa-cli --features x264
        MIMOSA=$PWD/target/play/mimosa
    fi
    if [ -z "${MIMOSA_PYTHON:-}" ]; then
        scripts/install.sh package
        cargo build --quiet --profile play --package mimosa-python
        cp target/play/lib_native.so crates/embed/python/python/mimosa_lab/_native.abi3.so
        MIMOSA_PYTHON=$PWD/.venv/bin/python
        export PYTHONPATH=$PWD/crates/embed/python/python
    fi
    MIMOSA=$(realpath "$MIMOSA")
    export MIMOSA MIMOSA_PYTHON
}

# take STEP: does it, unless what it has done is newer than everything that it comes from.
take() {
    local begun=$SECONDS stamp=$kept/$1
    if [ -e "$stamp" ] && [ -z "$(newer_than "$stamp")" ]; then
        echo "$1: done before"
        return
    fi
    "$1"
    touch "$stamp"
    echo "$1: $((SECONDS - begun)) s"
}

# newer_than FILE: something that is newer, if anything is.
newer_than() {
    find "$MIMOSA" "${inputs[@]}" -type f -not -path '*/__pycache__/*' -newer "$1" -print -quit
}

papers() {
    scripts/papers.sh
}

experiments() {
    python3 scripts/experiments.py
}

switch() {
    python3 scripts/switch.py
}

fleets() {
    python3 scripts/fleets.py
}

figures() {
    scripts/figures.sh
}

notebooks() {
    "$MIMOSA_PYTHON" crates/embed/python/tests/test_notebooks.py
}

fail() {
    echo "$0: $*" >&2
    exit 2
}

main "$@"
