#!/bin/sh
# build.sh NAME OUTPUT SUMS FLAGS...: two ends that are smoltcp; the flags are for rustc.
set -e
here=$(cd "$(dirname "$0")" && pwd) name=$1 output=$2 sums=$3
shift 3
cache=$PWD/target/bench/smoltcp
target=$(rustc -vV | sed -n 's/^host: //p')
mkdir -p "$cache"
cp -r "$here/Cargo.toml" "$here/src" "$cache/"
cd "$cache"
PEER_SUMS=$sums RUSTFLAGS="-C target-feature=+crt-static $*" \
    cargo build --quiet --release --target "$target" --target-dir "$cache/target" \
    --features "$name" --bin "$name"
cp "$cache/target/$target/release/$name" "$output"
