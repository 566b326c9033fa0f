#!/bin/sh
# build.sh NAME OUTPUT SUMS FLAGS...: lwIP from Debian's source package, with a driver. With -flto
# all of it is one unit, as our own stacks are.
set -e
here=$(cd "$(dirname "$0")" && pwd) name=$1 output=$2 sums=$3
shift 3
cache=$PWD/target/bench/lwip
mkdir -p "$cache"
source=$(ls -d "$cache"/lwip-*/ 2>/dev/null | head -1)
if test -z "$source"; then
    # The machine's own package sources, with source packages asked for here alone.
    mkdir -p "$cache/lists/partial" "$cache/archives/partial" "$cache/parts"
    for file in /etc/apt/sources.list.d/*.sources; do
        test -f "$file" && sed 's/^Types:.*/Types: deb-src/' "$file" >"$cache/parts/${file##*/}"
    done
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        test -f "$file" && sed 's/^deb /deb-src /' "$file" >"$cache/parts/$(basename "$file" .list).list"
    done
    set_up="-o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts=$cache/parts
        -o Dir::State::lists=$cache/lists -o Dir::Cache=$cache"
    apt-get $set_up update >/dev/null
    (cd "$cache" && apt-get $set_up source lwip >/dev/null)
    source=$(ls -d "$cache"/lwip-*/ | head -1)
fi
test "$sums" = on && with=1 || with=0
test "$name" = udp && tcp=0 || tcp=1
# What sums fastest: gcc makes vectors of the loop of algorithm 2, but at -O3 alone.
case "$*" in *-O3*) algorithm=2 ;; *) algorithm=3 ;; esac
work=$(mktemp -d "$cache/build.XXXXXX")
trap 'rm -rf "$work"' EXIT
flags="-g -fno-asynchronous-unwind-tables -I$here -I${source}src/include
    -DPEER_SUMS=$with -DSUMS=$with -DPEER_TCP=$tcp -DPEER_ALGORITHM=$algorithm $*"

# compile FOLDER FLAGS...: lwIP and the side of the driver, as objects in a folder.
compile() {
    folder=$1
    shift
    mkdir -p "$folder"
    for file in init def mem memp netif pbuf stats sys tcp tcp_in tcp_out timeouts udp ip \
        inet_chksum ipv4/ip4 ipv4/ip4_addr ipv4/ip4_frag ipv4/icmp; do
        gcc $flags "$@" -c "${source}src/core/$file.c" -o "$folder/$(basename $file).o"
    done
    test "$name" = traffic || gcc $flags "$@" -c "$here/${name}_side.c" -o "$folder/side.o"
}

if test "$name" = traffic; then
    compile "$work/all"
    gcc $flags "$here/traffic.c" "$here/../../traffic/client.c" "$work"/all/*.o -static -o "$output"
    exit
fi
# Two ends in one program: each name of lwIP and of its side gets a prefix.
case "$*" in
*-flto*)
    compile "$work/names" -O0 -fno-lto
    for side in S R; do
        nm --defined-only "$work"/names/*.o | awk -v side=$side \
            '$2 ~ /[TtDdBbRrCcVvWw]/ && $3 !~ /[.]/ { print "#define " $3 " " side "_" $3 }' |
            sort -u >"$work/$side.h"
        # lwip_itoa is declared only where it is no macro.
        compile "$work/$side" -include "$work/$side.h" -Wno-implicit-function-declaration
    done
    gcc -g "$@" "$here/$name.c" "$work"/S/*.o "$work"/R/*.o -static -o "$output"
    ;;
*)
    compile "$work/all"
    mv "$work/all/side.o" "$work/side.o"
    # What is lwIP's alone, to see how large it is.
    ld -r -o "$output.o" "$work"/all/*.o
    ld -r -o "$work/all.o" "$output.o" "$work/side.o"
    for side in S R; do
        nm --defined-only "$work/all.o" | awk -v side=$side \
            '$2 ~ /[TtDdBbRrCcVvWw]/ && $3 !~ /^\./ { print $3 " " side "_" $3 }' | sort -u \
            >"$work/$side.names"
        objcopy --redefine-syms="$work/$side.names" "$work/all.o" "$work/$side.o"
    done
    gcc -g -O2 "$here/$name.c" "$work/S.o" "$work/R.o" -static -o "$output"
    ;;
esac
