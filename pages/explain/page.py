"""Page "Explain": which words of the input speak for a prediction, by every method, and how far to trust them."""

from pathlib import Path

from pages.explain import believe, choose, methods, text
from pages.explain.request import Request
from ui import shell, state
from ui.choices import scope
from ui.choices.widgets import tabs
from ui.look import Look
from ui.picture.take_away import take_away
from ui.show import picture
from ui.text import plain
from ui.words import say
from viz import percent

HERE = Path(__file__).parent
PANELS = dict(zip(state.EXPLAIN.values, (text.panel, methods.panel, believe.panel), strict=True))


def draw(look: Look) -> None:
    scope.say_apart(look)
    position = choose.position(look)
    choose.chips(look, position)
    if not look.trace.predicts:
        say(HERE, "headless", name=plain(look.model.info.name))
        return
    view = state.EXPLAIN.values[0]
    above = shell.above()
    if look.beginner:
        state.later("intermediate", state.EXPLAIN)
    else:
        with above:
            view = tabs(state.EXPLAIN, "the view")
    token, against = choose.prediction(look, position)
    request, pictures = Request(look, position, token, against), []
    if not request.question.units:
        say(HERE, "nothing typed")
        return
    if look.beginner:
        why = "follows" if not look.model.info.labels else "labels" if request.chance else "number"
        share = percent(choose.chance_of(look, position, token)) if request.chance else ""
        say(HERE, why, prediction=plain(request.description), share=share)
    with picture(f"The view “{view}”"):
        pictures = PANELS[view](request)
    with above, picture("“Take it away”"):
        take_away("explain", lambda: pictures)


scope.side_bar()
shell.live(HERE, draw)
