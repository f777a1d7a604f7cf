"""Nothing that a visitor types, asks for in an address, opens or writes ends in a traceback, on a page or in the log.

The short form, with the same inputs each time; the long one: `python -m tests.fuzz` (docs/security.md)."""

import pytest

from tests.fuzz.running import KINDS, run

FEW = {"texts": 8, "addresses": 2, "texts on pages": 1, "model folders": 4, "model folders on pages": 1, "lessons on pages": 1}


@pytest.mark.parametrize("name", KINDS)
def test_bad_input_is_refused_with_a_sentence_and_logs_no_fault(name):
    counted = run(KINDS[name], FEW.get(name, 25), 1)
    assert counted.inputs and not counted.faults, "\n\n".join(counted.faults)
