"""A picture that cannot be drawn: its page has a sentence, and the server’s log has what helps whoever looks after it."""

from __future__ import annotations

import logging

import numpy as np
import pytest
import torch

from models.training.live import Budget
from ui.parts import SHORT_OF_MEMORY, complaint

TYPED = "what somebody typed"
TOO_MUCH = 2**61  # bytes, which no machine has


def complain(work, caplog) -> tuple[str, list[logging.LogRecord]]:
    with caplog.at_level(logging.DEBUG), pytest.raises(Exception) as caught:  # each case has its own kind
        work()
    caplog.clear()
    return complaint("The map", caught.value), caplog.records


def test_a_refusal_is_one_line_of_the_log_without_what_was_typed(caplog):
    sentence, (record,) = complain(lambda: Budget(optimizer=TYPED), caplog)
    assert sentence.startswith("The map could not be drawn. ") and TYPED in sentence, "else this test could not fail"
    assert record.levelno == logging.WARNING and record.exc_info is None
    assert TYPED not in record.getMessage() and "\n" not in record.getMessage()
    assert "refused by models/training/live.py:" in record.getMessage()


@pytest.mark.parametrize("work", [lambda: np.zeros(3) + np.zeros(4), lambda: int("no number"), lambda: [][0]])
def test_a_fault_is_in_the_log_with_all_its_lines(work, caplog):
    _, (record,) = complain(work, caplog)
    assert record.levelno == logging.ERROR and record.exc_info


@pytest.mark.parametrize(
    "work", [lambda: np.empty(TOO_MUCH, np.uint8), lambda: torch.empty(TOO_MUCH, dtype=torch.uint8), lambda: bytearray(TOO_MUCH)]
)
def test_where_no_memory_is_left_the_page_says_so(work, caplog):
    assert complain(work, caplog)[0] == f"The map could not be drawn. {SHORT_OF_MEMORY}"
