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
if test "$name" = traffic; then
    # The scripted client, which calls this driver.
    test "$sums" = on && with=1 || with=0
    gcc -g -O2 -fPIE -Dmain=client_main -DSUMS=$with -c "$here/../../traffic/client.c" -o client.o
    set -- "$@" -C "link-arg=$cache/client.o"
fi
PEER_SUMS=$sums RUSTFLAGS="-C target-feature=+crt-static $*" \
    cargo build --quiet --release --target "$target" --target-dir "$cache/target" \
    --features "$name" --bin "$name"
cp "$cache/target/$target/release/$name" "$output"
