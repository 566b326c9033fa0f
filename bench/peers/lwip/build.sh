#!/bin/sh
# build.sh NAME OUTPUT SUMS FLAGS...: two ends that are lwIP, from Debian's source package.
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
test "$name" = tcp && tcp=1 || tcp=0
work=$(mktemp -d "$cache/build.XXXXXX")
trap 'rm -rf "$work"' EXIT
flags="-g -fno-asynchronous-unwind-tables -I$here -I${source}src/include -DPEER_SUMS=$with -DPEER_TCP=$tcp $*"
objects=
for file in init def mem memp netif pbuf stats sys tcp tcp_in tcp_out timeouts udp ip inet_chksum \
    ipv4/ip4 ipv4/ip4_addr ipv4/ip4_frag ipv4/icmp; do
    object=$work/$(basename $file).o
    gcc $flags -c "${source}src/core/$file.c" -o "$object"
    objects="$objects $object"
done
gcc $flags -c "$here/${name}_side.c" -o "$work/side.o"
case "$*" in
*-flto*) gcc "$@" -r -flinker-output=nolto-rel -o "$work/all.o" $objects "$work/side.o" ;;
*)
    # What is lwIP's alone, to see how large it is.
    ld -r -o "$output.o" $objects
    ld -r -o "$work/all.o" "$output.o" "$work/side.o"
    ;;
esac
for side in S R; do
    nm --defined-only "$work/all.o" | awk -v side=$side \
        '$2 ~ /[TtDdBbRrCcVvWw]/ && $3 !~ /^\./ { print $3 " " side "_" $3 }' | sort -u \
        >"$work/$side.names"
    objcopy --redefine-syms="$work/$side.names" "$work/all.o" "$work/$side.o"
done
gcc -g -O2 "$here/$name.c" "$work/S.o" "$work/R.o" -static -o "$output"
