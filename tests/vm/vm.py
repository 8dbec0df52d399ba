# SPDX-License-Identifier: MIT
"""What scripts/vm calls for guests: run, tests, table. See docs/vm.md."""
import argparse
import os
import shlex
import signal
import sys

import guest
import results
import suite


def add_guest_options(parser):
    parser.add_argument("kernel", metavar="KERNEL", help="6.1, 6.12, 7.2 or debug")
    parser.add_argument("--driver", default="ours", metavar="D[,D]",
                        help=f"of {', '.join(guest.DRIVERS)} (default: ours); of several, each "
                             "is loaded, and the command runs for each in turn")
    parser.add_argument("--memory", default="1024M", metavar="M")
    parser.add_argument("--cpus", type=int, default=2, metavar="N")
    parser.add_argument("--icount", action="store_true",
                        help="count instructions: one processor, a nanosecond each")
    parser.add_argument("--icount-shift", type=int, default=0, metavar="N",
                        help="with --icount: 2^N nanoseconds each")
    parser.add_argument("--no-fast-strings", action="store_true",
                        help="a processor without erms and fsrm")
    parser.add_argument("--append", default="", metavar="WORDS",
                        help="to the kernel's command line")
    parser.add_argument("--timeout", type=float, metavar="S", help="bound of the whole guest")
    parser.add_argument("--build", default=os.path.join(guest.ROOT, "build"), metavar="DIR",
                        help="the build directory (default: build)")
    parser.add_argument("--out", metavar="DIR",
                        help="for logs and /out (default: a new one, kept if it fails)")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--module", action="append", default=[], metavar="NAME",
                        help="of the kernel's, to be loaded first")
    parser.add_argument("--ours-args", default="", metavar="ARGS", help="to insmod anybinder.ko")
    parser.add_argument("--intree-args", default="", metavar="ARGS")


def parse():
    parser = argparse.ArgumentParser(prog="scripts/vm")
    commands = parser.add_subparsers(dest="action", required=True)
    run = commands.add_parser("run", help="a command in a guest; everything after -- is it")
    add_guest_options(run)
    run.add_argument("--share", metavar="DIR", help="to be found in /share, a copy")
    run.add_argument("--file", action="append", default=[], metavar="PATH[:GUEST_PATH]",
                     help="with its libraries; default: in /vm/bin, which is in PATH")
    run.add_argument("--rounds", type=int, default=1, metavar="N",
                     help="how often the command runs, for each driver in turn")
    tests = commands.add_parser("tests", help="the process tests; PATTERNs of programs or cases "
                                              "may follow")
    add_guest_options(tests)
    tests.add_argument("--quick", action="store_true")
    tests.add_argument("--result", metavar="FILE",
                       help="default: vm/results/KERNEL-DRIVER.json in the build directory")
    table = commands.add_parser("table", help="which case passes where")
    table.add_argument("--full", action="store_true", help="a row for each case")
    table.add_argument("--reasons", action="store_true", help="why, below")
    table.add_argument("--build", default=os.path.join(guest.ROOT, "build"), metavar="DIR")
    table.add_argument("files", nargs="*", metavar="RESULT_FILE")

    words, command = sys.argv[1:], []
    if words[:1] == ["run"] and "--" in words:
        command = words[words.index("--") + 1:]
        words = words[:words.index("--")]
    args, args_left = parser.parse_known_args(words)
    # Behind options, argparse takes no more arguments of the same kind.
    args.command, args.patterns = command, args_left
    if args_left and (args.action != "tests" or any(w.startswith("-") for w in args_left)):
        parser.error(f"what is {' '.join(args_left)}?")
    if args.action == "run" and not command:
        parser.error("no command: put it behind --")
    if args.action != "table":
        args.drivers = args.driver.split(",")
        if not set(args.drivers) <= set(guest.DRIVERS):
            parser.error(f"no driver {args.driver}; there are {', '.join(guest.DRIVERS)}")
    return args


def make_job(args):
    args.build = os.path.realpath(args.build)
    job = guest.Job(guest.Kernel(args.kernel), args.drivers, args.build)
    job.memory, job.cpus, job.icount = args.memory, args.cpus, args.icount
    job.icount_shift = args.icount_shift
    job.fast_strings = not args.no_fast_strings
    job.append, job.modules = args.append, args.module
    job.args = {"ours": args.ours_args, "intree": args.intree_args}
    job.env = dict(word.split("=", 1) for word in args.env)
    job.out = args.out and os.path.realpath(args.out)
    if "daemon" in args.drivers:
        daemon = suite.built(args.build, "user/anybinderd")
        job.files.append((daemon, "/vm/bin/anybinderd"))
        job.env["ANYBINDERD"] = "/vm/bin/anybinderd"
    return job


def run(args):
    job = make_job(args)
    job.timeout, job.rounds = args.timeout or 300, args.rounds
    command = list(args.command)
    if "/" in command[0] and os.path.isfile(command[0]):
        inside = "/vm/bin/" + os.path.basename(command[0])
        job.files.append((os.path.realpath(command[0]), inside))
        command[0] = inside
    for word in args.file:
        source, _, target = word.partition(":")
        job.files.append((source, target or "/vm/bin/" + os.path.basename(source)))
    if args.share:
        job.files.append((args.share, "/share"))
    job.command = "exec " + shlex.join(command)
    result = job.run()
    result.tell()
    result.discard()
    return 0 if result.good else 1


def main():
    args = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        if args.action == "table":
            return results.table(args)
        return run(args) if args.action == "run" else suite.run(args, make_job)
    except (guest.Unusable, OSError, ValueError) as error:
        guest.say(error)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
