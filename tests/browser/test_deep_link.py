"""A link to a page opens that page, even as the first visit that a server gets (Streamlit treats a `pages` folder specially)."""

from tests.serving import Watched, serve
from viz.palette import DARK, sequential


def test_the_first_visit_to_a_fresh_server_may_be_a_deep_link(browser):
    with serve() as server:
        watched = Watched(browser)
        page = watched.page()
        failed: list[str] = []
        page.on("response", lambda response: failed.extend([response.url] * (response.status >= 400)))
        page.goto(f"{server.url}/attention?view=Heatmap", wait_until="domcontentloaded")
        page.locator(".heatmaplayer image").wait_for(state="attached", timeout=60_000)
        assert page.title() == "Attention · Headlight"
        assert page.get_by_role("dialog").count() == 0, "Streamlit says “Page not found” although the page is there"
        assert page.get_by_label("Model").count() > 0, "the side bar of app.py is missing"
        assert failed == [], "the browser's console shows each as an error"
        page.emulate_media(color_scheme="dark")  # as a device does in the evening
        strongest = sequential(DARK["accent"])[-1][1]  # of the scale, which the server chooses
        scale = "document.querySelector('.js-plotly-plot')?.data[0].colorscale.at(-1)[1]"
        page.wait_for_function(f"strongest => {scale} === strongest", arg=strongest)
        watched.close()
