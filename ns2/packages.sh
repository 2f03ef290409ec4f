# The system packages of Debian and Ubuntu that bdpbench needs, and how they are installed. The wrapper
# and build.sh source this file; both have `say MESSAGE`, and end the process CHILD when they end.

# Lines "<purpose> <package> <file or command that it provides, or several of which one is enough>".
# g++ also compiles the pipeline's C, and protocols and queues that are folders. What is only for tests
# is no condition: tests are left out without.
needed_packages() {
    cat <<'TEXT'
ns2 g++ g++
ns2 make make
ns2 patch patch
ns2 xz-utils xz
ns2 tcl8.6 tclsh8.6
ns2 tcl8.6-dev /usr/include/tcl8.6/tcl-private/generic/tclInt.h
ns2 libotcl1-dev /usr/include/otcl.h
ns2 libtclcl1-dev /usr/include/tclcl/tclcl.h
ns2 tclcl tcl2c++
test chromium-headless-shell chromium-headless-shell chromium chromium-browser google-chrome
test libperl4-corelibs-perl /usr/share/perl5/getopts.pl
test poppler-utils pdftotext
TEXT
}

# missing_packages PURPOSE...
missing_packages() {
    local purpose package provides
    while read -r purpose package provides; do
        [[ " $* " == *" $purpose "* ]] || continue
        # shellcheck disable=SC2086  # several words
        is_here $provides || { [[ $purpose == test ]] && ! is_offered "$package"; } || echo "$package"
    done < <(needed_packages)
}

# is_here FILE-OR-COMMAND...: whether one of them exists.
is_here() {
    local each
    for each; do
        if [[ $each == /* && -e $each ]] || command -v "$each" >/dev/null; then return; fi
    done
    return 1
}

# is_offered PACKAGE: whether apt knows it. While its lists are empty, as in images, everything is
# offered that this distribution has: Ubuntu has no package of Chromium.
is_offered() {
    command -v apt-cache >/dev/null || return
    if compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; then
        apt-cache show "$1" >/dev/null 2>&1
    else
        [[ $1 != chromium* ]] || ! grep -qs '^ID.*ubuntu' /etc/os-release
    fi
}

# Whether this process may read from its terminal. In the background, as under `timeout`, it is stopped.
in_foreground() {
    local fields
    read -r fields </proc/self/stat
    # shellcheck disable=SC2206  # the words after the name: state, parent, group, session, tty, its group
    fields=(${fields##*) })
    [[ ${fields[4]} -ne 0 && ${fields[2]} -eq ${fields[5]} ]]
}

# may_become_root: whether this is root, or sudo is here and may ask for a password if it has to.
may_become_root() {
    [[ $(id -u) -eq 0 ]] || { command -v sudo >/dev/null && { sudo_without_question || in_foreground; }; }
}

sudo_without_question() { sudo -n true </dev/null >/dev/null 2>&1; }

# become_root: sets how commands run as root.
AS_ROOT=()
become_root() {
    [[ $(id -u) -ne 0 ]] || return 0
    AS_ROOT=(sudo -n)
    sudo_without_question || sudo -v
}

can_install() { command -v apt-get >/dev/null && may_become_root; }

# get_packages LOG PACKAGE...: installs packages for all users, if this is possible.
get_packages() {
    local log=$1
    shift
    can_install || return
    say "apt-get installs these system packages, for all users: $*"
    install_packages "$log" "$@" && return
    say "they could not be installed; the last lines of $log:"
    tail -n 15 "$log" | cut -c1-300 | sed 's/^/    /' >&2
    return 1
}

# install_command PACKAGE...: what an administrator calls, whose lists of packages may be empty.
install_command() { echo "sudo apt-get update && sudo apt-get install --no-install-recommends $*"; }

tell_missing() {
    say "error: system packages are missing: $*"
    say "  hint: $(install_command "$@")"
}

install_packages() {
    local log=$1 each offered=()
    shift
    : >>"$log"
    become_root || return
    apt_get "$log" update || true  # an unreachable third-party source must not stop us
    for each; do
        [[ $(needed_packages) == *$'\n'"test $each "* ]] && ! is_offered "$each" || offered+=("$each")
    done
    [[ ${#offered[@]} -eq 0 ]] || apt_get "$log" install -y --no-install-recommends "${offered[@]}"
}

# apt_get LOG ARGUMENT...: it gets half an hour, and a session without the terminal, which would stop it
# in the background.
apt_get() {
    local log=$1
    shift
    watched "apt-get $1" "$log" "${AS_ROOT[@]}" env DEBIAN_FRONTEND=noninteractive \
        setsid --wait timeout --kill-after=60 1800 apt-get -q -o DPkg::Lock::Timeout=300 "$@"
}

CHILD=

# Lets the kernel kill a command when this process ends, however it ends.
DYING=()
! command -v setpriv >/dev/null || DYING=(setpriv --pdeathsig KILL --)

# watched WHAT LOG COMMAND...: runs a command with its output in a log, and shows every ten seconds
# which line it has come to.
watched() {
    local what=$1 log=$2 began=$SECONDS next=$((SECONDS + 10)) status=0
    shift 2
    "$@" </dev/null >>"$log" 2>&1 9>&- &
    CHILD=$!
    while kill -0 "$CHILD" 2>/dev/null; do
        sleep 0.2
        [[ $SECONDS -ge $next ]] || continue
        next=$((next + 10))
        say "$what, $((SECONDS - began)) s: $(grep -v DEPRECATION "$log" | tail -n 1 | cut -c1-80)"
    done
    wait "$CHILD" || status=$?
    CHILD=
    return "$status"
}
