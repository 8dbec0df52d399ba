# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What ./run and ./test share. To be sourced, with $root set to the tree.
: "${root:?}"

# say WORDS... - one line about what happens now, on standard error
say() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
}

die() {
	say "$@"
	exit 1
}

# packages_missing COMMAND - names from scripts/packages that are not installed
packages_missing() {
	local command=$1 who package status arch

	arch=$(dpkg --print-architecture)
	while read -r who package _; do
		case $who in
		'*' | "$command") ;;
		*) continue ;;
		esac
		case $package in
		*"[$arch]") package=${package%"[$arch]"} ;;
		*"]") continue ;;
		esac
		package=${package/ARCH/$arch}
		status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
		[ "$status" = installed ] || printf '%s\n' "$package"
	done <"$root/scripts/packages"
}

# install_packages COMMAND - apt is called only when something is missing
install_packages() {
	local missing

	if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
		die "there is no apt here: install what scripts/packages lists, for Debian 12"
	fi
	mapfile -t missing < <(packages_missing "$1")
	[ ${#missing[@]} -gt 0 ] || return 0
	say "installing: ${missing[*]}"
	[ "$(id -u)" = 0 ] ||
		die "not root, so run this first: apt-get install ${missing[*]}"
	export DEBIAN_FRONTEND=noninteractive
	# Package lists may be absent or out of date: what fails is tried again with new ones.
	if ! apt-get install -q -y --no-install-recommends "${missing[@]}" >&2; then
		say "apt-get install failed; once more after apt-get update"
		apt-get update -q >&2 || die "apt-get update failed"
		apt-get install -q -y --no-install-recommends "${missing[@]}" >&2 ||
			die "apt-get install failed: ${missing[*]}"
	fi
}

# usage - the head of the script
usage() {
	sed -n '3,/^set /{/^set /!s/^# \{0,1\}//p}' "$0"
}

tmp=
contained=

finish() {
	if [ -n "$contained" ]; then
		kill -KILL -- "-$contained" 2>/dev/null || true
		wait "$contained" 2>/dev/null || true
	fi
	# Never what is mounted in it.
	[ -z "$tmp" ] || rm -rf --one-file-system "$tmp"
}

# begin COMMAND - packages, one at a time in the build directory, $tmp, and an orderly end
begin() {
	trap finish EXIT
	trap 'say interrupted; exit 130' INT
	trap 'say terminated; exit 143' TERM HUP
	install_packages "$1"
	mkdir -p "$root/build"
	exec {build_lock}>"$root/build/.lock"
	flock -n "$build_lock" || die "another ./run or ./test works in $root/build"
	tmp=$(mktemp -d "${TMPDIR:-/tmp}/anybinder-$1.XXXXXX")
	chmod 711 "$tmp" # tests become other users
}

# run_contained COMMAND... - nothing that it starts or mounts outlives it, or us
#
# In a process group of its own, as a background job would ignore SIGINT
# and hand that down; Ctrl-C reaches us, and the trap ends everything.
run_contained() {
	local status=0

	set -m
	"$root/scripts/contain" "$@" </dev/null {build_lock}>&- &
	contained=$!
	set +m
	wait "$contained" || status=$?
	contained=
	return "$status"
}
