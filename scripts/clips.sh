#!/usr/bin/env bash
# Makes clips to try encoders with, from free material alone:
#
#   scripts/clips.sh [SECONDS [FOLDER]]     10 s, in out/clips
#
#   game.y4m     a recorded round of Freedoom, drawn by dsda-doom
#   slides.y4m   a deck of slides, a cut every 4 s and nothing in between
#   scene.y4m    the host's own scene, which flies by itself
#
# All in 1280x720 at 60 frames a second, BT.709 in limited range: 83 MB a second
# each. Nothing is captured in real time, so the pictures do not depend on the
# machine's speed: dsda-doom plays a recorded demo of Freedoom's and hands every
# picture over as it draws it.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/games

readonly seconds=${1:-10} folder=${2:-out/clips}
readonly rate=60 size=1280x720
readonly frames=$((seconds * rate))
# The first part of the demo is left out: the screen melts, and the player wakes.
readonly skipped=$((2 * rate))
# From a screen's colours to the encoder's.
readonly colours='scale=out_color_matrix=bt709:out_range=tv,format=yuv420p,setsar=1'

scratch=$(mktemp --directory)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$scratch"' EXIT

main() {
    [[ $seconds =~ ^[1-9][0-9]*$ ]] || fail "usage: $0 [SECONDS [FOLDER]]"
    for tool in cargo dsda-doom ffmpeg python3 Xvfb; do
        command -v "$tool" >/dev/null || fail "$tool is missing: scripts/install.sh"
    done
    mkdir -p "$folder"
    scene
    slides
    game
    ls -l "$folder"
}

scene() {
    cargo run --quiet --release -p mimosa-scene --example clip -- \
        "$size" "$frames" "$scratch/scene.y4m"
    mv "$scratch/scene.y4m" "$folder/"
}

# A title and the first lines of a page of the documentation on each.
slides() {
    local shown=$((4 * rate)) page number=0 left=$frames count inputs=() joined=''
    local pages=(
        docs/how-it-works/architecture.md docs/how-it-works/encoder.md docs/embed/pacing.md
        docs/how-it-works/transport.md docs/use/link.md
    )
    local colour=(0x10243e 0xf4f1ea 0x2b2b2b 0xe8f0e4 0x3a1f2b)
    local ink=(0xe8eef6 0x202020 0xffd479 0x1c3a1c 0xf7dfe6)
    while [ "$left" -gt 0 ]; do
        page=${pages[number % 5]}
        count=$((left < shown ? left : shown))
        head --lines 1 "$page" | sed 's/^# //' >"$scratch/title$number"
        # Slides have neither drawings nor tables.
        # shellcheck disable=SC2016
        sed '1d; /^```/,/^```/d; /^|/d' "$page" | fold --spaces --width 76 | head --lines 17 >"$scratch/text$number"
        inputs+=(-f lavfi -i "color=${colour[number % 5]}:size=$size:rate=$rate,$(text title "$number" 54 48)
            ,$(text text "$number" 24 150),trim=end_frame=$count")
        joined+="[$number:v]"
        left=$((left - count))
        number=$((number + 1))
    done
    ffmpeg -loglevel error -y "${inputs[@]}" \
        -filter_complex "${joined}concat=n=$number,$colours" -strict -1 "$scratch/slides.y4m"
    mv "$scratch/slides.y4m" "$folder/"
}

# text KIND NUMBER SIZE TOP: the filter that writes it.
text() {
    echo "drawtext=font=Sans:textfile=$scratch/$1$2:expansion=none:fontsize=$3:line_spacing=8:fontcolor=${ink[$2 % 5]}:x=80:y=$4"
}

# dsda-doom starts the commands that its configuration names: one that takes
# pictures, one that takes sound, one that puts them together.
game() {
    local wad out=$scratch/game.y4m
    wad=$(find /usr/share/games /usr/local/share -name freedoom1.wad -print -quit)
    [ -n "$wad" ] || fail "freedoom1.wad is missing: scripts/install.sh"
    python3 scripts/wad_lump.py "$wad" DEMO2 "$scratch/demo.lmp"
    cat >"$scratch/pictures" <<EOF
#!/bin/sh
exec ffmpeg -loglevel error -f rawvideo -pix_fmt rgb24 -r $rate -s $size -i - \
    -vf trim=start_frame=$skipped,setpts=PTS-STARTPTS,$colours -frames:v $frames -strict -1 -y $out
EOF
    chmod +x "$scratch/pictures"
    cat >"$scratch/doom.cfg" <<EOF
cap_videocommand "$scratch/pictures"
cap_soundcommand "cat"
cap_muxcommand "true"
cap_fps $rate
hudadd_demoprogressbar 0
uncapped_framerate 1
render_vsync 0
EOF
    Xvfb -displayfd 3 -screen 0 "${size}x24" 3>"$scratch/display" 2>/dev/null &
    server=$!
    until [ -s "$scratch/display" ]; do sleep 0.1; done
    # The game ends with the pipe that takes its pictures, in an error.
    (cd "$scratch" && HOME=$scratch DISPLAY=:$(cat display) timeout 300 \
        dsda-doom -iwad "$wad" -config doom.cfg -geom "${size}w" -vidmode sw -nosound \
        -timedemo demo.lmp -viddump unused >doom.log 2>&1) || true
    kill "$server"
    server=
    [ -s "$out" ] || fail "the game gave no pictures: $(tail -n 5 "$scratch/doom.log")"
    mv "$out" "$folder/"
}

fail() {
    echo "$0: $*" >&2
    exit 1
}

main
