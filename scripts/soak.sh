#!/usr/bin/env bash
# Soaks for a while: runs seeds until the time is over, and goes on after a broken one.
#
#   scripts/soak.sh [SECONDS [FIRST]]    an hour, from seed 100001 on
#
# MIMOSA names the program; by default it is that of `cargo build --release -p mimosa-cli
# --features mimosa-cli/x264`. Seeds with a plain connection, with WebRTC (from FIRST + 100000
# on), and with WebRTC and libx264 (from FIRST + 200000 on) take turns. Each broken seed is
# printed with the line that repeats it, and the number of seeds of each kind at the end.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly mimosa=${MIMOSA:-target/release/mimosa}
declare -A first=() next=() broken=()

# turn NAME COUNT ARGUMENTS...: the next COUNT seeds of a kind.
turn() {
    local name=$1 from=${next[$1]} end=$((${next[$1]} + $2)) said seed
    next[$name]=$end
    while [ "$from" -lt "$end" ]; do
        if said=$("$mimosa" soak --seeds "$from..$((end - 1))" "${@:3}" 2>&1); then
            return
        fi
        seed=$(sed -n 's/.*error: seed \([0-9]*\).*/\1/p' <<<"$said")
        if [ -z "$seed" ]; then
            printf '%s\n' "$said" >&2
            exit 1
        fi
        printf '%s\n' "$said"
        broken[$name]=$((${broken[$name]} + 1))
        from=$((seed + 1))
    done
}

main() {
    local seconds=${1:-3600} from=${2:-100001} name
    for name in plain webrtc x264; do
        first[$name]=$from next[$name]=$from broken[$name]=0
        from=$((from + 100000))
    done
    while [ "$SECONDS" -lt "$seconds" ]; do
        turn plain 2000
        turn webrtc 500 --transport webrtc
        turn x264 20 --transport webrtc --pictures x264
    done
    for name in plain webrtc x264; do
        printf '%s: %d seeds, %d broken\n' \
            "$name" $((${next[$name]} - ${first[$name]})) "${broken[$name]}"
    done
    for name in plain webrtc x264; do
        [ "${broken[$name]}" = 0 ] || exit 1
    done
}

main "$@"
