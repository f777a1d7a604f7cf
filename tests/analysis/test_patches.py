"""Pieces of one text put into another: identities, each direction and measure against a plain loop, texts of unequal length."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from analysis.patches import DIRECTIONS, MEASURES, PARTS, Patches, counterparts, patching
from tests.grids import grid
from tests.models.edited import NAMES, apart, model, same, target

CLEAN, CORRUPT = "The cat sat on the mat", "The mat sat on the mat"  # as many tokens for each model
PREDICTING = [name for name in NAMES if name != "XLNet"]
FEW = {("writer", "denoising"), ("filler", "noising"), ("translator", "noising"), ("GPT-2", "denoising"), ("T5", "denoising")}
EACH = ("writer", "filler", "translator", "GPT-2", "Gemma 2, soft-capped", "GPT-NeoX", "BERT", "T5")


def readings(name: str, clean: str = CLEAN, corrupt: str = CORRUPT):
    return model(name).traces([clean, corrupt], targets=target(name))


def patches(name: str, direction: str = "denoising", kind: str = "") -> Patches:
    position = 2 if target(name) else -2
    return Patches(model(name), *readings(name), direction, kind, position)


def parts_of(runs: Patches) -> list[str]:
    """The parts that a model lets one tell apart."""
    good = []
    for part in PARTS:
        try:
            runs.edits(part)
            good.append(part)
        except ValueError:
            assert part != "stream"
    return good


@pytest.mark.parametrize("name", PREDICTING)
def test_a_patch_with_itself_changes_nothing_bit_for_bit(name):
    plain = model(name).traces([CLEAN], targets=target(name))[0]
    itself = Patches(model(name), plain, plain)
    for part in parts_of(itself):
        edits = list(itself.edits(part).values())
        for edit_list in (edits[0], edits[len(edits) // 2], [edit for some in edits for edit in some][: len(itself.places)]):
            assert same(model(name).traces([CLEAN], [edit_list], target(name))[0], plain), part


@pytest.mark.parametrize("name", PREDICTING)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_everything_patched_at_one_layer_is_the_other_run(name, direction):
    runs = patches(name, direction)
    assert len(runs.places) == len(runs.tokens(runs.base)), "the texts have as many tokens"
    edits, last = runs.edits("stream"), runs.shape("stream")[0] - 1
    for layer in (0, 1, last):
        all_edits = [edit for (row, _), some in edits.items() for edit in some if row == layer]
        prediction = np.exp(runs.read([all_edits])[0])
        np.testing.assert_allclose(prediction, np.exp(runs.logs["clean" if runs.denoises else "corrupt"]), atol=1e-5)
    first = [edit for (row, _), some in edits.items() for edit in some if row == 0]
    run = model(name).traces([runs.base.text], [first], target(name))[0]
    assert apart(run, runs.source) < 1e-4 * max(float(np.abs(stream).max()) for stream in run.hidden.values())


def measure_of(measure: str, logits, source, token: int, rival: int) -> float:
    """The measure as a textbook has it. logits, source: [vocabulary]."""
    p, q = (
        np.exp(row.astype(np.float64) - row.max()) / np.exp(row.astype(np.float64) - row.max()).sum() for row in (source, logits)
    )
    if measure == "KL":
        return -float(np.sum(p * np.log(p / q)))
    return float(q[token]) if measure == "probability" else float(logits[token]) - float(logits[rival])


@pytest.mark.parametrize(("name", "direction"), grid(product(EACH, DIRECTIONS), FEW))
def test_each_measure_and_part_in_batches_is_a_plain_loop(name, direction):
    runs = patches(name, direction)
    place = runs.position % len(runs.base.read)
    clean, corrupt = (run.logits_at(place) for run in (runs.clean, runs.corrupt))
    token, rival = runs.answers()
    assert token == int(clean.argmax())
    source, base = (clean, corrupt) if direction == "denoising" else (corrupt, clean)
    ends = {measure: [measure_of(measure, logits, source, token, rival) for logits in (base, source)] for measure in MEASURES}
    for part in parts_of(runs):
        edits, effects = runs.edits(part), {measure: runs.effects(part, measure, token, rival) for measure in MEASURES}
        cells = list(edits)
        for cell in (cells[0], cells[len(cells) // 2], cells[-1]):
            alone = model(name).trace(runs.base.text, target(name), edits=edits[cell]).logits_at(place)
            for measure, (low, high) in ends.items():
                loop = measure_of(measure, alone, source, token, rival)
                share = effects[measure][cell]
                assert low + share * (high - low) == pytest.approx(loop, abs=1e-5 * max(1, float(np.abs(alone).max())))


@pytest.mark.parametrize("kind", ["decoder", "cross"])
@pytest.mark.parametrize("name", ["translator", "T5", "BART"])
def test_the_decoder_is_patched_too_and_what_it_takes_from_the_source(name, kind):
    """All that the decoder knows of the source comes by cross-attention: its pieces, all patched, are the other run."""
    runs = patches(name, kind=kind)
    assert [token.id for token in runs.tokens(runs.base)] == [token.id for token in runs.clean.target]
    if kind == "cross":
        for part in ("attention", "head"):
            all_edits = [edit for some in runs.edits(part).values() for edit in some]
            np.testing.assert_allclose(np.exp(runs.read([all_edits])[0]), np.exp(runs.logs["clean"]), atol=1e-5)
    effects = runs.effects("stream", "KL")
    assert effects[-1, runs.position] == pytest.approx(1, abs=1e-4) and np.abs(effects[0]).max() < 1e-4, (
        "nothing differs at first"
    )


def test_places_are_matched_by_words_and_changed_words_from_their_end():
    ours, theirs = (model("writer").tokenize(text) for text in ("The very little girl was tired", "The boy was tired"))
    names = [[token.text.strip() for token in tokens] for tokens in (ours, theirs)]
    matches = {names[0][at]: names[1][its] for at, its in counterparts(ours, theirs).items()}
    assert matches == {name: name for name in names[1] if name != "boy"} | {"girl": "boy"}
    assert counterparts(theirs, ours) == {its: at for at, its in counterparts(ours, theirs).items()}


@pytest.mark.parametrize("part", PARTS)
def test_texts_of_unequal_length_are_aligned_and_what_is_missing_is_left_blank(part):
    clean, corrupt = "The very little girl was tired, so", "The boy was tired, so"
    for direction in DIRECTIONS:
        runs = Patches(model("writer"), *readings("writer", clean, corrupt), direction)
        effects = runs.effects(part)
        blank = [] if part == "head" else [at for at in range(len(runs.tokens(runs.base))) if at not in runs.places]
        assert np.flatnonzero(np.isnan(effects).all(0)).tolist() == blank
        assert np.isfinite(np.delete(effects, blank, 1)).all()
    assert len(runs.places) == 7 and blank == ([] if part == "head" else [2, 3])


def test_a_mask_is_found_in_the_place_of_the_other():
    filler = model("filler")
    runs = filler.traces(["Anna has a very red ball. Tom wants the [MASK].", "Anna has a car. Tom wants the [MASK]."])
    both_runs = Patches(filler, *runs, position=filler.places(runs[0])[0])
    assert both_runs.predicted_at(runs[1]) == filler.places(runs[1])[0] != both_runs.position
    assert both_runs.effects("stream")[-1, both_runs.predicted_at(runs[1])] == pytest.approx(1, abs=1e-4)


def test_answers_are_the_likeliest_of_each_text_and_where_they_are_one_what_gains():
    writer = model("writer")
    runs = Patches(writer, *readings("writer", "The girl was tired, so", "The boy was tired, so"))
    assert [writer.token_text(id) for id in runs.answers()] == [" she", " he"]
    alike = Patches(writer, *readings("writer", "The cat ran into the", "The dog ran into the"))
    token, rival = alike.answers()
    gains = np.exp(alike.logs["corrupt"]) - np.exp(alike.logs["clean"])
    if token == int(alike.logs["corrupt"].argmax()):
        assert gains[rival] == np.delete(gains, token).max()
    assert alike.answers(5, 7) == (5, 7)


def test_it_says_how_far_it_is():
    shares: list[float] = []
    patching(model("writer"), CLEAN, CORRUPT, "head", "KL", report=lambda share, words: shares.append(share))
    assert shares == [layer / 6 for layer in range(6)]


def test_what_cannot_be_patched_is_told_why():
    headless = Patches(model("XLNet"), *readings("XLNet"))
    for complaint, ask in {
        "no language-model head": lambda: headless.effects("stream"),
        "attends in its own way": lambda: patches("BLOOM").edits("head"),
        "There is no token 99999": lambda: patches("writer").answers(99_999),
        "There is no token -1": lambda: patches("writer").answers(3, -1),
        "held against itself": lambda: patches("writer").answers(3, 3),
        "There is no position 99": lambda: Patches(model("writer"), *readings("writer"), position=99).logs,
        'no "cross" attention; it has self': lambda: patches("writer", kind="cross").edits("stream"),
    }.items():
        with pytest.raises(ValueError, match=complaint):
            ask()
