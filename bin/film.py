"""Make the film that README opens with, from the real app and in one go: `python bin/film.py [docs/headlight.webp]`.

A browser without a screen does what a visitor would, and what it shows is kept: a sentence is typed, a head is chosen, a line is
cut, and an answer grows.
"""

from __future__ import annotations

import base64
import io
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import Locator, Page, sync_playwright

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.browser.places import box_at_rest, in_menu  # noqa: E402  its folder is no package of the project's
from tests.serving import find_chromium, launch, serve  # noqa: E402

SIZE, WIDTH = {"width": 1180, "height": 740}, 960  # of the window, and pixels of the film
A_SECOND, QUALITY = 10, 60  # pictures at most, and how good each is, of 100
BEFORE, TYPED = "The farmer gave the dog a bone, and", " the dog"
LOOKED_AT = 4  # the token on which the head that is chosen has its eye at the end of the sentence
HAND = Path(__file__).with_name("film.js")  # the pointer


@contextmanager
def filming(page: Page) -> Iterator[list[tuple[float, bytes]]]:
    """What the page shows in this block: the moment in seconds, and a picture, at each change."""
    frames: list[tuple[float, bytes]] = []
    camera = page.context.new_cdp_session(page)

    def keep(shot: dict) -> None:
        frames.append((shot["metadata"]["timestamp"], base64.b64decode(shot["data"])))
        camera.send("Page.screencastFrameAck", {"sessionId": shot["sessionId"]})

    camera.on("Page.screencastFrame", keep)
    camera.send("Page.startScreencast", {"format": "jpeg", "quality": 95, "everyNthFrame": 1})
    yield frames
    camera.send("Page.stopScreencast")
    frames.append((time.time(), frames[-1][1]))


def point(page: Page, at: Locator, across: float = 0.5, down: float = 0.5) -> None:
    """Move the hand there, as slowly as an eye follows."""
    box = box_at_rest(at)
    page.mouse.move(box["x"] + across * box["width"], box["y"] + down * box["height"], steps=12)


def press(page: Page, at: Locator, rest: float = 0.7) -> None:
    point(page, at)
    page.mouse.down()
    page.mouse.up()
    page.wait_for_timeout(1000 * rest)


def type_a_sentence(page: Page) -> None:
    box = page.get_by_label("Your text")
    press(page, box, 0.2)
    box.press("End")
    page.keyboard.type(TYPED, delay=180)
    page.wait_for_timeout(600)


def choose_a_head(page: Page) -> None:
    press(page, in_menu(page, "Attention"), 0.8)
    for name in ("H3", "H1"):
        press(page, page.locator("[class*=hl-head-view]").get_by_text(name, exact=True), 0.5)
    point(page, page.locator("[class*=hl-head-view] .side.from > *").last)
    page.wait_for_timeout(700)


def cut_a_line(page: Page) -> None:
    press(page, in_menu(page, "Change"), 0.7)
    point(page, page.locator("[data-part=parts] [role=grid]"), 0.25, 0.9)
    page.mouse.down()
    page.mouse.up()
    page.wait_for_timeout(700)
    view = page.locator("[data-part=after]")
    view.scroll_into_view_if_needed()
    tops = [box_at_rest(view.locator(f".side.{side} > *").nth(at)) for side, at in (("from", -1), ("to", LOOKED_AT))]
    stage = box_at_rest(view.locator(".stage"))
    y = sum(top["y"] + top["height"] / 2 for top in tops) / 2
    page.mouse.move(stage["x"] + stage["width"] / 2 - 20, y, steps=12)
    page.wait_for_timeout(300)
    page.mouse.down()
    page.mouse.up()
    page.wait_for_timeout(700)


def let_it_grow(page: Page) -> None:
    page.mouse.wheel(0, -2000)
    press(page, in_menu(page, "Generate"), 0.8)
    press(page, page.get_by_role("button", name="Go on", exact=True), 1.6)


def encode(frames: list[tuple[float, bytes]], target: Path) -> float:
    """Write the film; how many seconds it lasts."""
    film: list[tuple[float, bytes]] = []
    for moment, shot in frames:
        if film and moment - film[-1][0] < 1 / A_SECOND:
            film[-1] = film[-1][0], shot
        else:
            film.append((moment, shot))
    height = round(WIDTH * SIZE["height"] / SIZE["width"])
    pictures = [Image.open(io.BytesIO(shot)).convert("RGB").resize((WIDTH, height), Image.Resampling.LANCZOS) for _, shot in film]
    until = [moment for moment, _ in film[1:]] + [frames[-1][0] + 1.2]
    lengths = [max(20, round(1000 * (end - moment))) for (moment, _), end in zip(film, until, strict=True)]
    pictures[0].save(
        target, save_all=True, append_images=pictures[1:], duration=lengths, loop=0, quality=QUALITY, method=6, minimize_size=True
    )
    return sum(lengths) / 1000


def main(target: Path) -> None:
    with serve() as server, sync_playwright() as playwright:
        browser = launch(playwright, find_chromium() or sys.exit("There is no Chromium here: bin/chromium --install."))
        page = browser.new_context(viewport=SIZE).new_page()
        page.add_init_script(path=HAND)
        page.goto(f"{server.url}/type?level=intermediate&layer=L5&head=H1&text={quote(BEFORE)}")
        page.locator(".hl-prediction-bars").first.wait_for(timeout=60_000)
        for name in ("Attention", "Change", "Generate", "Type"):  # what is read once is not waited for in the film
            in_menu(page, name).click()
            page.wait_for_timeout(3000)
        with filming(page) as frames:
            for scene in (type_a_sentence, choose_a_head, cut_a_line, let_it_grow):
                scene(page)
        browser.close()
    print(f"{target}: {encode(frames, target):.1f} s, {target.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/headlight.webp")
