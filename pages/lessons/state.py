"""The choices of page "Lessons", except the open part, which a link to a term sets from every page (`ui.state.LEARN`)."""

from __future__ import annotations

from ui.state import Key, link

WORD_SOUGHT = link("sought", default="")  # among the words to know
LESSON_COURSE = Key("lesson-course", "")  # from the card of which one a lesson was begun last
