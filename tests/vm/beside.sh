#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
# In a guest: the module among others, and its coming and going. See test-beside.
#
#   beside.sh [CASE...]      names without case_; each prints ok or FAILED
#
# /vm/ours/first.ko is anybinder.ko, second.ko and third.ko are the same under other names.
reloads=${RELOADS:-50}
passed=0 failed=0

die() {
	echo "    $*"
	dmesg | tail -n 5 | sed 's/^/    log: /'
	exit 1
}

# --- loading

# load [PARAMETER...] - the log then begins with this load
load() {
	dmesg -c >/dev/null
	insmod /vm/ours/first.ko "$@" || die "does not load: $*"
}

# not_loaded ERROR LOG PARAMETER... - refused with an error in words, and a line in the log
not_loaded() {
	local error=$1 log=$2 said

	shift 2
	dmesg -c >/dev/null
	said=$(insmod /vm/ours/first.ko "$@" 2>&1) && die "loads with $*"
	case $error:$said in
	*:*"$error"*) ;;
	# Newer kernels keep the first for a module that is loaded already.
	"File exists:"*"Device or resource busy"*) ;;
	*) die "$*: $said, not $error" ;;
	esac
	logged "$log"
	nothing_left
}

logged() {
	dmesg | grep -qF -- "$1" || die "not in the log: $1"
}

# unload [NAME] - releases that are on their way may take a moment
unload() {
	local name=${1:-anybinder} tries=0

	while ! rmmod "$name" 2>/run/rmmod; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || die "$(cat /run/rmmod)"
		usleep 50000
	done
	[ -n "${1-}" ] || nothing_left
}

# refused WHAT - unloading is, and the module stays whole
refused() {
	local said

	said=$(rmmod anybinder 2>&1) && die "unloads while $1"
	case $said in *"temporarily unavailable"*) ;; *) die "while $1: $said" ;; esac
	[ "$(awk '$1 == "anybinder" { print $3, $5 }' /proc/modules)" != "0 Live" ] ||
		die "no reference while $1"
}

# What there may be of a binder driver; without ours, as before the first load.
inventory() {
	cut -d ' ' -f 1 /proc/modules
	grep -h binder /proc/filesystems /proc/misc /proc/devices
	cut -d ' ' -f 1 /proc/slabinfo | grep binder
	ls -d /sys/module/*binder* /sys/kernel/debug/*binder* /sys/class/misc/*binder* \
		/dev/*binder /sys/kernel/tracing/events/*binder* 2>/dev/null
	ls /sys/class/misc
}

nothing_left() {
	inventory >/run/after
	diff /run/before /run/after >/run/left || die "left behind or lost: $(cat /run/left)"
}

# mounted [TYPE [DIR]] - a binderfs
mounted() {
	mkdir -p "${2:-/dev/binderfs}"
	mount -t "${1:-binder}" -o stats=global binder "${2:-/dev/binderfs}" ||
		die "does not mount"
}

# --- traffic

# serve DEVICE - the sample service and a manager that knows it, until "stop"
serve() {
	rm -f /run/ready
	mkfifo /run/ready
	anybinder-servicemanager --device="$1" --ready-fd=8 8>/run/ready 9>&- >/dev/null 2>&1 &
	services="$services $!"
	read -r _ </run/ready || die "$1: the service manager does not start"
	sample-service --device="$1" 9>&- >/dev/null 2>&1 &
	services="$services $!"
}

stop() {
	# shellcheck disable=SC2086 # pids
	kill -KILL $services
	# shellcheck disable=SC2086
	wait $services 2>/dev/null
	services=
}

# call DEVICE - it answers, as soon as the service is there
call() {
	local tries=0 answer

	while ! answer=$(sample-client --device="$1" 2>&1); do
		tries=$((tries + 1))
		[ $tries -lt 50 ] || die "$1: $answer"
		usleep 100000
	done
	case $answer in *"40 + 2:     42"*) ;; *) die "$1: $answer" ;; esac
}

# traffic DEVICE - one call of each kind
traffic() {
	serve "$1"
	call "$1"
	stop
}
services=

# --- alone

case_load_and_unload() {
	load
	logged 'filesystem type "binder": mount -t binder'
	logged 'security modules'
	grep -q "^nodev	binder$" /proc/filesystems || die "no filesystem binder"
	[ -d /sys/kernel/debug/binder ] || die "no logs in debugfs"
	[ "$(cat /sys/module/anybinder/version)" = "$VERSION" ] || die "not version $VERSION"
	mounted
	traffic /dev/binderfs/binder
	umount /dev/binderfs
	unload
}

case_loaded_twice() {
	local said

	load
	mounted
	serve /dev/binderfs/binder
	call /dev/binderfs/binder
	said=$(insmod /vm/ours/first.ko 2>&1) && die "loads twice"
	case $said in *"File exists"*) ;; *) die "$said" ;; esac
	call /dev/binderfs/binder
	stop
	umount /dev/binderfs
	unload
}

case_unload_refused_while_mounted() {
	load
	mounted
	refused mounted
	call_after_refusal
	umount /dev/binderfs
	unload
}

call_after_refusal() {
	traffic /dev/binderfs/binder
}

# while_open FILE - held by another process than the one that opened it, its mount detached
while_open() {
	local tries=0

	sh -c "exec 7<$1 && exec tail -f /dev/null" 9>&- &
	services=$!
	while [ ! -e "/proc/$services/fd/7" ]; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || die "cannot open $1"
		usleep 50000
	done
	! grep -q /dev/binderfs /proc/mounts || umount -l /dev/binderfs
	refused "$1 is open"
	sleep 1
	refused "$1 is open"
	stop
	unload
}

case_unload_refused_while_device_open() {
	load
	mounted
	while_open /dev/binderfs/binder
}

case_unload_refused_while_control_open() {
	load
	mounted
	while_open /dev/binderfs/binder-control
}

case_unload_refused_while_feature_open() {
	load
	mounted
	while_open "$(find /dev/binderfs/features -type f | head -n 1)"
}

case_unload_refused_while_log_open() {
	load
	mounted
	while_open /dev/binderfs/binder_logs/state
}

case_unload_refused_while_debugfs_open() {
	load
	while_open /sys/kernel/debug/binder/state
}

case_unload_refused_while_node_open() {
	load nodes=binder
	while_open /dev/binder
}

# The mapping and a call that waits hold it, too.
case_unload_refused_while_served() {
	load
	mounted
	serve /dev/binderfs/binder
	call /dev/binderfs/binder
	umount -l /dev/binderfs
	refused "a server waits"
	stop
	unload
}

# Its descriptor is closed, its mount detached: only the mapping is left.
case_unload_refused_while_mapped() {
	local tries=0

	load
	mounted
	hold-mapping /dev/binderfs/binder 9>&- &
	services=$!
	while ! grep -q /dev/binderfs/binder "/proc/$services/maps" ||
		find "/proc/$services/fd" -type l -exec readlink {} ';' | grep -q binder; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || die "no mapping without a descriptor"
		usleep 50000
	done
	umount -l /dev/binderfs
	refused mapped
	sleep 1
	refused mapped
	stop
	unload
}

case_nodes_are_devices() {
	load nodes=binder,own
	traffic /dev/binder
	traffic /dev/own
	unload
	[ ! -e /dev/own ] || die "/dev/own stays"
}

case_devices_are_in_each_mount() {
	load devices=one,two
	mounted
	[ "$(find /dev/binderfs -maxdepth 1 -type c | wc -l)" = 3 ] || die "not one, two, control"
	traffic /dev/binderfs/one
	traffic /dev/binderfs/two
	umount /dev/binderfs
	unload
	load devices=
	mounted
	[ "$(find /dev/binderfs -maxdepth 1 -type c)" = /dev/binderfs/binder-control ] ||
		die "devices that nobody asked for"
	umount /dev/binderfs
	unload
}

# mode WANTED FILE
mode() {
	[ "$(stat -c %a "$2")" = "$1" ] || die "$2: not mode $1"
}

case_logs_can_be_closed() {
	local logs=/dev/binderfs/binder_logs

	load
	mounted
	mode 755 $logs
	mode 755 $logs/proc
	find $logs -type f >/run/logs
	[ "$(wc -l </run/logs)" -ge 5 ] || die "only $(cat /run/logs)"
	while read -r file; do
		mode 444 "$file"
	done </run/logs
	chmod 700 $logs || die "not by chmod"
	mode 700 $logs
	grep -q . $logs/stats || die "no stats"
	umount /dev/binderfs
	unload
}

case_bad_parameters() {
	local long

	long=$(printf '%300s' '' | tr ' ' x)
	not_loaded "File exists" "devices=: binder is there 2 times" devices=binder,binder
	not_loaded "File exists" "nodes=: a is there 3 times" nodes=a,a,b,a
	not_loaded "File exists" "devices=: no device can be called features" devices=features
	not_loaded "File exists" "nodes=: no device can be called binder-control" \
		nodes=binder-control
	not_loaded "Invalid argument" 'devices=: "a/b" cannot be the name' devices=a/b
	not_loaded "Invalid argument" 'nodes=: ".." cannot be the name' nodes=..
	not_loaded "Argument list too long" "devices=: a name has more than 255 bytes" \
		"devices=a,$long"
	not_loaded "Argument list too long" "nodes=: a name has more than 255 bytes" "nodes=$long"
	not_loaded "Invalid argument" "invalid for parameter \`debug_mask'" debug_mask=many
	not_loaded "Invalid argument" "invalid for parameter \`debug_mask'" debug_mask=-1
	load nonsense=1
	logged "unknown parameter 'nonsense' ignored"
	unload
}

case_node_of_another_driver() {
	local taken

	taken=$(find /sys/class/misc -mindepth 1 | sed "s|.*/||; 1q")
	[ -n "$taken" ] || die "the kernel has no misc device"
	not_loaded "File exists" "device /dev/$taken exists: another" "nodes=fresh,$taken"
	[ ! -e /dev/fresh ] || die "/dev/fresh stays"
	not_loaded "File exists" "device /dev/null exists: another" "nodes=null"
	[ -c /dev/null ] || die "/dev/null is gone"
	ln -s null /dev/link
	not_loaded "File exists" "device /dev/link exists: another" "nodes=link"
	rm /dev/link
}

# Two of us, as another driver would have the names.
case_names_of_another_driver() {
	load nodes=first
	insmod /vm/ours/second.ko nodes=second || die "no second"
	logged 'filesystem type "binder" is another driver'"'s, ours is \"anybinder\""
	logged 'debugfs has a directory "binder" of another driver, ours is "anybinder"'
	logged 'netlink family "binder" is another driver'"'s, ours is \"anybinder\""
	mounted
	mounted anybinder /dev/anybinderfs
	serve /dev/binderfs/binder
	serve /dev/anybinderfs/binder
	for device in /dev/binderfs/binder /dev/anybinderfs/binder; do
		call "$device"
	done
	stop
	insmod /vm/ours/third.ko 2>/run/said && die "a third loads"
	grep -q "File exists\|busy" /run/said || die "third: $(cat /run/said)"
	logged 'netlink family "anybinder" cannot be registered either'
	umount /dev/binderfs
	unload anybinder
	traffic /dev/anybinderfs/binder
	load
	logged 'filesystem type "binder": mount'
	mounted
	traffic /dev/binderfs/binder
	umount /dev/anybinderfs
	unload anybinde2
	traffic /dev/binderfs/binder
	umount /dev/binderfs
	unload
}

# One name a line with the number of its objects, exact as the command line has slub_debug.
slabs() {
	awk '$1 ~ /^(kmalloc|dentry|inode_cache|pid|cred_jar|mm_struct|filp|skbuff|radix)/ {
		print $1, $2 }' /proc/slabinfo
	echo "vmalloc $(wc -l </proc/vmallocinfo)"
}

reload_once() {
	load nodes=own
	mounted
	serve /dev/own
	serve /dev/binderfs/binder
	call /dev/own
	call /dev/binderfs/binder
	stop
	umount /dev/binderfs
	unload
}

# KASAN keeps what was freed for a while, so there only kmemleak can tell.
leaks_by_kmemleak() {
	echo scan >/sys/kernel/debug/kmemleak
	sleep 6
	echo scan >/sys/kernel/debug/kmemleak
	cat /sys/kernel/debug/kmemleak >/run/leaks
	[ ! -s /run/leaks ] || die "$reloads loads: kmemleak: $(cat /run/leaks)"
	echo "    $reloads loads: kmemleak finds nothing"
}

# An object a load that is left would be as many as there are loads.
leaks_by_count() {
	paste -d ' ' /run/slabs-before /run/slabs-after >/run/slabs
	awk -v most=$(((reloads - 5) / 2)) '
		$1 != $3 { print "not the same caches"; exit }
		$4 - $2 > most { print $1 ": " $2 " objects, then " $4 }' /run/slabs >/run/grown
	[ ! -s /run/grown ] || cp -r /sys/kernel/debug/slab /out/who-allocated
	[ ! -s /run/grown ] || die "$reloads loads: $(cat /run/grown)"
	echo "    $reloads loads: most grown: $(awk '{ print $4 - $2, $1 }' /run/slabs |
		sort -rn | head -n 3 | tr '\n' ' ')"
}

case_reloads_leak_nothing() {
	local i=0

	while [ $i -lt "$reloads" ]; do
		# Caches of the kernel have filled by then.
		if [ $i = 5 ]; then
			settle
			slabs >/run/slabs-before
		fi
		reload_once
		i=$((i + 1))
	done
	settle
	slabs >/run/slabs-after
	if [ -e /sys/kernel/debug/kmemleak ]; then
		leaks_by_kmemleak
	else
		leaks_by_count
	fi
}

settle() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	sleep 1
}

# --- beside the kernel's own driver, which stays for ever once it is loaded

intree_begin() {
	[ ! -d /sys/module/binder_linux ] || return 0
	insmod /vm/ours/intree.ko devices=binder,hwbinder || die "the in-tree driver does not load"
	inventory >/run/before
}

case_intree_has_the_nodes() {
	intree_begin
	not_loaded "File exists" "device /dev/binder exists: another driver" \
		nodes=binder
	not_loaded "File exists" "device /dev/hwbinder exists: another driver" \
		nodes=vndbinder,hwbinder
	[ ! -e /dev/vndbinder ] || die "/dev/vndbinder stays"
	load nodes=vndbinder
	traffic /dev/vndbinder
	traffic /dev/binder
	unload
}

case_intree_and_ours_at_once() {
	local i=0 device

	intree_begin
	load
	logged 'debugfs has a directory "binder" of another driver, ours is "anybinder"'
	mounted
	serve /dev/binder
	serve /dev/binderfs/binder
	while [ $i -lt 10 ]; do
		for device in /dev/binder /dev/binderfs/binder; do
			call "$device" &
			callers="$callers $!"
		done
		for device in $callers; do
			wait "$device" || die "a call failed"
		done
		callers=
		i=$((i + 1))
	done
	stop
	umount /dev/binderfs
	unload
	traffic /dev/binder
}
callers=

case_intree_survives_reloads() {
	local i=0 theirs

	intree_begin
	dmesg -c >/dev/null
	serve /dev/binder
	theirs=$services
	services=
	while [ $i -lt 5 ]; do
		load
		mounted
		serve /dev/binderfs/binder
		call /dev/binderfs/binder
		call /dev/binder
		# Only ours: the in-tree driver's go on.
		stop
		umount /dev/binderfs
		unload
		call /dev/binder
		i=$((i + 1))
	done
	services=$theirs
	stop
}

# It does not load where it wants a name for itself alone: then not before ours has gone.
case_intree_comes_second() {
	local said

	load
	mounted
	serve /dev/binderfs/binder
	call /dev/binderfs/binder
	if said=$(insmod /vm/ours/intree.ko devices=binder,hwbinder 2>&1); then
		serve /dev/binder
		call /dev/binder
	else
		case $said in *"busy"*) ;; *) die "$said" ;; esac
		echo "    the in-tree driver wants ours to go first: $said"
	fi
	call /dev/binderfs/binder
	stop
	umount /dev/binderfs
	rmmod anybinder || die "does not unload"
	[ -d /sys/module/binder_linux ] ||
		insmod /vm/ours/intree.ko devices=binder,hwbinder || die "nor without ours"
	traffic /dev/binder
}

# --- signatures, where the kernel insists on them

case_unsigned_is_rejected() {
	not_loaded "Key was rejected by service" "Loading of unsigned module is rejected"
}

case_unknown_key_is_rejected() {
	mv /vm/ours/first.ko /vm/ours/unsigned.ko
	cp /vm/ours/signed.ko /vm/ours/first.ko
	not_loaded "Key was rejected by service" \
		"Loading of module with unavailable key is rejected"
}

# --- run

# In a process of its own: what a case leaves in the way of the next ends here.
run_case() {
	if ("case_$1"); then
		echo "ok $1"
		passed=$((passed + 1))
		return
	fi
	echo "FAILED $1"
	failed=$((failed + 1))
	for pid in $(pidof sample-service anybinder-servicemanager hold-mapping tail); do
		kill -KILL "$pid"
	done
	umount -l /dev/binderfs 2>/dev/null
	umount -l /dev/anybinderfs 2>/dev/null
	sleep 1
	rmmod anybinder 2>/dev/null
	rmmod anybinde2 2>/dev/null
}

inventory >/run/before
for name in "$@"; do
	run_case "$name"
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ] && [ $passed -gt 0 ]
