"""What only the filler's card says."""

from __future__ import annotations

from pathlib import Path

from bin.model_card.common import attributions, compared, quoted, stages
from bin.model_card.habits import COMMON, MASKS
from bin.model_card.knowledge import compared_knowledge
from bin.model_card.measures import measured
from models.catalog import WEIGHTS, load
from models.training.corpus import documents

PROMPTS = (
    "She poured the tea into a MASK and drank it slowly.",
    "The farmer gave the hungry dog a MASK, and the dog ran into the garden.",
    "The MASK barked all night, and nobody in the street could sleep.",
    "The MASK sat on the mat.",
    "Once upon a MASK, there was a king.",
    "The cat chased the MASK.",
    "The river runs past the MASK.",
)
MEASURES = (
    ("loss", "**{nats_per_masked_token:.3f} nats a masked token**"),
    (f"of {MASKS} words masked one by one, found", "{right}"),
    ("… become a word that their sentence has already", "**{repeats}**"),
    ("best previous-token head: mean weight on the token before", "{previous[score]:.2f} (L{previous[layer]} H{previous[head]})"),
    ("best next-token head: mean weight on the token after", "{next[score]:.2f} (L{next[layer]} H{next[head]})"),
)
STAGES = (
    ("windows", "of {windows} tokens"),
    ("of the tokens that are to be found, masked", "{masks:.0%}"),
    ("weight of unlearning the sentence's other words", "{again:.0f}"),
    ("weights of the stage before, kept", "{earlier_share:.0%}"),
    ("windows of facts a step, among these", "{facts}"),
)


def values(data: Path) -> dict[str, object]:
    folder, model, figures = WEIGHTS / "filler", load("filler"), measured("filler", data)
    attributions(data / "ATTRIBUTION_storybooks.tsv", folder / "ATTRIBUTION.md", "filler")
    prompts = [prompt.replace("MASK", model.info.mask) for prompt in PROMPTS]
    return {
        "documents": f"{len(documents(data / 'english_train.txt')):,}",
        "knowledge": compared_knowledge(figures),
        "measures": compared(figures, *MEASURES),
        "stages": stages(figures, *STAGES),
        "words": MASKS,
        "common": COMMON,
        "right_repeats": figures["measures"]["right_repeats"],
        "examples": "\n".join(f"- “{prompt}”: {quoted(model.predict(prompt, top=5))}" for prompt in prompts),
    }
