"""A link to a page opens that page, even as the first visit that a server gets (Streamlit treats a `pages` folder specially)."""

from tests.serving import Watched, serve


def test_the_first_visit_to_a_fresh_server_may_be_a_deep_link(browser):
    with serve() as server:
        watched = Watched(browser)
        page = watched.page()
        page.goto(f"{server.url}/attention?view=Heatmap", wait_until="domcontentloaded")
        page.locator(".heatmaplayer image").wait_for(state="attached", timeout=60_000)
        assert page.title() == "Attention · Headlight"
        assert page.get_by_role("dialog").count() == 0, "Streamlit says “Page not found” although the page is there"
        assert page.get_by_label("Model").count() > 0, "the side bar of app.py is missing"
        watched.close()
