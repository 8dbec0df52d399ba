# SPDX-License-Identifier: MIT
"""The process tests, those of the services too, in one guest, each with its part of the log."""
import fnmatch
import os
import re
import shlex
import subprocess
import sys

import guest
import results

# A guest is about sixteen times slower than this machine.
CASE_SECONDS = 300
PROGRAM_SECONDS = 1800
HOST = "host"
# What tests start, by the variable that tells them where it is.
HELPERS = {
    "SERVICEMANAGER": "services/anybinder-servicemanager",
    "SAMPLE_SERVICE": "services/sample-service",
    "SAMPLE_CLIENT": "services/sample-client",
}

RUNNER = """
while read -r program words; do
	echo "<5>vm: --- marker: $program" >/dev/kmsg
	echo "=== $program"
	# The words are patterns; nothing here matches them.
	timeout -s KILL {seconds} $program $words
	echo "=== $program: exit status $?"
done <<END
{list}
END
echo "<5>vm: --- marker: tests are over" >/dev/kmsg
"""


def built(build, target):
    """Make one target of the build. Return: its path."""
    return make(build, [target])[0]


def ninja(build, *words):
    """Return: what it printed, which is shown if it failed."""
    done = subprocess.run(["ninja", "-C", build, *words], check=False, text=True,
                          stdout=subprocess.PIPE)
    if done.returncode:
        raise guest.Unusable(f"ninja {' '.join(words)} failed in {build}:\n{done.stdout}")
    return done.stdout


def make(build, targets):
    if not os.path.exists(os.path.join(build, "build.ninja")):
        subprocess.run(["meson", "setup", build, guest.ROOT], check=True, stdout=sys.stderr)
    ninja(build, *targets)
    return [os.path.join(build, target) for target in targets]


def programs(build):
    """The process tests there are, made. Nothing else is: what else fails is not for here."""
    make(build, ["build.ninja"])
    targets = ninja(build, "-t", "targets", "all")
    return make(build, sorted(re.findall(r"^(tests/(?:process|services)/t_\w+): ", targets, re.M)))


def choose(build, patterns, quick):
    """Return: program path -> (cases it will run, words for it)."""
    chosen = {}
    for path in programs(build):
        name = os.path.basename(path)
        done = subprocess.run([path, "--list"], check=True, text=True, stdout=subprocess.PIPE)
        listed = [line.split() for line in done.stdout.splitlines()]
        cases = [words[0] for words in listed if not quick or "quick" in words]
        whole = any(fnmatch.fnmatch(name, p) or name == "t_" + p for p in patterns)
        if patterns and not whole:
            cases = [c for c in cases if any(fnmatch.fnmatch(c, p) for p in patterns)]
            words = cases
        else:
            words = ["--quick"] if quick else []
        if cases:
            chosen[path] = (cases, words)
    if not chosen:
        raise guest.Unusable(f"no program and no case is {' '.join(patterns)}")
    return chosen


def runner(chosen, base=None):
    lines = [f"{os.path.join(base, os.path.basename(path)) if base else path} "
             f"{shlex.join(words)}".strip() for path, (_, words) in chosen.items()]
    return RUNNER.format(seconds=PROGRAM_SECONDS, list="\n".join(lines))


def parse(text, chosen):
    """What the runner printed. Return: program -> case -> [outcome, reason]."""
    parts = re.split(r"^=== (\S+)$", text.replace("\r", ""), flags=re.M)
    printed = {os.path.basename(name): part for name, part in zip(parts[1::2], parts[2::2])}
    found = {}
    for path, (cases, _) in chosen.items():
        name = os.path.basename(path)
        part = printed.get(name)
        outcomes = parse_program(part or "")
        status = re.search(r"^=== \S+: exit status (\d+)$", part or "", re.M)
        why = "the program was never started" if part is None else \
            "the guest ended in the midst of it" if not status else \
            f"the program ended before, with status {status.group(1)}"
        found[name] = {case: outcomes.get(case, ["not run", why]) for case in cases}
        failed = any(outcome == "failed" for outcome, _ in found[name].values())
        if status and status.group(1) not in ("0", "77") and not failed:
            found[name]["(program)"] = ["failed", f"exit status {status.group(1)}"]
    return found


def parse_program(text):
    outcomes, case, lines = {}, "", []
    for line in text.split("\n"):
        if re.fullmatch(r"test_\w+|regress_\w+", line):
            if case:
                outcomes.setdefault(case, ["not run", "it did not end"])
            case, lines = line, []
            continue
        match = re.match(r"  (ok|FAILED|skipped) \(\d+ ms\)", line)
        if match and case:
            word = {"ok": "passed", "FAILED": "failed", "skipped": "skipped"}[match.group(1)]
            skip = [each for each in lines if each.startswith("skipped: ")]
            reason = "" if word == "passed" else (skip or lines or [""])[0]
            outcomes[case] = [word, reason.removeprefix("skipped: ")]
            case = ""
        elif line.strip():
            lines.append(line.strip())
    if case:
        outcomes[case] = ["not run", "it did not end"]
    return outcomes


def run_host(args, chosen):
    """On this machine, for the daemon's column in the table. Return: (output, [])."""
    if args.drivers != ["daemon"]:
        raise guest.Unusable("this machine has the daemon only")
    daemon = built(args.build, "user/anybinderd")
    helpers = dict(zip(HELPERS, make(args.build, HELPERS.values())))
    text = runner(chosen)
    text = text.replace(">/dev/kmsg", ">/dev/null")
    done = subprocess.run([os.path.join(guest.ROOT, "scripts", "contain"), "sh", "-c", text],
                          check=False, text=True, errors="replace", stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT,
                          env={**os.environ, "ANYBINDERD": daemon, **helpers})
    return done.stdout, []


def run_guest(args, make_job, chosen):
    job = make_job(args)
    job.timeout = args.timeout or 7200
    job.env.setdefault("TEST_CASE_SECONDS", str(CASE_SECONDS))
    for name, path in zip(HELPERS, make(args.build, HELPERS.values())):
        job.files.append((path, "/vm/bin/" + os.path.basename(path)))
        job.env.setdefault(name, "/vm/bin/" + os.path.basename(path))
    job.files += [(path, "/vm/bin/" + os.path.basename(path)) for path in chosen]
    job.command = runner(chosen, "/vm/bin")
    result = job.run(show=False)
    result.tell()
    return result


def add_kernel_log(found, log):
    """What the kernel said during a program fails that program."""
    for marker, lines in log.parts().items():
        name = os.path.basename(marker)
        bad = log.bad(lines)
        if bad and name in found:
            found[name]["(kernel log)"] = ["failed", bad[0]]


def run(args, make_job):
    args.build = os.path.realpath(args.build)
    if len(args.drivers) != 1:
        raise guest.Unusable("tests are for one driver at a time")
    chosen = choose(args.build, args.patterns, args.quick)
    release, why = os.uname().release, []
    if args.kernel == HOST:
        text, why = run_host(args, chosen)
        found = parse(text, chosen)
    else:
        result = run_guest(args, make_job, chosen)
        found = parse(result.read("output.log"), chosen)
        add_kernel_log(found, result.console)
        release, why = guest.Kernel(args.kernel).release, result.why
        result.discard()
    path = args.result or os.path.join(args.build, "vm", "results",
                                       f"{args.kernel}-{args.drivers[0]}.json")
    counts = results.save(path, args.kernel, args.drivers[0], release, why, found)
    return 0 if not why and not counts["failed"] else 1
