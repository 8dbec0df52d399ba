# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Packages of any of Debian's suites, without changing the machine: what vm-fetch, fetch-exports
# and foreign-fetch share. To be sourced after lib.sh.
#
# The packages come from the mirror that this machine's apt uses, and are verified with the
# installed archive keys. apt works in a private root, where no package is installed: the
# machine's own configuration and lists stay as they are.

archive_keyring=/usr/share/keyrings/debian-archive-keyring.gpg
archive_dir=

# archive_mirror SECURITY - where the machine's apt gets the distribution, or its security suite
archive_mirror() {
	local codename line

	codename=$(. /etc/os-release && printf %s "$VERSION_CODENAME")
	[ "$1" = no ] || codename+=-security
	# shellcheck disable=SC2016 # these are apt's variables
	line=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' \
		'Created-By: Packages' | grep " $codename main\$" | head -n 1)
	[ -n "$line" ] || die "apt has no source for $codename main: add one, then apt-get update"
	printf '%s\n' "${line%% *}"
}

# archive_open DIR TYPE SUITE... - get the lists of suites; TYPE is deb or deb-src
#
# DIR is apt's private root from here on. Packages that an interrupted run left in
# DIR/archives are used again.
archive_open() {
	local type=$2 options suite uri

	archive_dir=$1
	shift 2
	[ -e "$archive_keyring" ] ||
		die "$archive_keyring is missing: apt-get install debian-archive-keyring"
	options=signed-by=$archive_keyring
	[ "$type" != deb ] || options+=" arch=$(dpkg --print-architecture)"
	mkdir -p "$archive_dir"/{none,lists/partial,archives/partial}
	for suite in "$@"; do
		case $suite in
		*-security) uri=$(archive_mirror yes) ;;
		*) uri=$(archive_mirror no) ;;
		esac
		echo "$type [$options] $uri $suite main"
	done >"$archive_dir/sources.list"
	: >"$archive_dir/status"
	say "package lists of $*"
	archive_run apt-get update >&2
}

# archive_run COMMAND... - an apt command in the private root
archive_run() {
	"$@" -qq -o Dir::Etc::sourcelist="$archive_dir/sources.list" -o Dir::Etc::sourceparts=- \
		-o Dir::Etc::preferences=/dev/null \
		-o Dir::Etc::preferencesparts="$archive_dir/none" \
		-o Dir::State="$archive_dir" -o Dir::State::lists="$archive_dir/lists" \
		-o Dir::State::status="$archive_dir/status" \
		-o Dir::State::extended_states="$archive_dir/auto" \
		-o Dir::Cache::archives="$archive_dir/archives" -o Dir::Cache::pkgcache= \
		-o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root -o Debug::NoLocking=true
}

# archive_download PACKAGE... - these alone into archives; what is there and whole is left
archive_download() {
	(cd "$archive_dir/archives" && archive_run apt-get download "$@" >&2) ||
		die "download failed; once more continues it"
}

# archive_closure PACKAGE... - these and all that they need into archives
archive_closure() {
	archive_run apt-get install -y --no-install-recommends --download-only "$@" >&2 ||
		die "download failed; once more continues it"
}

# archive_names - the packages in archives, one a line
archive_names() {
	find "$archive_dir/archives" -maxdepth 1 -name '*.deb' -printf '%f\n' | sed 's/_.*//'
}

# archive_unpack DIR PACKAGE... - as they would be installed, without running anything of theirs
archive_unpack() {
	local to=$1 name

	shift
	mkdir -p "$to"/usr/{bin,sbin,lib,lib64}
	for name in bin sbin lib lib64; do
		ln -sfn "usr/$name" "$to/$name"
	done
	for name in "$@"; do
		# Through tar, as that keeps links to directories that are there already.
		dpkg-deb --fsys-tarfile "$archive_dir"/archives/"${name/:/%3a}"_*.deb |
			tar -x -C "$to" --keep-directory-symlink --no-same-owner
	done
}
