#!/bin/sh
# build.sh OUTPUT SUMS FLAGS...: the hand-written floor.
set -e
here=$(dirname "$0") output=$1 sums=$2
shift 2
if test "$sums" = on; then set -- "$@" -DSUMS=1; else set -- "$@" -DSUMS=0; fi
gcc -std=c11 -g -static "$@" -o "$output" "$here/floor.c"
"$output" check
