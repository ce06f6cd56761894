#!/usr/bin/env bash
# Installs what is missing, and only that. Says nothing when nothing is.
#
#   scripts/install.sh         what `make check` and `make test` need
#   scripts/install.sh fuzz    what `make fuzz` needs
#
# Without apt it names what is missing and where to get it.
set -euo pipefail
cd "$(dirname "$0")/.."

# A command, the Debian package it comes from, and what needs it.
readonly commands='
cc          gcc         check fuzz
git         git         check
shellcheck  shellcheck  check
c++         g++         fuzz
'
readonly cargo_fuzz=0.13.2
readonly ruff=0.17.5

main() {
    local purpose=${1:-check}
    case $purpose in
    check | fuzz) ;;
    *)
        echo "usage: $0 [check|fuzz]" >&2
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
    if [ -n "$(git ls-files '*.py' 2>/dev/null)" ]; then
        python_tools
    fi
}

fuzz() {
    cargo fuzz --version >/dev/null 2>&1 ||
        cargo install --quiet --locked --version "$cargo_fuzz" cargo-fuzz ||
        fail "cargo-fuzz is missing: cargo install --locked --version $cargo_fuzz cargo-fuzz"
}

# packages PURPOSE: the Debian packages whose command is missing.
packages() {
    local command package purposes missing=()
    while read -r command package purposes; do
        case " $purposes " in
        *" $1 "*) has "$command" || missing+=("$package") ;;
        esac
    done < <(grep . <<<"$commands")
    if [ ${#missing[@]} -gt 0 ]; then
        apt_install "${missing[@]}"
    fi
}

# component COMMAND NAME: a part of the Rust toolchain.
component() {
    cargo "$1" --version >/dev/null 2>&1 && return
    has rustup || fail "$2 is missing: install it with your Rust toolchain"
    rustup component add "$2"
}

# The Python tools, in .venv.
python_tools() {
    if [ "$(.venv/bin/ruff --version 2>/dev/null)" = "ruff $ruff" ]; then
        return
    fi
    has python3 || apt_install python3
    python3 -c 'import ensurepip, venv' 2>/dev/null || apt_install python3-venv
    python3 -m venv .venv
    .venv/bin/pip install --quiet --disable-pip-version-check "ruff==$ruff"
}

apt_install() {
    local get=(env DEBIAN_FRONTEND=noninteractive apt-get -qq)
    has apt-get || fail "missing: $* (names of Debian packages): install them with your system's packager"
    if [ "$(id -u)" != 0 ]; then
        has sudo || fail "missing, and there is no sudo: apt-get install $*"
        get=(sudo "${get[@]}")
    fi
    echo "installing $*"
    # The lists of packages may be absent or too old to find anything.
    "${get[@]}" install --yes --no-install-recommends "$@" >/dev/null 2>&1 ||
        { "${get[@]}" update && "${get[@]}" install --yes --no-install-recommends "$@" >/dev/null; } ||
        fail "apt-get could not install $*"
}

has() {
    command -v "$1" >/dev/null
}

fail() {
    echo "$0: $*" >&2
    exit 1
}

main "$@"
