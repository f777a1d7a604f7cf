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
    said = asked.parse_args()
    total = Counted()
    for name, kind in KINDS.items():
        if said.only not in (None, name):
            continue
        count = said.inputs if said.only else max(1, said.inputs * kind.share // 10_000)
        found = run(kind, count, said.seed, said.seconds, partial(say, name))
        print(f"{name}, seed {said.seed}: {told(found)}", flush=True)
        total = Counted(total.inputs + found.inputs, total.refused + found.refused, total.faults + found.faults)
    print(f"all, seed {said.seed}: {told(total)}")
    return 1 if total.faults else 0


def say(name: str, fault: str) -> None:
    print(f"A fault in {name}: {fault}", flush=True)


def told(counted: Counted) -> str:
    return f"{counted.inputs} inputs, {counted.refused} handled refusals, {len(counted.faults)} faults"


if __name__ == "__main__":
    sys.exit(main())
