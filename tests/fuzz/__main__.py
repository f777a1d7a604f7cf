"""The long form: `python -m tests.fuzz --inputs 10000 --seed 1`, or one kind of input with `--only`."""

from __future__ import annotations

import argparse
import math
import os
import sys
from functools import partial

os.environ["HF_HUB_OFFLINE"] = "1"  # before a library reads it: nothing here reaches a network

from tests.fuzz.running import KINDS, Counted, run


def main() -> int:
    asked = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    asked.add_argument("--inputs", type=int, default=10_000, help="of all kinds together; with --only, of that kind")
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--only", choices=[*KINDS])
    asked.add_argument("--seconds", type=float, default=math.inf, help="of each kind at most; what fits is counted")
    options = asked.parse_args()
    total = Counted()
    for name, kind in KINDS.items():
        if options.only not in (None, name):
            continue
        count = options.inputs if options.only else max(1, options.inputs * kind.share // 10_000)
        result = run(kind, count, options.seed, options.seconds, partial(say, name))
        print(f"{name}, seed {options.seed}: {summary(result)}", flush=True)
        total = Counted(total.inputs + result.inputs, total.refused + result.refused, total.faults + result.faults)
    print(f"all, seed {options.seed}: {summary(total)}")
    return 1 if total.faults else 0


def say(name: str, fault: str) -> None:
    print(f"A fault in {name}: {fault}", flush=True)


def summary(counted: Counted) -> str:
    return f"{counted.inputs} inputs, {counted.refused} handled refusals, {len(counted.faults)} faults"


if __name__ == "__main__":
    sys.exit(main())
