#!/usr/bin/env bash
# Builds what is distributed, into out/dist; `make dist` calls it.
#
#   scripts/dist/build.sh        in a root of Debian 11, so that glibc 2.31 suffices; as root
#   scripts/dist/build.sh here   with this system's compiler and glibc
#
# The root is made once, in out/dist-root, by mmdebstrap: two minutes and 2.5 GB. Inside it the
# sources, the crates and the Rust toolchain of this system are mounted, always at the same place, so
# that the program has the same bytes wherever it is built. The headers of libx264 and SVT-AV1 are this
# system's: they decide which versions of the two are loaded (crates/media).
set -euo pipefail
cd "$(dirname "$0")/../.."

readonly dist=out/dist
readonly root=$PWD/out/dist-root
readonly target=$PWD/out/dist-target
readonly suite=bullseye
readonly packages=ca-certificates,gcc,g++,make,cmake,pkg-config,nasm,git,libclang-dev,libx11-dev,libxcursor-dev,libxext-dev,libxfixes-dev,libxi-dev,libxrandr-dev,libxss-dev,libxtst-dev,libwayland-dev,libxkbcommon-dev,libegl-dev,libgl-dev,libpulse-dev,libdbus-1-dev,libudev-dev
# As in scripts/dist/sbom.py, which lists what these bring.
readonly features=serve,window,openh264,svt-av1,x264,gstreamer

main() {
    local commit epoch version program
    commit=$(git rev-parse --short=12 HEAD)
    git diff --quiet HEAD || commit=$commit-dirty
    epoch=$(git log -1 --format=%ct)
    version=$(version "$commit" "$epoch")
    export BUILD_COMMIT=$commit
    cargo fetch --locked --quiet
    case ${1:-root} in
    here) here ;;
    root) in_root ;;
    *) fail "usage: $0 [here]" ;;
    esac
    program=$target/play/mimosa
    mkdir -p "$dist"
    python3 scripts/dist/pack.py "$program" "$dist" --version "$version" --epoch "$epoch"
    if [ "${1:-root}" = root ]; then
        SOURCE_DATE_EPOCH=$epoch python3 scripts/dist/image.py "$dist/mimosa_${version}_amd64.deb" "$dist"
    fi
    ls -l "$dist"
}

# version COMMIT EPOCH: that of the workspace, and of the commit where no tag says it is released.
version() {
    local number
    number=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
    if [ "$(git tag --points-at HEAD | grep -cx "v$number")" = 1 ]; then
        echo "$number"
    else
        echo "$number+$(date --utc --date="@$2" +%Y%m%d.%H%M).${1//-/.}"
    fi
}

# The places of this system are left out of the program, which would otherwise name them.
here() {
    local cargo=${CARGO_HOME:-$HOME/.cargo}
    export CARGO_TARGET_DIR=$target
    export RUSTFLAGS="--remap-path-prefix=$PWD=/build/mimosa --remap-path-prefix=$cargo=/build/cargohome"
    export CFLAGS="-ffile-prefix-map=$PWD=/build/mimosa -ffile-prefix-map=$cargo=/build/cargohome"
    export CXXFLAGS=$CFLAGS
    build
}

build() {
    cargo build --locked --profile play -p mimosa-cli --no-default-features --features "$features"
}

in_root() {
    [ "$(id -u)" = 0 ] || fail "mounting needs root: sudo make dist, or $0 here, for this system's glibc"
    mkdir -p "$target"
    if ! [ -e "$root/.made" ]; then
        mmdebstrap --variant=apt --include="$packages" \
            --keyring=/usr/share/keyrings/debian-archive-keyring.gpg \
            "$suite" "$root" http://deb.debian.org/debian
        touch "$root/.made"
    fi
    headers
    mkdir -p "$root"/build/{mimosa,cargohome/registry,rust,target}
    # The mounts end with this shell.
    unshare --mount bash -euo pipefail -c "$(declare -f build inside); features=$features; inside \"\$@\"" \
        inside "$PWD" "$root" "$target" "${CARGO_HOME:-$HOME/.cargo}" "$(rustc --print sysroot)"
}

# inside SOURCES ROOT TARGET CARGO_HOME TOOLCHAIN: mounts, and builds in the root.
inside() {
    mount --bind "$1" "$2/build/mimosa"
    mount --bind "$3" "$2/build/target"
    mount --bind "$4/registry" "$2/build/cargohome/registry"
    mount --bind -o ro "$5" "$2/build/rust"
    mount -t proc proc "$2/proc"
    mount --bind /dev "$2/dev"
    chroot "$2" env -i PATH=/build/rust/bin:/usr/bin:/bin HOME=/tmp CARGO_HOME=/build/cargohome \
        CARGO_NET_OFFLINE=true CARGO_TARGET_DIR=/build/target CARGO_INCREMENTAL=0 \
        ${CARGO_BUILD_JOBS:+CARGO_BUILD_JOBS="$CARGO_BUILD_JOBS"} \
        BUILD_COMMIT="$BUILD_COMMIT" features="$features" \
        bash -euo pipefail -c "$(declare -f build); cd /build/mimosa; build"
}

# The headers that libx264 and SVT-AV1 are declared from.
headers() {
    local name include
    for name in x264 SvtAv1Enc; do
        install -D -m 644 "$(pkg-config --variable=pcfiledir $name)/$name.pc" \
            "$root/usr/lib/x86_64-linux-gnu/pkgconfig/$name.pc"
        include=$(pkg-config --variable=includedir $name)
        case $name in
        x264) cp "$include"/x264*.h "$root/usr/include/" ;;
        *) cp -r "$include/svt-av1" "$root/usr/include/" ;;
        esac
    done
}

fail() {
    echo "$0: $*" >&2
    exit 1
}

main "$@"
