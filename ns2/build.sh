#!/usr/bin/env bash
# Builds ns-2.35 with bdpbench's patches, window laws and agents: see --help.
set -euo pipefail
export LC_ALL=C

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
HOME_DIR=$(realpath -m -- "${BDPBENCH_HOME:-$HERE/../.bdpbench}")
CACHE_DIR=$HOME_DIR/cache
# shellcheck source=ns2/packages.sh
source "$HERE/packages.sh"

# The old sources need the C++ of 1998 and a lenient compiler. Results must depend neither on the
# processor (no -march, no fused multiply-add) nor on what an optimizer concludes from old idioms.
C_FLAGS="-std=gnu89 -Wno-error=incompatible-pointer-types -Wno-error=int-conversion"
# HAVE_INT64: some files include tclcl.h before config.h, which defines it.
CXX_FLAGS="-std=gnu++98 -fpermissive -DUSE_INTERP_RESULT -DHAVE_INT64=1"
COMMON_FLAGS="-O2 -fsigned-char -ffp-contract=off -fno-strict-aliasing -fno-delete-null-pointer-checks -w"
# OTcl and TclCL are linked statically; Tk and X11 are left out, so ns-2 runs without a display.
LIBRARIES="-Wl,-Bstatic -ltclcl -lotcl -Wl,-Bdynamic -ltcl8.6 -lm -ldl"

VARIANT=fast

EXIT_USAGE=2 EXIT_PACKAGES=2 EXIT_SOURCE=3 EXIT_PATCH=4 EXIT_BUILD=5

usage() {
    cat <<'TEXT'
Usage: ns2/build.sh [option...]

Gets the source archive of ns-2.35 that SOURCE.lock pins, applies the patches of patches/series,
adds laws/ and agents/, builds it, and installs PREFIX/<build id>/ns with ns-bdpbench.json, which
says what the binary was made of. Does nothing if this build already exists.

  --variant NAME   fast (default), or stock: without patches/speed/ and speed/, which make ns-2
                   faster without changing its outputs
  --prefix DIR     where builds go (default: .bdpbench/ns2 of the repository)
  --source FILE    the source archive, for a machine without a network
                   (also: BDPBENCH_NS2_SOURCE, or a file with its name beside build.sh)
  --jobs N         compile N files at a time (default: one per processor)
  --install-deps   install missing system packages with apt-get, as root or with sudo
  --check          exit with 0 if the system packages are there or may be installed, else with 2
  --print-id       print the build id, a hash of everything the build depends on, and exit
  --print-source   get and verify the source archive, print its path, and exit
  --help           print this and exit

The archive is taken from --source, from the cache, from apt's source packages, or from
BDPBENCH_NS2_URL or the url of SOURCE.lock, whichever comes first. BDPBENCH_HOME replaces the
folder .bdpbench, which holds the cache.

Exit status: 0 done, 2 wrong use or missing packages, 3 source archive missing or wrong, 4 a patch
does not apply, 5 the build failed.
TEXT
}

say() { printf 'ns-2: %s\n' "$*" >&2; }

die() {
    local status=$1
    shift
    printf 'ns-2: error: %s\n' "$@" >&2
    exit "$status"
}

# ---------------------------------------------------------------- what is built

# locked KEY: value of KEY in SOURCE.lock.
locked() { sed -n "s/^$1=//p" "$HERE/SOURCE.lock"; }

# The patches of the variant, in order.
patch_names() {
    local skip='^$'
    [[ $VARIANT != stock ]] || skip='^speed/'
    sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$HERE/patches/series" | sed -e "\\|$skip|d"
}

# Folders of the variant's own C++.
source_folders() {
    printf '%s\n' laws agents
    [[ $VARIANT == stock ]] || echo speed
}

# source_files DIR: the C++ files of laws, agents or speed, sorted, relative to ns2/.
source_files() { (cd "$HERE" && find "$1" -name '*.h' -o -name '*.cc' | sort); }

# checksums NAME...: a line "<sha256>  <name>" for each file, relative to ns2/.
checksums() { (cd "$HERE" && sha256sum -- "$@"); }

ingredients() {
    local names folder
    mapfile -t names < <(
        patch_names | sed 's|^|patches/|'
        for folder in $(source_folders); do source_files "$folder"; done
    )
    printf '%s\n' "$VARIANT" "$(locked sha256)" "$C_FLAGS" "$CXX_FLAGS" "$COMMON_FLAGS" "$LIBRARIES"
    checksums build.sh "${names[@]}"
}

build_id() {
    local list
    if ! list=$(ls -- "$HERE/SOURCE.lock" "$HERE/patches/series" >/dev/null && ingredients); then
        die $EXIT_BUILD "a file that the build needs is missing"
    fi
    printf '%s\n' "$list" | sha256sum | cut -c1-16
}

# ---------------------------------------------------------------- system packages

require_packages() {
    local missing
    mapfile -t missing < <(missing_packages ns2)
    [[ ${#missing[@]} -gt 0 ]] || return 0
    [[ $INSTALL_DEPS == no ]] || ! get_packages "$LOG" "${missing[@]}" || return 0
    tell_missing "${missing[@]}"
    exit $EXIT_PACKAGES
}

# ---------------------------------------------------------------- source archive

sha256_of() { sha256sum -- "$1" | cut -d' ' -f1; }

# verify FILE: ends the build if FILE is not the pinned archive.
verify() {
    local expected found
    expected=$(locked sha256)
    found=$(sha256_of "$1")
    [[ $found == "$expected" ]] || die $EXIT_SOURCE "$1 is not the archive that SOURCE.lock pins" \
        "expected SHA-256 $expected" "found    SHA-256 $found" "the file was not used"
}

# fetch: sets ARCHIVE to the verified archive and ORIGIN to where it came from.
fetch() {
    local name cached
    ORIGIN="local cache"
    name=$(locked file)
    cached=$CACHE_DIR/$name
    if [[ -n $SOURCE ]]; then
        [[ -f $SOURCE ]] || die $EXIT_SOURCE "there is no source archive $SOURCE"
        ARCHIVE=$SOURCE ORIGIN="local file"
    elif [[ -f $HERE/$name ]]; then
        ARCHIVE=$HERE/$name ORIGIN="local file"
    else
        drop_damaged "$cached"
        [[ -f $cached ]] || download "$cached"
        ARCHIVE=$cached
    fi
    verify "$ARCHIVE"
    say "source archive $name verified ($ORIGIN)"
}

drop_damaged() {
    [[ -f $1 && $(sha256_of "$1") != "$(locked sha256)" ]] || return 0
    say "the cached archive is damaged and is fetched again"
    rm -f -- "$1"
}

download() {
    local url=${BDPBENCH_NS2_URL:-$(locked url)} name
    name=$(basename "$1")
    mkdir -p "$WORK/download" "$CACHE_DIR"
    if command -v apt-get >/dev/null; then
        say "fetching $name from apt's source packages"
        fetch_from_apt "$name" >>"$LOG" 2>&1 && ORIGIN="apt source package"
    fi
    if [[ ! -f $WORK/download/$name && -n $url ]]; then
        say "fetching $name from $url"
        fetch_from_url "$url" "$WORK/download/$name" >>"$LOG" 2>&1 && ORIGIN="url"
    fi
    [[ -f $WORK/download/$name ]] || no_archive "$name"
    verify "$WORK/download/$name"
    cp "$WORK/download/$name" "$1.$$" && mv "$1.$$" "$1"
}

no_archive() {
    die $EXIT_SOURCE "the source archive $1 could not be fetched" \
        "get it on a machine with a network (apt-get source --download-only $(locked apt_source))" \
        "and give it with --source FILE; what was tried is in $LOG"
}

# Uses the machine's own package sources, converted to source-package entries in a private folder, so
# that the user's apt configuration does not change.
fetch_from_apt() {
    local apt=$WORK/apt
    mkdir -p "$apt/sources" "$apt/lists/partial" "$apt/cache/archives/partial"
    apt_source_entries /etc/apt "$(distribution_codename)" >"$apt/sources/bdpbench.sources"
    [[ -s $apt/sources/bdpbench.sources ]] || return 1
    local options=(
        -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$apt/sources"
        -o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt/cache"
        -o Acquire::Languages=none -o APT::Sandbox::User=root
    )
    apt-get "${options[@]}" update || true
    # Only the archive of the package is needed.
    (cd "$WORK/download" && apt-get "${options[@]}" source --download-only --tar-only "$(locked apt_source)") || true
    [[ -f $WORK/download/$1 ]]
}

distribution_codename() {
    # shellcheck source=/dev/null
    (. /etc/os-release && echo "${VERSION_CODENAME:-}")
}

# apt_source_entries APT_DIR CODENAME: those of the entries in APT_DIR that are for the distribution's
# own suites, as deb822 source-package entries.
apt_source_entries() {
    { one_line_sources "$1"; deb822_sources "$1"; } |
        awk -v suites=" $2 stable testing unstable sid " '
            BEGIN { RS = ""; FS = "\n" }
            {
                binary = 0; wanted = ""; entry = ""
                for (i = 1; i <= NF; i++) {
                    if ($i ~ /^#/) continue
                    if ($i ~ /^Enabled:[ \t]*no/) { binary = 0; break }
                    if ($i ~ /^Types:/) { binary = ($i ~ /[ \t]deb([ \t]|$)/); continue }
                    if ($i ~ /^Suites:/) {
                        n = split($i, word, /[ \t]+/)
                        for (j = 2; j <= n; j++)
                            if (index(suites, " " word[j] " ")) wanted = wanted " " word[j]
                        continue
                    }
                    entry = entry $i "\n"
                }
                if (binary && wanted != "") printf "Types: deb-src\nSuites:%s\n%s\n", wanted, entry
            }'
}

# cat_each FILE...: prints those that exist, with an empty line after each.
cat_each() {
    local file
    for file in "$@"; do
        if [[ -f $file ]]; then
            cat -- "$file"
            echo
        fi
    done
}

deb822_sources() { cat_each "$1"/sources.list.d/*.sources; }

# "deb [arch=amd64 signed-by=KEY] URI SUITE COMPONENT..." as deb822.
one_line_sources() {
    cat_each "$1"/sources.list "$1"/sources.list.d/*.list | awk '
        /^[ \t]*deb[ \t]/ {
            sub(/#.*/, "")
            key = ""
            if (match($0, /\[[^]]*\]/)) {
                options = substr($0, RSTART + 1, RLENGTH - 2)
                $0 = substr($0, 1, RSTART - 1) substr($0, RSTART + RLENGTH)
                n = split(options, option, /[ \t]+/)
                for (i = 1; i <= n; i++)
                    if (option[i] ~ /^signed-by=/) key = substr(option[i], 11)
            }
            components = ""
            for (i = 4; i <= NF; i++) components = components " " $i
            printf "Types: deb\nURIs: %s\nSuites: %s\n", $2, $3
            if (components != "") printf "Components:%s\n", components
            if (key != "") printf "Signed-By: %s\n", key
            print ""
        }'
}

fetch_from_url() {
    if command -v curl >/dev/null; then
        curl --fail --location --silent --show-error --max-time 600 --output "$2" -- "$1"
    elif command -v wget >/dev/null; then
        wget --no-verbose --timeout=60 --output-document="$2" -- "$1"
    else
        python3 -c 'import sys, urllib.request; urllib.request.urlretrieve(*sys.argv[1:])' "$1" "$2"
    fi
}

# ---------------------------------------------------------------- source tree

unpack() {
    say "unpacking"
    # ns-2's own test suite and manual are two thirds of the archive and are not built.
    tar -C "$WORK" -xJf "$ARCHIVE" --no-same-owner \
        --exclude='*/tcl/test/*' --exclude='ns-2.35/doc/*' >>"$LOG" 2>&1 ||
        fail_with_log "the archive could not be unpacked"
    TREE=$WORK/$(locked directory)
    [[ -d $TREE ]] || die $EXIT_SOURCE "the archive holds no folder $(locked directory)"
}

apply_patches() {
    local name output
    say "applying $(patch_names | wc -l) patches"
    while read -r name; do
        [[ -f $HERE/patches/$name ]] || die $EXIT_PATCH "patches/series names $name, which is not there"
        if output=$(patch -d "$TREE" -p1 --fuzz=0 --forward --batch <"$HERE/patches/$name" 2>&1); then
            printf '%s: %s\n' "$name" "$output" >>"$LOG"
        else
            patch_failed "$name" "$output"
        fi
    done < <(patch_names)
}

patch_failed() {
    local where
    printf '%s\n' "$2" >>"$LOG"
    where=$(awk '
        /^patching file / { file = $3 }
        /^(Hunk #[0-9]+ FAILED|can.t find file|patch: \*\*\*\*)/ { print file ? file ": " $0 : $0; exit }
    ' <<<"$2")
    die $EXIT_PATCH "patch $1 does not apply: ${where:-see $LOG}" \
        "nothing was built; the patch and SOURCE.lock's archive must fit each other"
}

add_own_sources() {
    local folder
    for folder in $(source_folders); do cp -R "$HERE/$folder" "$TREE/"; done
}

# ---------------------------------------------------------------- build

# ns-2's configure expects Tcl, OTcl and TclCL below one folder, and insists on Tk and X11, which are
# not linked: empty files replace them.
link_farm() {
    local farm=$1 libraries
    libraries=/usr/lib/$(gcc -print-multiarch)
    mkdir -p "$farm/include/X11" "$farm/lib" "$farm/bin"
    # Tcl's private headers: TclCL's headers need tclInt.h, speed/trace_channel.cc needs tclIO.h.
    ln -s /usr/include/tcl8.6/*.h /usr/include/tcl8.6/tcl-private/generic/tcl{Int*,IO,Port}.h \
        /usr/include/tcl8.6/tcl-private/unix/tclUnix*.h \
        /usr/include/otcl.h /usr/include/tclcl/*.h "$farm/include/" 2>/dev/null || true
    ln -s "$libraries"/libtcl8.6.so "$libraries"/libotcl.a "$libraries"/libtclcl.a "$farm/lib/"
    ln -s /usr/share/tcltk/tcl8.6 "$farm/lib/tcl8.6"
    ln -s "$(command -v tclsh8.6)" "$(command -v tcl2c++)" "$farm/bin/"
    rm -f "$farm/include/tk.h"
    mkdir -p "$farm/lib/tk8.6"
    touch "$farm/include/tk.h" "$farm/include/X11/Intrinsic.h" "$farm/lib/libtk8.6.so" \
        "$farm/lib/libX11.so" "$farm/lib/tk8.6/tk.tcl"
}

configure_tree() {
    local farm=$WORK/farm
    say "configuring"
    link_farm "$farm"
    (cd "$TREE" && V_TCLSH=$(command -v tclsh8.6) ./configure CC="gcc -std=gnu89" CXX="g++ -std=gnu++98" \
        --with-tcl="$farm" --with-tcl-ver=8.6 --with-tk="$farm" --with-tk-ver=8.6 \
        --with-otcl="$farm" --with-tclcl="$farm" \
        --x-includes="$farm/include" --x-libraries="$farm/lib" --disable-static) >>"$LOG" 2>&1 ||
        fail_with_log "configure failed"
}

# Whether Tcl's library calls the functions for memory that a program defines in place of its own.
# Ubuntu's does not: it is linked so that it always finds its own. OTcl, which is part of the program,
# would then get memory from the library and give it to the functions of the program.
tcl_takes_memory_of_program() {
    cat >"$WORK/memory.c" <<'TEXT'
#include <stdlib.h>
#include <tcl.h>
static int called = 0;
char* TclpAlloc(unsigned int size) { called |= 1; return malloc(size); }
char* TclpRealloc(char* memory, unsigned int size) { called |= 2; return realloc(memory, size); }
void TclpFree(char* memory) { called |= 4; free(memory); }
int main() { Tcl_Free(Tcl_Realloc(Tcl_Alloc(8), 16)); _Exit(called == 7 ? 0 : 1); }
TEXT
    # As ns is linked, whose functions the library finds.
    gcc -w -Wl,-export-dynamic "-I$WORK/farm/include" -o "$WORK/memory" "$WORK/memory.c" \
        "-L$WORK/farm/lib" -ltcl8.6 >>"$LOG" 2>&1 || fail_with_log "a program with Tcl cannot be compiled"
    "$WORK/memory" >>"$LOG" 2>&1 </dev/null
}

choose_sources() {
    [[ -e $TREE/speed/tcl_memory.cc ]] || return 0
    tcl_takes_memory_of_program || rm "$TREE/speed/tcl_memory.cc"
}

# Headers that most files include, parsed only once, which takes a fifth off the compilation. ns-2's
# own headers are not among them: some define variables, which would add to the machine code, and
# config.h says "using namespace std".
PRECOMPILED_HEADERS=(sys/types.h sys/time.h stdio.h stdlib.h string.h math.h tclcl.h)

# The file that is included first in each file of C++, if it could be precompiled.
PRECOMPILED=

# Up to so many files of a folder are compiled as one, so that the headers of ns-2 are parsed once: that
# takes half off the compilation. These are compiled alone, because they define what another file of
# their folder defines, or because it would change what the preprocessor makes of them, which
# tests/ns2/joined.py finds.
MOST_JOINED=12
ALONE=(
    agents/{cubic_tcp_agent,discipline_queue,htcp_agent,law_parameter,modified_scalable_tcp_agent}.cc
    agents/{protocol_agent,scalable_tcp_agent,smooth_bic_tcp_agent}.cc laws/{fast_tcp,smooth_bic_tcp}.cc
    speed/{plain_attachment,wired_hop}.cc tcp/{tcp-fack,tcp-fs,tcp-linux,tcp-session,tfrc-sink}.cc
    aodv/aodv_rqueue.cc aomdv/aomdv_rqueue.cc classifier/classifier-{mac,port}.cc link/dynalink.cc
    diffusion3/apps/ping/{2pp_ping_receiver,2pp_ping_sender,push_receiver}.cc dsr/mobicache.cc queue/cbq.cc
    diffusion3/filters/diffusion/two_phase_pull.cc empweb/empftp.cc imep/{dest_queue,imep_api,imep_util}.cc
    mac/{mac,mac-802_11Ext,mac-tdma,wireless-phy,wireless-phyExt}.cc mdart/mdart_queue.cc pgm/pgm-{receiver,sender}.cc
    tmix/tmix_delaybox.cc trace/cmu-trace.cc webcache/{logweb,webserver,webtraf}.cc
)

# Folders whose code no packet of a study, of tcpeval or of an everyday script passes: they are optimized
# less, which takes less time. Neither flag changes what is computed.
COLD=(
    adc aomdv asim baytcp dccp delaybox diffserv diffusion diffusion3 empweb gaf imep linkstate mdart mpls
    pgm plm puma pushback qs rap realaudio satellite src_rtg tora webcache wpan xcp
)

# What make is told of joined files, or nothing.
JOINED=()

# make_ns [ARGUMENT...] TARGET. With the added sloppiness, ccache also keeps what is compiled with
# precompiled headers.
make_ns() {
    ${EXEC:-} env CCACHE_SLOPPINESS="${CCACHE_SLOPPINESS:+$CCACHE_SLOPPINESS,}pch_defines,time_macros" \
        "${DYING[@]}" make -C "$TREE" "$@" CC="gcc $C_FLAGS" CPP="g++ $CXX_FLAGS${PRECOMPILED:+ -include $PRECOMPILED}" \
        CCOPT="$COMMON_FLAGS" LIB="-L$WORK/farm/lib $LIBRARIES" "${JOINED[@]}"
}

is_gcc() { [[ $(g++ -dM -E -x c++ /dev/null) != *__clang__* ]]; }

# precompile: sets PRECOMPILED, unless the compiler is not GCC or cannot precompile.
precompile() {
    local header=precompiled.h
    # shellcheck disable=SC2016  # make's own variables
    local rule='%.gch: %; $(CPP) -x c++-header -c $(CFLAGS) $(INCLUDES) -o $@ $<'
    PRECOMPILED=
    is_gcc || return 0
    printf '#include <%s>\n' "${PRECOMPILED_HEADERS[@]}" >"$TREE/$header"
    if make_ns --eval="$rule" "$header.gch" >>"$LOG" 2>&1 9>&-; then
        PRECOMPILED=$header
    else
        say "the compiler cannot precompile headers, so compiling takes longer"
        rm -f "$TREE/$header.gch"
    fi
}

# join_files: writes the joined files, in the order of linking, and sets JOINED.
join_files() {
    local object file folder joined alone=" ${ALONE[*]} " objects=()
    local -A counts=()
    # shellcheck disable=SC2016  # make's own variable
    for object in $(make_ns --silent '--eval=objects: ; @echo $(OBJ)' objects); do
        file=${object%.o}.cc
        if [[ ! -e $TREE/$file || $alone == *" $file "* ]]; then
            objects+=("$object")
            continue
        fi
        folder=${file%/*}
        joined=joined_${folder//\//_}_$((${counts[$folder]:=0} / MOST_JOINED))
        [[ $((counts[$folder]++ % MOST_JOINED)) -ne 0 ]] || objects+=("$joined.o")
        printf '#define rcsid rcsid_%s\n#include "%s"\n#undef rcsid\n' "${counts[$folder]}" "$file" >>"$TREE/$joined.cc"
    done
    JOINED=(OBJ="${objects[*]}" "--eval=$(printf 'joined_%s_%%.o ' "${COLD[@]}"): override CCOPT += -O1")
}

compile() {
    precompile
    join_files
    make_all && return
    # Only an error in the source: what was ended by a signal, or had no room, would fail again, or give
    # another binary than the one that the build's id stands for.
    grep -q '^[^ ]*:[0-9]*: error: ' "$WORK/make.log" || fail_with_log "the compilation failed"
    say "the compiler cannot compile the files of a folder as one, so compiling takes longer"
    JOINED=()
    make_all || fail_with_log "the compilation failed"
}

# make_all: compiles and links ns, and returns whether that succeeded.
make_all() {
    local total
    total=$(make_ns --dry-run ns 2>/dev/null | grep -c -- ' -c ') || true
    say "compiling $total files, $JOBS at a time"
    : >"$WORK/make.log"
    # make replaces the shell in the background, so that it can be ended.
    EXEC=exec make_ns "-j$JOBS" ns >"$WORK/make.log" 2>&1 9>&- &
    MAKE_PID=$!
    report_progress "$MAKE_PID" "$total"
    local status=0
    wait "$MAKE_PID" || status=$?
    MAKE_PID=
    cat "$WORK/make.log" >>"$LOG"
    [[ $status -eq 0 && -x $TREE/ns ]]
}

# report_progress PID TOTAL: prints a line every five seconds, or every second on a terminal, while
# the process exists.
report_progress() {
    local every=5 seconds=0
    [[ ! -t 2 ]] || every=1
    while kill -0 "$1" 2>/dev/null; do
        sleep 1
        seconds=$((seconds + 1))
        [[ $((seconds % every)) -eq 0 ]] || continue
        say "compiled $(grep -c -- ' -c ' "$WORK/make.log" || true)/$2 files, $seconds s"
    done
}

# A binary that counts wrongly must not be installed: the test sends five packets of 1 GB, more than
# 2^32 bytes, over a fast link.
smoke_test() {
    local bytes status=0
    cat >"$WORK/smoke.tcl" <<'TEXT'
set ns [new Simulator]
set from [$ns node]
set to [$ns node]
$ns duplex-link $from $to 1000Gb 1ms DropTail
set monitor [$ns monitor-queue $from $to ""]
set udp [new Agent/UDP]
$udp set packetSize_ 1000000000
$ns attach-agent $from $udp
set sink [new Agent/Null]
$ns attach-agent $to $sink
$ns connect $udp $sink
$ns at 0.1 {foreach i {1 2 3 4 5} {$udp send 1000000000}}
$ns at 1 {puts [$monitor set bdepartures_]; exit 0}
$ns run
TEXT
    bytes=$("$TREE/ns" "$WORK/smoke.tcl" 2>>"$LOG" </dev/null) || status=$?
    if [[ $status -gt 128 ]]; then
        fail_with_log "the new ns does not run, signal $(kill -l "$status") ended it"
    elif [[ $status -ne 0 ]]; then
        fail_with_log "the new ns does not run, it ends with status $status"
    fi
    [[ $bytes == 5000000000 ]] || die $EXIT_BUILD "the new ns counts $bytes bytes where 5000000000 passed"
}

# fail_with_log MESSAGE [STATUS]
fail_with_log() {
    {
        printf 'ns-2: error: %s; the last lines of %s:\n' "$1" "$LOG"
        tail -n 25 "$LOG" | cut -c1-300 | sed 's/^/    /'
    } >&2
    exit "${2:-$EXIT_BUILD}"
}

# ---------------------------------------------------------------- installation

json_string() {
    local text=${1//\\/\\\\}
    printf '"%s"' "${text//\"/\\\"}"
}

# json_files NAME...: [{"name", "sha256"}, ...]
json_files() {
    local sum name separator=
    [[ $# -gt 0 ]] || { printf '[]'; return; }
    printf '['
    while read -r sum name; do
        printf '%s\n    {"name": %s, "sha256": "%s"}' "$separator" "$(json_string "$name")" "$sum"
        separator=,
    done < <(checksums "$@")
    printf '\n  ]'
}

package_version() {
    # shellcheck disable=SC2016  # dpkg-query's own ${...}
    dpkg-query -W -f '${Version}' "$1" 2>/dev/null || echo unknown
}

# A hash of what the build id leaves out: the compiler, and the libraries that are linked.
toolchain_id() {
    {
        g++ --version | head -n 1
        sha256_of "$WORK/farm/lib/libotcl.a"
        sha256_of "$WORK/farm/lib/libtclcl.a"
        package_version libotcl1-dev
        package_version libtclcl1-dev
        package_version tcl8.6-dev
    } | sha256sum | cut -c1-16
}

describe() {
    local names laws agents speed=()
    mapfile -t names < <(patch_names | sed 's|^|patches/|')
    mapfile -t laws < <(source_files laws)
    mapfile -t agents < <(source_files agents)
    [[ $VARIANT == stock ]] || mapfile -t speed < <(source_files speed)
    cat <<TEXT
{
  "schema_version": 1,
  "build_id": "$ID",
  "toolchain_id": "$(toolchain_id)",
  "variant": "$VARIANT",
  "ns2_version": "2.35",
  "binary_sha256": "$(sha256_of "$TREE/ns")",
  "binary_bytes": $(stat -c %s "$TREE/ns"),
  "counters": "64-bit",
  "source": {
    "file": $(json_string "$(locked file)"),
    "sha256": "$(locked sha256)",
    "from": $(json_string "$ORIGIN")
  },
  "patches": $(json_files "${names[@]}"),
  "laws": $(json_files "${laws[@]}"),
  "agents": $(json_files "${agents[@]}"),
  "speed": $(json_files "${speed[@]}"),
  "compiler": $(json_string "$(g++ --version | head -n 1)"),
  "c_flags": $(json_string "$C_FLAGS $COMMON_FLAGS"),
  "cxx_flags": $(json_string "$CXX_FLAGS $COMMON_FLAGS"),
  "libraries": $(json_string "$LIBRARIES"),
  "tcl": $(json_string "$(echo 'puts [info patchlevel]' | tclsh8.6)"),
  "otcl": $(json_string "$(package_version libotcl1-dev)"),
  "tclcl": $(json_string "$(package_version libtclcl1-dev)"),
  "machine": $(json_string "$(uname -sm)"),
  "built": "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
}
TEXT
}

# The JSON is written last: it shows that the binary is complete.
install_build() {
    rm -f "$TARGET/ns-bdpbench.json"
    cp "$TREE/ns" "$TARGET/ns.$$" && mv "$TARGET/ns.$$" "$TARGET/ns"
    describe >"$TARGET/ns-bdpbench.json.$$"
    mv "$TARGET/ns-bdpbench.json.$$" "$TARGET/ns-bdpbench.json"
}

is_up_to_date() {
    local recorded
    [[ -x $TARGET/ns && -f $TARGET/ns-bdpbench.json ]] || return 1
    recorded=$(sed -n 's/^ *"binary_sha256": "\([0-9a-f]*\)",$/\1/p' "$TARGET/ns-bdpbench.json")
    [[ $recorded == "$(sha256_of "$TARGET/ns")" ]]
}

wait_for_lock() {
    exec 9>"$PREFIX/.lock"
    flock --nonblock 9 && return 0
    say "waiting for another build in $PREFIX"
    flock 9
}

# remove_left: removes the work folder of a build that was killed, whose path is in PREFIX/.work.
remove_left() {
    local left=
    [[ ! -f $PREFIX/.work ]] || left=$(<"$PREFIX/.work")
    [[ $left != */bdpbench-ns2.?????? ]] || rm -rf -- "$left"
    rm -f -- "$PREFIX/.work"
}

# scratch_template: where and how work folders are called. ns-2's Makefile takes no path with a blank.
scratch_template() {
    local parent=${TMPDIR:-/tmp}
    [[ $parent != *[[:space:]]* ]] || parent=/tmp
    printf '%s/bdpbench-ns2.XXXXXX' "$parent"
}

# make_work_folder: makes WORK. Its path is written first, so that no kill leaves a folder unknown.
make_work_folder() {
    WORK=$(mktemp -u "$(scratch_template)")
    printf '%s' "$WORK" >"$PREFIX/.work"
    mkdir -m 700 -- "$WORK"
}

# ---------------------------------------------------------------- main

value_of() {
    [[ $# -ge 2 && -n $2 ]] || die $EXIT_USAGE "$1 needs a value; see --help"
    printf '%s' "$2"
}

parse_options() {
    PREFIX=$HOME_DIR/ns2 SOURCE=${BDPBENCH_NS2_SOURCE:-} JOBS=$(nproc) INSTALL_DEPS=no
    local print_id=no check=no
    PRINT_SOURCE=no
    while [[ $# -gt 0 ]]; do
        case $1 in
            --variant) VARIANT=$(value_of "$@"); shift ;;
            --prefix) PREFIX=$(value_of "$@"); shift ;;
            --source) SOURCE=$(value_of "$@"); shift ;;
            --jobs) JOBS=$(value_of "$@"); shift ;;
            --install-deps) INSTALL_DEPS=yes ;;
            --check) check=yes ;;
            --print-id) print_id=yes ;;
            --print-source) PRINT_SOURCE=yes ;;
            --help) usage && exit 0 ;;
            *) die $EXIT_USAGE "unknown option $1; see --help" ;;
        esac
        shift
    done
    case $VARIANT in
        fast | stock) ;;
        *) die $EXIT_USAGE "--variant is $VARIANT, not fast or stock" ;;
    esac
    [[ $print_id == no ]] || { build_id; exit; }
    if [[ $check == yes ]]; then
        [[ -z $(missing_packages ns2) ]] || can_install || exit $EXIT_PACKAGES
        exit 0
    fi
    [[ -z $SOURCE ]] || SOURCE=$(realpath -m -- "$SOURCE")
    [[ $JOBS =~ ^[1-9][0-9]*$ ]] || die $EXIT_USAGE "--jobs is $JOBS, not a whole number above 0"
}

# clean_up: ends what still runs and removes WORK. A second signal does not interrupt it, not even
# one to the whole process group, since `rm` inherits that signals are ignored.
clean_up() {
    local status=$?
    trap '' INT TERM HUP
    [[ -z ${MAKE_PID:-} ]] || { kill "$MAKE_PID" && wait "$MAKE_PID"; } 2>/dev/null || true
    [[ -z $CHILD ]] || kill "$CHILD" 2>/dev/null || true
    [[ -z ${WORK:-} ]] || rm -rf -- "$WORK"
    exit "$status"
}

# Builds do not keep ns-2's validation suite, which is in the archive.
print_source() {
    mkdir -p "$CACHE_DIR"
    LOG=$CACHE_DIR/fetch.log
    : >"$LOG"
    WORK=$(mktemp -d "$(scratch_template)")
    trap clean_up EXIT
    trap 'exit 130' INT TERM HUP
    fetch
    printf '%s\n' "$ARCHIVE"
}

main() {
    parse_options "$@"
    [[ $PRINT_SOURCE == no ]] || { print_source; exit; }
    ID=$(build_id)
    mkdir -p "$PREFIX/$ID"
    PREFIX=$(cd "$PREFIX" && pwd)
    TARGET=$PREFIX/$ID
    wait_for_lock
    remove_left
    if is_up_to_date; then
        say "build $ID is up to date: $TARGET/ns"
        return 0
    fi
    LOG=$TARGET/build.log
    : >"$LOG"
    rm -f "$TARGET"/ns.[0-9]* "$TARGET"/ns-bdpbench.json.[0-9]*
    trap clean_up EXIT
    trap 'exit 130' INT TERM HUP
    make_work_folder
    require_packages
    fetch
    unpack
    apply_patches
    add_own_sources
    configure_tree
    choose_sources
    compile
    smoke_test
    install_build
    say "build $ID is ready after $SECONDS s: $TARGET/ns"
}

# If the script is sourced, as in the tests, it only defines its functions.
[[ ${BASH_SOURCE[0]} != "$0" ]] || main "$@"
