#!/usr/bin/env bash
# Builds the WebAssembly modules of crates/platform/outside/controllers from the source beside each.
# The modules are kept in the repository, so that its tests need no compiler for WebAssembly.
set -euo pipefail
cd "$(dirname "$0")/../crates/platform/outside/controllers"

target=wasm32-unknown-unknown
rustup target list --installed | grep -qx "$target" || rustup target add "$target"
for source in *.rs; do
    rustc --edition 2024 --target "$target" --crate-type cdylib -C opt-level=s -C lto=fat \
        -C panic=abort -C strip=symbols -o "${source%.rs}.wasm" "$source"
done
ls -l ./*.wasm
