"""What only the writer's card says."""

from __future__ import annotations

from pathlib import Path

from bin.model_card.common import attributions, compared, quoted, stages
from bin.model_card.habits import NEW, PROMPT, ROUND, ROUNDS
from bin.model_card.knowledge import compared_knowledge
from bin.model_card.measures import measured
from models.catalog import WEIGHTS, load
from models.training.corpus import documents

PROMPTS = ("Once upon a", "The cat sat on the", "It was a dark and stormy", "She opened the door and saw a", "Thank you very")
MEASURES = (
    ("loss", "**{nats_per_token:.3f} nats a token**"),
    ("the same over bytes", "**{bits_per_byte:.3f} bits a byte**"),
    ("greedy continuations that end in a loop, of 100", "**{loops}**"),
    ("share of their tokens that repeat a run of four", "{repeated:.1%}"),
    ("second round of random words, predicted", "**{words:.1%}**"),
    ("second round of random tokens, predicted", "{tokens:.1%}"),
    ("best previous-token head: mean weight on the token before", "{previous[score]:.2f} (L{previous[layer]} H{previous[head]})"),
    (
        "best induction head: on what followed the same word before",
        "{induction[score]:.2f} (L{induction[layer]} H{induction[head]})",
    ),
    ("best first-token head: mean weight on the start token", "{first[score]:.2f} (L{first[layer]} H{first[head]})"),
)
STAGES = (
    ("rows that repeat themselves", "{repeats:.0%}"),
    ("steps on its own continuations, at the full rate", "{own:.0%}"),
    ("weights of the stage before, kept", "{earlier_share:.0%}"),
    ("rows of facts a step, of 64 tokens", "{facts}"),
)


def values(data: Path) -> dict[str, object]:
    folder, model, figures = WEIGHTS / "writer", load("writer"), measured("writer", data)
    attributions(data / "ATTRIBUTION_storybooks.tsv", folder / "ATTRIBUTION.md", "writer")
    return {
        "documents": f"{len(documents(data / 'english_train.txt')):,}",
        "knowledge": compared_knowledge(figures),
        "measures": compared(figures, *MEASURES),
        "stages": stages(figures, *STAGES),
        "prompt": PROMPT,
        "new": NEW,
        "round": ROUND,
        "rounds": ROUNDS,
        "examples": "\n".join(f"- “{prompt}”: {quoted(model.predict(prompt, top=5))}" for prompt in PROMPTS),
    }
