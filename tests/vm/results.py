# SPDX-License-Identifier: MIT
"""Results of the process tests: kept as JSON, printed, compared."""
import glob
import json
import os

MARKS = {"passed": "✓", "failed": "**failed**", "skipped": "skipped", "not run": "not run"}
ORDER = ("6.1", "6.12", "7.2", "debug", "host")
DRIVERS = ("ours", "intree", "daemon")
DAEMON_ONLY = "about the daemon, and the driver is another"


def count(cases):
    """What did not run has failed."""
    outcomes = [outcome for outcome, _ in cases.values()]
    return {"passed": outcomes.count("passed"), "skipped": outcomes.count("skipped"),
            "failed": outcomes.count("failed") + outcomes.count("not run")}


def line(counts):
    return f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped"


def save(path, kernel, driver, release, why, found):
    """Print what there is to know, write it to @path. Return: the totals."""
    total = {"passed": 0, "failed": 0, "skipped": 0}
    for program, cases in found.items():
        counts = count(cases)
        print(f"{program}: {line(counts)}")
        for case, (outcome, reason) in cases.items():
            if outcome != "passed":
                print(f"    {outcome}: {case}: {reason}")
        for outcome in total:
            total[outcome] += counts[outcome]
    if why and not total["failed"]:
        print(f"the guest: {why[0]}")
        total["failed"] = 1
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"kernel": kernel, "release": release, "driver": driver, "guest": why,
                   "programs": found}, file, indent=1)
        file.write("\n")
    print(line(total))
    return total


class Column:
    """One result file."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.data = json.load(file)
        self.cases = {(program, case): result
                      for program, cases in self.data["programs"].items()
                      for case, result in cases.items()}

    def key(self):
        kernel, driver = self.data["kernel"], self.data["driver"]
        return (DRIVERS.index(driver) if driver in DRIVERS else 9,
                ORDER.index(kernel) if kernel in ORDER else 9, kernel)

    def head(self):
        return f"{self.data['driver']} {self.data['kernel']}"

    def outcome(self, which):
        return self.cases.get(which, ["", ""])


def daemon_only(columns, which):
    """Does the case say nothing about drivers, and is well where it is about something?"""
    results = [column.outcome(which) for column in columns]
    return any(reason == DAEMON_ONLY for _, reason in results) and all(
        outcome in ("passed", "") or reason == DAEMON_ONLY for outcome, reason in results)


def table(args):
    """Print the differences as Markdown. Return: 0"""
    files = args.files or sorted(glob.glob(os.path.join(args.build, "vm", "results", "*.json")))
    columns = sorted((Column(path) for path in files), key=Column.key)
    if not columns:
        raise ValueError("no result files; scripts/vm tests makes them")
    everything = sorted({which for column in columns for which in column.cases})
    apart = [which for which in everything if daemon_only(columns, which)]
    rows = [which for which in everything if which not in apart and not all(
        column.outcome(which)[0] == "passed" for column in columns)]
    print("| program | case | " + " | ".join(column.head() for column in columns) + " |")
    print("|---" * (len(columns) + 2) + "|")
    print_rows(columns, rows, args.full)
    for words in ("passed", "failed", "skipped"):
        totals = [str(count(column.cases)[words]) for column in columns]
        print(f"| | *{words}* | " + " | ".join(totals) + " |")
    print(f"\n{len(everything) - len(rows) - len(apart)} cases pass everywhere; "
          f"{len(apart)} are about the daemon itself and pass there.")
    if args.reasons:
        print_reasons(columns, rows)
    return 0


def print_rows(columns, rows, full):
    """One for each case; of a program's that differ in the same way, one for all if not @full."""
    groups = {}
    for program, case in rows:
        marks = [MARKS.get(column.outcome((program, case))[0], "") for column in columns]
        words = " | ".join(marks)
        groups.setdefault((program, words, case if full else ""), []).append(case)
    for (program, words, _), cases in groups.items():
        name = cases[0] if len(cases) == 1 else f"{len(cases)} cases, such as {cases[0]}"
        print(f"| {program} | {name} | {words} |")


def print_reasons(columns, rows):
    for program, case in rows:
        for column in columns:
            outcome, reason = column.outcome((program, case))
            if outcome not in ("", "passed"):
                print(f"- {program} {case}, {column.head()}: {outcome}: {reason}")
