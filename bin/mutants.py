"""Plant faults in a copy of the code, one at a time, and see which test catches each.

    python bin/mutants.py                     every fault of bin/mutants.toml, against the tests of `make test`
    python bin/mutants.py --suite all         then against what `make test-all` adds
    python bin/mutants.py --only rollout-without-residual
    python bin/mutants.py --list

For each fault the tests run in order of how likely they are to fail, and stop at the first failure: those named like the file,
those that mention it, those of its folder, the rest. A test counts only if it passes again without the fault. The exit status is
0 if every fault is caught, 1 if some are not, and 2 if some can no longer be planted because the code has changed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parent.parent
TABLE = Path(__file__).with_suffix(".toml")
THOROUGH = "thorough"  # the mark of the tests that only `make test-all` runs
FAILED = re.compile(r"^(?:FAILED|ERROR) (tests/.+?)(?: - .*)?$", flags=re.MULTILINE)
PASSED, NO_TESTS = 0, 5  # exit statuses of pytest
LONGEST = 30 * 60  # seconds of one run of pytest; a fault may make a test wait for ever
ENDLESS = f"a test that does not end within {LONGEST // 60} minutes"
NEAR, FOLDER, REST = 1, 2, 3  # how far from the changed file tests are looked for


@dataclass(frozen=True)
class Fault:
    """A fault: `old`, which its file must hold exactly once, is replaced by `new`. breaks: what a user would notice."""

    name: str
    file: str
    old: str
    new: str
    breaks: str

    def occurrences(self, root: Path = ROOT) -> int:
        path = root / self.file
        return path.read_text(encoding="utf-8").count(self.old) if path.is_file() else 0

    def plant(self, root: Path) -> None:
        path = root / self.file
        path.write_text(path.read_text(encoding="utf-8").replace(self.old, self.new), encoding="utf-8")

    def remove(self, root: Path) -> None:
        """Put the file back as it is here, with its time, by which Python knows that what it compiled is out of date."""
        shutil.copy2(ROOT / self.file, root / self.file)


@dataclass(frozen=True)
class Result:
    """The result of planting a fault. test: the first that failed because of it, "" if none did; suite: where that test runs."""

    fault: Fault
    test: str
    suite: str
    seconds: float


def faults(table: Path = TABLE) -> list[Fault]:
    """The faults of the table. Errors: TypeError for a field that is missing or unknown, ValueError for a name used twice."""
    records = [Fault(**record) for record in tomllib.loads(table.read_text(encoding="utf-8"))["fault"]]
    names = [fault.name for fault in records]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"Two faults have the same name: {', '.join(twice)}.")
    return records


def unplantable(chosen: Sequence[Fault], root: Path = ROOT) -> list[str]:
    """A sentence for each fault whose old text does not occur exactly once in its file, or would not change it."""
    sentences = [
        f"{fault.name}: its old text occurs {count} times in {fault.file}, not once."
        for fault in chosen
        if (count := fault.occurrences(root)) != 1
    ]
    return sentences + [f"{fault.name}: its new text is its old one." for fault in chosen if fault.old == fault.new]


def copy_of_checkout(folder: Path) -> Path:
    """Copy every tracked file, as it is now, into an empty folder."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():  # a tracked file may have been deleted
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    # Some tests ask Git for the files of the project.
    subprocess.run("git init -q && git add -Af", shell=True, cwd=folder, check=True)
    return folder


def distance(fault: Fault, test: Path) -> tuple[int, int]:
    """How far a test file is from the changed one: the stage in which it runs, and its place in that. test: from `tests/` on."""
    changed = Path(fault.file)
    names = {changed.stem, changed.parent.name} - {"__init__", "view", "page"}
    apart = [part for part in test.parts[:-1] if part != "browser"]  # tests/browser mirrors pages and views too
    folders = list(changed.parts[:-1])
    here = apart == folders or apart == folders[:-1] or (apart and folders and apart[-1] == folders[-1])
    browser = "browser" in test.parts
    if test.stem.removeprefix("test_") in names and here:
        return NEAR, 0 + 2 * browser
    if mentions(fault, (ROOT / "tests" / test).read_text(encoding="utf-8")):
        return NEAR, 1 + 2 * browser
    if here:
        return FOLDER, 0 + 2 * browser
    return (FOLDER, 1 + 2 * browser) if apart[:1] == folders[:1] else (REST, int(browser))


def mentions(fault: Fault, text: str) -> bool:
    """Whether a test imports or names the changed file: "from analysis.lens import …", "shared/number.js"."""
    changed = Path(fault.file)
    if changed.suffix != ".py":
        return "/".join(changed.parts[-2:]) in text
    parts = changed.with_suffix("").parts
    *package, module = parts[:-1] if parts[-1] == "__init__" else parts
    direct = rf"\b{re.escape('.'.join([*package, module]))}\b"
    return bool(re.search(rf"{direct}|from {re.escape('.'.join(package))} import [^\n]*\b{re.escape(module)}\b", text))


def stages(fault: Fault) -> dict[int, list[str]]:
    """The test files by the stage in which they run, the likeliest to fail first."""
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    tests = [path.relative_to(ROOT / "tests") for path in paths if path.name != "test_mutants.py"]  # which every fault would fail
    ordered = sorted((distance(fault, test), test) for test in tests)
    return {stage: [f"tests/{test.as_posix()}" for (at, _), test in ordered if at == stage] for stage in (NEAR, FOLDER, REST)}


def run_tests(root: Path, marks: str, tests: Sequence[str], without: Sequence[str] = ()) -> str:
    """Run tests in a copy until the first failure. Returns its name, "" if all passed. without: tests that are left out.

    Errors: RuntimeError if pytest itself fails.
    """
    options = ["-n", "0", "-x", "-q", "-p", "no:cacheprovider", *(f"--deselect={name}" for name in without)]
    command = [sys.executable, "-m", "pytest", *options, *(["-m", marks] if marks else []), *tests]
    process = subprocess.Popen(
        command,
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},  # as the workers of `make test`: some tests compare bit for bit
    )
    try:
        output, _ = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        names = FAILED.findall(output)
        return names[0] if names else ENDLESS  # a test may have failed and left a thread that never ends
    if process.returncode in (PASSED, NO_TESTS):
        return ""
    if not (names := FAILED.findall(output)):
        raise RuntimeError(f"pytest ended with status {process.returncode}, and names no test:\n{output}")
    return names[0]


def catching_test(fault: Fault, root: Path, marks: str, furthest: int) -> str:
    """The first test that fails with the fault planted in a copy, and passes without it; "" if there is none."""
    for stage, tests in stages(fault).items():
        unsound: list[str] = []  # tests that fail without the fault too
        while stage <= furthest and tests:
            fault.plant(root)
            failed = run_tests(root, marks, tests, unsound)
            fault.remove(root)
            if not failed:
                break
            if failed == ENDLESS or not run_tests(root, "", [failed]):
                return failed
            print(f"{failed} fails without the fault too, so it is left out.", file=sys.stderr)
            if failed in unsound or "::" not in failed:
                break
            unsound.append(failed)
    return ""


def suites(wanted: str) -> dict[str, list[str]]:
    """The marks of the tests that a suite has and none before it: "test" is the first alone, "all" both."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    if not any(mark.startswith(f"{THOROUGH}:") for mark in settings["markers"]):
        return {"make test": []}
    return {"make test": [f"not {THOROUGH}"]} | ({"make test-all": [f"{THOROUGH} and not claims"]} if wanted == "all" else {})


def tried(fault: Fault, root: Path, options: argparse.Namespace) -> Result:
    start = time.monotonic()
    for suite, marks_of_suite in suites(options.suite).items():
        marks = " and ".join([*marks_of_suite, *(f"not {mark}" for mark in options.without)])
        if test := catching_test(fault, root, marks, options.stages):
            return Result(fault, test, suite, time.monotonic() - start)
    return Result(fault, "", "", time.monotonic() - start)


def results(chosen: Sequence[Fault], options: argparse.Namespace) -> Iterator[Result]:
    """Try the faults, `workers` of them at a time, each in a copy that no other uses meanwhile; in their order."""
    with tempfile.TemporaryDirectory(prefix="headlight-mutants-") as folder, ThreadPoolExecutor(options.workers) as pool:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(options.workers):
            copy = Path(folder) / str(number)
            copy.mkdir()
            copies.put(copy_of_checkout(copy))

        def in_a_copy(fault: Fault) -> Result:
            root = copies.get()
            try:
                return tried(fault, root, options)
            finally:
                copies.put(root)

        yield from pool.map(in_a_copy, chosen)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Plant faults in a copy of the code, and see which test catches each.")
    parser.add_argument("--only", action="append", metavar="NAME", help="this fault alone; may be given several times")
    parser.add_argument("--list", action="store_true", help="list the faults and end")
    parser.add_argument(
        "--suite", choices=("test", "all"), default="test", help="the tests of `make test`, or of `make test-all`"
    )
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="faults that are tried at a time")
    parser.add_argument("--without", action="append", default=[], metavar="MARK", help="leave out these tests, such as browser")
    parser.add_argument(
        "--stages",
        type=int,
        choices=(NEAR, FOLDER, REST),
        default=REST,
        help="how far to look: 1 tests that name the file, 2 those of its folder too, 3 all",
    )
    return parser.parse_args()


def main() -> int:
    options, known = arguments(), faults()
    if unknown := set(options.only or ()) - {fault.name for fault in known}:
        print(f"There is no fault {', '.join(sorted(unknown))}; --list lists them.", file=sys.stderr)
        return 2
    chosen = [fault for fault in known if not options.only or fault.name in options.only]
    width = max(len(fault.name) for fault in chosen)
    if options.list:
        print("\n".join(f"{fault.name:<{width}}  {fault.file}: {fault.breaks}" for fault in chosen))
        return 0
    if sentences := unplantable(chosen):
        print("\n".join(["These faults cannot be planted:", *sentences]), file=sys.stderr)
        return 2
    files = max(len(fault.file) for fault in chosen)
    caught = 0
    print(f"{'fault':<{width}}  {'file':<{files}}  {'suite':<13}  seconds  caught by")
    for result in results(chosen, options):
        caught += bool(result.test)
        line = f"{result.fault.name:<{width}}  {result.fault.file:<{files}}  {result.suite:<13}  {result.seconds:7.1f}"
        print(f"{line}  {result.test or 'NOT CAUGHT: ' + result.fault.breaks}", flush=True)
    print(f"{caught} of {len(chosen)} faults are caught.")
    return 0 if caught == len(chosen) else 1


if __name__ == "__main__":
    raise SystemExit(main())
