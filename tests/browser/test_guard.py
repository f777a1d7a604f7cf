"""The guard that every browser test stands behind does catch what it must."""

import pytest

from tests.serving import Watched


@pytest.mark.parametrize(
    ("doing", "complaint"),
    [
        ("() => { fetch('https://example.com/x').catch(() => 0) }", "https://example.com/x"),
        ("() => { new WebSocket('ws://10.0.0.1/x') }", "ws://10.0.0.1/x"),
        ("() => { new Image().src = 'http://example.com/x.png' }", "http://example.com/x.png"),
        ("() => { setTimeout(() => { throw new Error('a fault of ours') }) }", "a fault of ours"),
    ],
)
def test_what_leaves_the_machine_or_fails_is_told(browser, doing, complaint):
    watched = Watched(browser)
    page = watched.page()
    page.evaluate(doing)
    page.wait_for_timeout(200)
    with pytest.raises(AssertionError, match=complaint):
        watched.close()


def test_what_stays_here_is_no_complaint(browser):
    watched = Watched(browser)
    watched.page().goto("data:text/html,<title>here</title>")
    watched.close()
