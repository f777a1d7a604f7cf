"""Ready pairs of texts to steer with; tests check their effect on the models that ship."""

from __future__ import annotations

from dataclasses import dataclass

OWN = "my own pairs"


@dataclass(frozen=True)
class Ready:
    """A ready direction. pairs: a text with it and a text without; strength, layer: where its effect shows, None for the middle
    of the stack; text: a beginning whose first guess it changes, "" for none."""

    pairs: tuple[tuple[str, str], ...]
    strength: float = 2.0
    layer: int | None = None
    text: str = ""


SHE = Ready(
    (
        ("She went home to her mother.", "He went home to his father."),
        ("The girl took her doll.", "The boy took his ball."),
        ("The woman said that she was tired.", "The man said that he was tired."),
        ("The queen sat in her room.", "The king sat in his room."),
    ),
    text="The doctor said that",
)
READY = {  # for a model with one stack
    "cat, not others": Ready(
        (
            ("a cat", "a ball"),
            ("the cat", "the apple"),
            ("his cat", "his hat"),
            ("her cat", "her boy"),
        ),
        1.5,
        layer=2,
        text="Tom had a ball, and his dog ran after the",
    ),
    "sea, not land": Ready(
        (
            ("The ship sailed over the sea.", "The cart rolled over the field."),
            ("The sailor stood on the deck of his ship.", "The farmer stood at the door of his barn."),
            ("The waves beat upon the shore.", "The wind blew through the forest."),
            ("The fish swam in the water.", "The bird sat in the tree."),
        ),
        layer=1,
        text="They went to the",
    ),
    "glad, not sad": Ready(
        (
            ("She was very happy and she laughed.", "She was very sad and she cried."),
            ("It was a good and happy day.", "It was a bad and sad day."),
            ("He smiled, for he was glad.", "He wept, for he was sorry."),
            ("They loved the kind old man.", "They hated the cruel old man."),
        ),
        text="The old man was very",
    ),
    "she, not he": SHE,
}
READY_SOURCE = {  # for an encoder-decoder, whose encoder is steered: the answer follows
    "she, not he": Ready(
        (
            ("She is tired.", "He is tired."),
            ("She went to her school.", "He went to his school."),
            ("She has a cat.", "He has a cat."),
            ("My sister is tall.", "My brother is tall."),
        ),
        3.0,
    ),
    "we, not I": Ready(
        (
            ("We are at home.", "I am at home."),
            ("We have a dog.", "I have a dog."),
            ("We like our school.", "I like my school."),
            ("We do not know.", "I do not know."),
        ),
        3.0,
    ),
    "a question": Ready(
        (
            ("Is he tired?", "He is tired."),
            ("Do you have a dog?", "You have a dog."),
            ("Are they here?", "They are here."),
            ("Can she swim?", "She can swim."),
        ),
        3.0,
        0,
    ),
    "not": Ready(
        (
            ("I do not like it.", "I like it."),
            ("He is not here.", "He is here."),
            ("They do not know.", "They know."),
            ("She cannot swim.", "She can swim."),
        ),
        3.0,
        0,
    ),
}


def ready_for(kind: str) -> dict[str, Ready]:
    """Return the ready directions for a kind of model."""
    return READY_SOURCE if kind == "encoder-decoder" else READY


def own_pairs(with_it: str, without: str) -> tuple[tuple[str, str], ...]:
    """Return pairs from two typed lines: texts with a slash between them, as many on each side. Errors: ValueError, a
    sentence."""
    sides = [[text.strip() for text in side.split("/") if text.strip()] for side in (with_it, without)]
    if not all(sides):
        raise ValueError("Write at least one text with what you want more of, and one without it.")
    if len(sides[0]) != len(sides[1]):
        raise ValueError(
            f"There are {len(sides[0])} texts with it and {len(sides[1])} without. Write as many of each, a slash between them."
        )
    return tuple(zip(*sides, strict=True))
