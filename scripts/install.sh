#!/usr/bin/env bash
# Installs what is missing, and only that. Says nothing when nothing is.
#
#   scripts/install.sh         what `make check` and `make test` need
#   scripts/install.sh play    what `make play` needs
#   scripts/install.sh hardware  what `make play` needs besides, to encode in hardware
#   scripts/install.sh client  what `make client` needs
#   scripts/install.sh all     what `make all` needs
#   scripts/install.sh dist    what `make dist` needs
#   scripts/install.sh container  what `make dist-test` needs besides, to boot a system and to run the image
#   scripts/install.sh fuzz    what `make fuzz` needs
#   scripts/install.sh package  what `make python-test` needs
#   scripts/install.sh wheel   what `make wheel` needs
#   scripts/install.sh ray     what `make ray-test` needs
#   scripts/install.sh playground  what `make playground` needs
#
# Without apt it names what is missing and where to get it.
set -euo pipefail
cd "$(dirname "$0")/.."

# Not everybody's PATH has them.
PATH=$PATH:/usr/sbin:/sbin:/usr/games

# A command or a file, the Debian package it comes from, and what needs it.
readonly parts='
cc             gcc           check play client all fuzz package wheel ray
git            git           check play client all dist package wheel ray
cmake          cmake         check client all
pkg-config     pkg-config    check play client all dist
x264.pc        libx264-dev   check play all dist
SvtAv1Enc.pc   libsvtav1enc-dev check play all dist
libgstapp.so   gstreamer1.0-plugins-base check hardware all
libgstvideoparsersbad.so gstreamer1.0-plugins-bad check hardware all
libgstx264.so  gstreamer1.0-plugins-ugly check
libavcodec.pc  libavcodec-dev check client all
libavutil.pc   libavutil-dev check client all
x11.pc         libx11-dev    check client all
xcursor.pc     libxcursor-dev check client all
xext.pc        libxext-dev   check client all
xfixes.pc      libxfixes-dev check client all
xi.pc          libxi-dev     check client all
xrandr.pc      libxrandr-dev check client all
xscrnsaver.pc  libxss-dev    check client all
xtst.pc        libxtst-dev   check client all
wayland-client.pc libwayland-dev check client all
libdecor-0.pc  libdecor-0-dev check client all
xkbcommon.pc   libxkbcommon-dev check client all
egl.pc         libegl-dev    check client all
gl.pc          libgl-dev     check client all
libpulse.pc    libpulse-dev  check client all
c++            g++           check all fuzz
nasm           nasm          check all
opus.pc        libopus-dev   check play client all
libclang.so    libclang-dev  check play client all
shellcheck     shellcheck    check
chromium       chromium      check
firefox-esr    firefox-esr   check
ffmpeg         ffmpeg        check
Xvfb           xvfb          check play all
xdpyinfo       x11-utils     check
pulseaudio     pulseaudio    check play all
parec          pulseaudio-utils check play all
dsda-doom      dsda-doom     check
freedoom1.wad  freedoom      check
ip             iproute2      check
nft            nftables      check
turnserver     coturn        check
ps             procps        check
mmdebstrap     mmdebstrap    check dist
objdump        binutils      check dist
podman         podman        container
systemd-nspawn systemd-container container
runc           runc          container
netavark       netavark      container
python3        python3       dist package wheel ray
iperf3         iperf3        check
nginx          nginx         check
caddy          caddy         check
miniupnpd      miniupnpd-nftables check
pebble         pebble        check
openssl        openssl       check
curl           curl          check
'
# The oldest that the page's tools take.
readonly node=20.19

main() {
    local purpose=${1:-check}
    case $purpose in
    check | play | hardware | client | all | dist | container | fuzz | package | wheel | ray | playground) ;;
    *)
        echo "usage: $0 [check|play|hardware|client|all|dist|container|fuzz|package|wheel|ray|playground]" >&2
        exit 2
        ;;
    esac
    has cargo || fail "cargo is missing: install Rust 1.95 or newer, for instance with rustup"
    packages "$purpose"
    "$purpose"
}

check() {
    component fmt rustfmt
    component clippy clippy
    node_tools
    python_tools
    # The tests of the Python package wait for these; until then they load beside other work, and
    # what goes wrong is said there.
    (pip_install package) >/dev/null 2>&1 </dev/null &
}

play() {
    node_tools
}

hardware() {
    :
}

client() {
    :
}

all() {
    node_tools
}

dist() {
    node_tools
}

container() {
    :
}

fuzz() {
    :
}

package() {
    python_tools
    pip_install package
}

wheel() {
    python_tools
    pip_install wheel
}

ray() {
    package
    pip_install ray
}

playground() {
    node_tools
    webassembly
}

# packages PURPOSE: the Debian packages of what is missing.
packages() {
    local part package purposes missing=()
    while read -r part package purposes; do
        case " $purposes " in
        *" $1 "*) is_there "$part" || missing+=("$package") ;;
        esac
    done < <(grep . <<<"$parts")
    if [ ${#missing[@]} -gt 0 ]; then
        apt_install "${missing[@]}"
    fi
}

# is_there PART: a command, or a file where such files are.
is_there() {
    case $1 in
    *.pc) has pkg-config && pkg-config --exists "${1%.pc}" ;;
    # Outside everybody's PATH.
    netavark) [ -x /usr/lib/podman/netavark ] ;;
    libgst*.so) has_file "$1" /usr/lib /usr/lib64 ;;
    *.so) [ -n "${LIBCLANG_PATH:-}" ] || has_file "${1%.so}[.-][s0-9]*" /usr/lib /usr/lib64 ;;
    *.wad) has_file "$1" /usr/share /usr/local/share ;;
    chromium) has "${CHROMIUM:-chromium}" ;;
    firefox-esr) has "${FIREFOX:-firefox-esr}" ;;
    *) has "$1" ;;
    esac
}

# has_file PATTERN FOLDER...
has_file() {
    [ -n "$(find "${@:2}" -maxdepth 3 -name "$1" -print -quit 2>/dev/null)" ]
}

# component COMMAND NAME: a part of the Rust toolchain.
component() {
    cargo "$1" --version >/dev/null 2>&1 && return
    has rustup || fail "$2 is missing: install it with your Rust toolchain"
    rustup component add "$2"
}

# The standard library for WebAssembly.
webassembly() {
    local target=wasm32-unknown-unknown
    [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ] && return
    has rustup || fail "the target $target is missing: install it with your Rust toolchain"
    rustup target add "$target"
}

# Node.js and npm.
node_tools() {
    local missing=() version
    has node || missing+=(nodejs)
    has npm || missing+=(npm)
    if [ ${#missing[@]} -gt 0 ]; then
        apt_install "${missing[@]}"
    fi
    version=$(node --version)
    printf '%s\n' "v$node" "$version" | sort --version-sort --check=quiet ||
        fail "Node.js $version is too old: install $node or newer, for instance from https://nodejs.org"
}

# The Python tools, in .venv.
python_tools() {
    has python3 || apt_install python3
    python3 -c 'import ensurepip, venv' 2>/dev/null || apt_install python3-venv
    [ -x .venv/bin/pip ] || python3 -m venv .venv
    pip_install tools
}

# pip_install LIST: what scripts/python-LIST.txt names, into .venv, one after another.
pip_install() {
    local list=scripts/python-$1.txt kept=.venv/python-$1.txt
    (
        flock 9
        cmp -s "$list" "$kept" && exit
        .venv/bin/pip install --quiet --disable-pip-version-check --requirement "$list"
        cp "$list" "$kept"
    ) 9>.venv/lock
}

apt_install() {
    local get=(env DEBIAN_FRONTEND=noninteractive apt-get -qq)
    has apt-get || fail "missing: $* (names of Debian packages): install them with your system's packager"
    if [ "$(id -u)" != 0 ]; then
        has sudo || fail "missing, and there is no sudo: apt-get install $*"
        get=(sudo "${get[@]}")
    fi
    echo "installing $*"
    keep_quiet "$@"
    # The lists of packages may be absent or too old to find anything.
    "${get[@]}" install --yes --no-install-recommends "$@" >/dev/null 2>&1 ||
        { "${get[@]}" update && "${get[@]}" install --yes --no-install-recommends "$@" >/dev/null; } ||
        fail "apt-get could not install $*"
}

# keep_quiet PACKAGE...: Debian starts coturn, a relay that other machines reach, when it is installed. The tests
# start their own; `systemctl unmask coturn` lets the service start.
keep_quiet() {
    local mask=(systemctl --quiet mask coturn.service)
    [ "$(id -u)" = 0 ] || mask=(sudo "${mask[@]}")
    case " $* " in
    *' coturn '*) [ ! -d /run/systemd/system ] || "${mask[@]}" ;;
    esac
}

has() {
    command -v "$1" >/dev/null
}

fail() {
    echo "$0: $*" >&2
    exit 1
}

main "$@"
