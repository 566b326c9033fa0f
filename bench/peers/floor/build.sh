#!/bin/sh
# build.sh NAME OUTPUT SUMS FLAGS...: the hand-written floor.
set -e
here=$(dirname "$0") name=$1 output=$2 sums=$3
shift 3
if test "$sums" = on; then set -- "$@" -DSUMS=1; else set -- "$@" -DSUMS=0; fi
case "$*" in *-march=haswell*) set -- "$@" -mno-vzeroupper ;; esac
gcc -std=c11 -g -static "$@" -o "$output" "$here/$name.c"
"$output" check
