#!/usr/bin/env bash
# Runs every fuzz target for a while, or one input again.
#
#   scripts/fuzz.sh [SECONDS [TARGET...]]     20 s, every target
#   scripts/fuzz.sh replay TARGET INPUT       INPUT in base64
#   scripts/fuzz.sh build                     every target, without running one
#
# With CONNECTIONS=no, "every target" leaves those out that need WebRTC, which is half of what there is to compile.
#
# An input that makes a target fail is printed as the second form. As many targets run
# at a time as there are processors.
set -euo pipefail
cd "$(dirname "$0")/.."

# What libFuzzer needs of a program: that it counts the branches taken, and tells what was compared
# (https://llvm.org/docs/LibFuzzer.html and clang's SanitizerCoverage). `cargo fuzz` passes the same.
# Nothing here is unsafe, so sanitizers would only cost time; and without them the stable compiler is
# enough.
readonly coverage=(
    -Cpasses=sancov-module
    -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
    -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares
    -Cllvm-args=-sanitizer-coverage-stack-depth
    -Cllvm-args=-simplifycfg-branch-fold-threshold=0
    --cfg fuzzing
    -Cdebug-assertions
    -Ccodegen-units=1
)
# Naming the target keeps what runs while building free of this.
machine=$(rustc -vV | sed -n 's/^host: //p')
readonly machine
readonly programs=fuzz/target/$machine/release
readonly connections=${CONNECTIONS:-yes}
readonly longest_input=4096
readonly slowest_input=10

main() {
    case ${1:-} in
    replay)
        replay "$2" "$3"
        return
        ;;
    build)
        build
        return
        ;;
    esac
    local seconds=${1:-20} targets=("${@:2}") target
    if [ ${#targets[@]} -eq 0 ]; then
        mapfile -t targets < <(every_target)
    fi
    build
    scratch
    # Each processor has its share of the targets, which all take as long.
    local processors worker workers=() failed=0
    processors=$(nproc)
    for ((worker = 0; worker < processors; worker += 1)); do
        share "$worker" "$processors" "$seconds" "${targets[@]}" &
        workers+=($!)
    done
    for worker in "${workers[@]}"; do
        wait "$worker" || failed=1
    done
    return "$failed"
}

# The names of the targets, in the order of the manifest.
every_target() {
    awk -v connections="$connections" -v RS='' -F '"' '
        /^\[\[bin\]\]/ && !(connections == "no" && /required-features/) { print $2 }
    ' fuzz/Cargo.toml
}

build() {
    local features=()
    if [ "$connections" = no ]; then
        features=(--no-default-features)
    fi
    RUSTFLAGS="${coverage[*]}" cargo build --release --manifest-path fuzz/Cargo.toml \
        --target "$machine" ${CI:+--locked} "${features[@]}"
}

# share FIRST STEP SECONDS TARGET...: runs every STEPth target, from number FIRST on.
share() {
    local number=$1 step=$2 seconds=$3 targets=("${@:4}")
    for (( ; number < ${#targets[@]}; number += step)); do
        run "${targets[number]}" "$seconds"
    done
}

# run TARGET SECONDS: prints what came of it when it ends, all at once.
run() {
    local target=$1 seconds=$2 corpus=fuzz/corpus/$1 seeds=fuzz/seeds/$1 log=$scratch/$1.log
    mkdir -p "$corpus"
    local inputs=("$corpus")
    if [ -d "$seeds" ]; then
        inputs+=("$seeds")
    fi
    if ! "$programs/$target" "${inputs[@]}" \
        -max_total_time="$seconds" -max_len="$longest_input" -timeout="$slowest_input" \
        -print_final_stats=1 -exact_artifact_path="$scratch/$target.failed" >"$log" 2>&1; then
        local replay=''
        if [ -s "$scratch/$target.failed" ]; then
            replay="replay: scripts/fuzz.sh replay $target $(base64 --wrap=0 "$scratch/$target.failed")"
        fi
        printf '%s fails:\n%s\n%s\n' "$target" "$(tail -n 200 "$log")" "$replay" >&2
        return 1
    fi
    awk -v target="$target" -v seconds="$seconds" '
        /^stat::number_of_executed_units/ { inputs = $2 }
        END { printf "%s: %d inputs in %d s, none fails\n", target, inputs, seconds }
    ' "$log"
}

replay() {
    build
    scratch
    base64 --decode <<<"$2" >"$scratch/input"
    "$programs/$1" "$scratch/input"
}

# A directory of our own, for as long as this script runs.
scratch() {
    if [ -z "${scratch:-}" ]; then
        scratch=$(mktemp -d)
        trap 'rm -rf "$scratch"' EXIT
    fi
}

main "$@"
