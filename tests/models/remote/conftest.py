"""What all tests of replicas share."""

import pytest

from tests.models.edited import OURS, model
from tests.models.remote.serving import replica


@pytest.fixture(autouse=True)
def nothing_read_before() -> None:
    """A text that continues one that was read before is equal to the last digits but one: so here each begins anew."""
    replica.cache_clear()
    for name in OURS:
        model(name).forget()
