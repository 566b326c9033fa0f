#!/bin/sh
# build.sh NAME OUTPUT SUMS FLAGS...: C by hand. `traffic` is a whole TCP beneath the scripted client;
# `udp` and `tcp` do what those benches count, and no more.
set -e
here=$(dirname "$0") name=$1 output=$2 sums=$3
shift 3
if test "$sums" = on; then set -- "$@" -DSUMS=1; else set -- "$@" -DSUMS=0; fi
case "$*" in *-march=haswell*) set -- "$@" -mno-vzeroupper ;; esac
if test "$name" = traffic; then
    gcc -std=gnu11 -g -static "$@" -o "$output" \
        "$here/stack.c" "$here/traffic.c" "$here/../../traffic/client.c"
else
    gcc -std=c11 -g -static "$@" -o "$output" "$here/$name.c"
    "$output" check
fi
