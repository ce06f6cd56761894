#!/usr/bin/env bash
# Builds the WebAssembly modules of crates/platform/outside/controllers from the source beside each, a component
# from one of them, and the components that are wrong in some way. They are kept in the repository, so that its tests need no compiler for WebAssembly.
set -euo pipefail
cd "$(dirname "$0")/.."
readonly target=wasm32-unknown-unknown tools=$PWD/target/wasm-tools version=1.228.0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

rustup target list --installed | grep -qx "$target" || rustup target add "$target"
PATH=$tools/bin:$PATH
command -v wasm-tools >/dev/null || cargo install --quiet --locked --root "$tools" "wasm-tools@$version" \
    --no-default-features --features component,parse

# module SOURCE FILE [FLAG...]
module() {
    rustc --edition 2024 --target "$target" --crate-type cdylib -C opt-level=s -C lto=fat \
        -C panic=abort -C strip=symbols "${@:3}" -o "$2" "$1"
}

cd crates/platform/outside/controllers
for source in *.rs; do
    module "$source" "${source%.rs}.wasm"
done
module aimd.rs "$scratch/module.wasm" --cfg component
wasm-tools component embed controller.wit "$scratch/module.wasm" -o "$scratch/embedded.wasm"
wasm-tools component new "$scratch/embedded.wasm" -o aimd.component.wasm
for source in wrong/*.wat; do
    wasm-tools parse "$source" -o "${source%.wat}.wasm"
done
ls -l ./*.wasm wrong/*.wasm
