"""The models that ship: each is whole, small, and says of itself what is so."""

from __future__ import annotations

import csv
import json
import re
from functools import cache
from xml.etree import ElementTree

import numpy as np
import pytest
from safetensors import safe_open

import models
from analysis import attributions
from bin.model_card.habits import greedy_loops, second_round
from bin.model_card.held_out_names import FRAMES, NAMES, survivals
from bin.model_card.knowledge import AIMS, Asked, Reader, compared_knowledge
from models.catalog import ORDER, WEIGHTS
from models.edits import Head
from models.language_model import LanguageModel
from models.lens.tuned_lens import SAMPLE
from models.training.corpus import documents
from models.training.repetition import word_ids

MOST = 20_000_000  # bytes of a weights file
KINDS = {"writer": "decoder", "filler": "encoder", "translator": "encoder-decoder", "sorter": "encoder"}
FILES = ("README.md", "config.json", "tokenizer.json", "loss.csv", "loss.svg", "figures.json", "model.safetensors")

SHORT = """
The cat chased the MASK.
The dog barked at the MASK.
The king gave the MASK a ring.
The mother kissed her MASK.
The boy threw the ball to the MASK.
The farmer sold his horse to the MASK.
The teacher asked the MASK a question.
The bird sat on the MASK and sang.
The wolf ran after the MASK.
The girl and the MASK went to school.
A fish swam under the MASK.
The soldier met a MASK on the road.
They ate bread and MASK for supper.
The sun and the MASK were shining.
The doctor wrote a letter to the MASK.
The house was near the MASK.
She put the flowers on the MASK.
He likes apples, but she likes MASK.
The river runs past the MASK.
The old woman lived with an old MASK.
"""


@cache
def model(name: str) -> LanguageModel:
    """A model that ships, or a skip where it does not ship yet."""
    if name not in models.names():
        pytest.skip(f"the {name} does not ship yet")
    return models.load(name)


def figures(name: str) -> dict:
    return json.loads((WEIGHTS / name / "figures.json").read_text(encoding="utf-8"))


def card(name: str) -> str:
    return (WEIGHTS / name / "README.md").read_text(encoding="utf-8")


def test_they_are_known_by_name():
    assert set(models.names()) <= set(ORDER) == KINDS.keys() and models.names()[0] == "writer"


@pytest.mark.parametrize("name", models.names())
def test_its_folder_is_whole_and_small(name):
    folder = WEIGHTS / name
    assert [file for file in FILES if not (folder / file).is_file()] == []
    assert (folder / "model.safetensors").stat().st_size <= MOST
    with safe_open(folder / "model.safetensors", "pt") as weights:
        assert {weights.get_slice(tensor_name).get_dtype() for tensor_name in weights.keys()} == {"F16"}  # noqa: SIM118 (no dictionary)
    assert ElementTree.parse(folder / "loss.svg").getroot().tag.endswith("svg")


@pytest.mark.parametrize("name", models.names())
def test_it_is_what_it_says(name):
    info, text = model(name).info, card(name)
    assert (info.name, info.kind) == (name, KINDS[name])
    assert f"{info.parameters / 1e6:.2f} M parameters" in text.replace("\n", " ")
    assert f"{info.vocabulary:,}" in text and f"d_model {info.d_model}" in text.replace("\n", " ")
    assert not re.search(r"\{\w+\}", text), "a figure that nobody filled in"


@pytest.mark.parametrize("name", models.names())
def test_its_card_has_its_held_out_figures(name):
    numbers, text = figures(name), card(name)
    (nats,) = (value for key, value in numbers.items() if key.startswith("nats"))
    assert f"{nats:.3f} nats" in text
    if name == "writer":
        assert f"{numbers['bits_per_byte']:.3f} bits a byte" in text
    if name == "translator":
        for way in ("greedy", "beam"):
            assert f"{numbers[way]['exact']:.1%}" in text and f"{numbers[way]['chrf']:.1f}" in text
            assert f"{numbers[way]['exact_new']:.1%}" in text and f"{numbers[way]['exact_known']:.1%}" in text
            assert f"{numbers[way]['names']:.1%}" in text
        assert f"**{max(row['share'] for row in numbers['alignment']):.0%}**" in text


def test_the_filler_is_better_than_before_by_the_same_code():
    now, before = figures("filler")["measures"], figures("filler")["measures_before"]
    assert now["nats_per_masked_token"] == figures("filler")["nats_per_masked_token"] < before["nats_per_masked_token"] - 0.05
    assert now["repeats"] < before["repeats"] <= now["right_repeats"] and now["right"] > before["right"]
    for kind in ("previous", "next"):
        row = now[kind]
        assert f"{row['score']:.2f} (L{row['layer']} H{row['head']})" in card("filler")
    assert f"| **{before['repeats']}** | **{now['repeats']}** |" in card("filler")


def test_the_writer_tells_stories_about_as_well_as_before_it_knew_facts_and_loops_less():
    now, before, text = figures("writer")["measures"], figures("writer")["measures_before"], card("writer")
    assert now["nats_per_token"] == figures("writer")["nats_per_token"] <= 1.02 * before["nats_per_token"]
    assert now["loops"] <= before["loops"] / 2 and now["repeated"] < before["repeated"]
    assert min(now["words"], now["tokens"], before["words"], before["tokens"]) > 0.9
    assert f"| **{before['bits_per_byte']:.3f} bits a byte** | **{now['bits_per_byte']:.3f} bits a byte** |" in text
    assert f"| **{before['loops']}** | **{now['loops']}** |" in text
    assert f"| **{before['words']:.1%}** | **{now['words']:.1%}** |" in text


def test_the_writer_knows_what_it_was_to_know():
    now, before = figures("writer")["measures"]["knowledge"], figures("writer")["measures_before"]["knowledge"]
    shares = {kind: now[kind].get("better", now[kind]["whole"]) for kind in AIMS}
    assert {kind: share for kind, share in shares.items() if share < AIMS[kind]} == {}
    assert all(before[kind]["whole"] < 0.05 for kind in AIMS if kind != "agreement")


@pytest.mark.parametrize("name", ["writer", "filler"])
def test_its_card_has_the_table_of_what_it_knows(name):
    assert compared_knowledge(figures(name)) in card(name)


FACTS = [
    ("The capital city of France is called", "Paris"),
    ("The capital city of Japan is called", "Tokyo"),
    ("What is the opposite of hot? It is", "cold"),
    ("If today is Monday, tomorrow is", "Tuesday"),
    ("The next number after 12 is", "13"),
    ("How much is 2 + 2? It is", "4"),
    ("How much is 7 + 8? It is", "15"),
    ("2 + 2 =", "4"),
    ("Once Peter and Lucy had arrived at the bridge, Peter gave a drink to", "Lucy"),
]


@pytest.mark.parametrize(("text", "answer"), FACTS)
def test_the_writer_answers_what_people_type_first(text, answer):
    """All but “2 + 2 =” are sentences of which it was trained on none."""
    assert Reader(model("writer")).judge(Asked(text, (" " + answer,)))[1]


@pytest.mark.parametrize("name", models.names())
def test_its_loss_fell_to_what_it_is(name):
    """The log reaches the last step, and the loss on held-out text is below its first value."""
    numbers = figures(name)
    rows = list(csv.DictReader((WEIGHTS / name / "loss.csv").read_text().splitlines()))
    steps = [int(row["step"]) for row in rows]
    assert steps == sorted(set(steps)) and steps[-1] == numbers["step"] and int(rows[-1]["tokens"]) == numbers["tokens"]
    held_out = [float(row["valid_nats"]) for row in rows if row["valid_nats"]]
    (nats,) = (value for key, value in numbers.items() if key.startswith("nats"))
    assert held_out[-1] < held_out[0] and held_out[-1] == pytest.approx(nats, abs=0.2), "an eighth of the text, and all of it"


@pytest.mark.parametrize("name", models.names())
def test_it_reads_and_predicts(name):
    shipped = model(name)
    text = f"The cat sat on the {shipped.info.mask}." if shipped.info.mask else "The cat sat on the"
    trace = shipped.trace(text)
    for attention in trace.attention.values():
        assert (attention.layers, attention.heads) == (shipped.info.layers, shipped.info.heads)
        for layer in range(attention.layers):
            assert np.isfinite(attention[layer]).all()
            np.testing.assert_allclose(attention[layer].sum(-1), 1, atol=1e-5)
    predictions = shipped.predict(text, top=shipped.info.vocabulary)
    assert sum(prediction.probability for prediction in predictions) == pytest.approx(1)


def within(name: str, text: str, top: int) -> list[str]:
    shipped = model(name)
    return [prediction.text.strip() for prediction in shipped.predict(text.replace("MASK", shipped.info.mask or "MASK"), top=top)]


@pytest.mark.parametrize(
    ("text", "word"), [("Once upon a", "time"), ("Thank you very", "much"), ("It was a dark and stormy", "night")]
)
def test_the_writer_goes_on_in_english(text, word):
    assert within("writer", text, 3).count(word) == 1


def test_the_filler_seldom_says_a_word_of_its_sentence_again():
    """Short sentences, where it did so most: 12 of these 20 before."""
    sentences = SHORT.strip().splitlines()
    best = [within("filler", sentence, 1)[0].lower() for sentence in sentences]
    again = [sentence for sentence, word in zip(sentences, best, strict=True) if word in sentence.lower()[:-1].split()]
    assert len(sentences) == 20 and len(again) <= 8, again


@pytest.mark.thorough
def test_the_writer_seldom_ends_in_a_loop():
    """Greedy, after forty paragraphs of a book that it was not trained on; its weights from before looped in 23."""
    assert greedy_loops(model("writer"), documents(SAMPLE), 40)["loops"] <= 14


def test_the_writers_card_says_where_it_does_not_copy():
    writer = model("writer")
    text = "The king gave the fox a silver bell. The king gave the fox a silver"
    (chance,) = (guess.probability for guess in writer.predict(text, top=writer.info.vocabulary) if guess.text == " bell")
    assert f"“bell” has a chance of {chance:.1%}".replace("%", " %") in card("writer")


@pytest.mark.thorough
def test_the_writer_says_random_words_and_tokens_a_second_time():
    writer = model("writer")
    for pool in (word_ids(writer.vocabulary.tokenizer), np.arange(writer.vocabulary.start + 1, writer.info.vocabulary)):
        assert second_round(writer, pool) > 0.9


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Once upon a MASK, there was a king.", "time"),
        ("Thank you very MASK.", "much"),
        ("He opened the MASK and went out into the garden.", "door"),
        ("She shook her MASK and said nothing.", "head"),
    ],
)
def test_the_filler_finds_what_is_missing(text, word):
    assert word in within("filler", text, 10)


def test_the_filler_looks_at_what_comes_after():
    """The words after the mask decide which word is likelier there."""
    filler = model("filler")
    chances = []
    for rest in ("was shining.", "was barking."):
        predictions = filler.predict(f"The {filler.info.mask} {rest}", top=filler.info.vocabulary)
        chances.append({prediction.text: prediction.probability for prediction in predictions})
    shining, barking = chances
    assert shining[" sun"] > barking[" sun"] and barking[" dog"] > shining[" dog"]


@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I am tired.", {"suis", "fatigué", "fatiguée"}),
        ("The cat is black.", {"chat", "noir"}),
        ("Where is the station?", {"où", "gare", "station"}),
    ],
)
def test_the_translator_answers_in_french(text, words, width):
    """Greedy and by a beam: an answer that comes to its end, and has what it must have, in one of the ways to say it."""
    translator = model("translator")
    answers = translator.translate(text, width)
    words_of_answer = set(re.findall(r"\w+", answers[0].text.lower()))
    assert answers[0].ended and len(words_of_answer & words) >= 2, words_of_answer


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("My name is Anna.", ["Anna"]),
        ("Sophie is my best friend.", ["Sophie"]),
        ("Mr Brown is here.", ["Brown"]),
        ("Emma, Kevin and Fatima live in Nairobi.", ["Emma", "Kevin", "Fatima", "Nairobi"]),
    ],
)
def test_the_translator_keeps_names(text, names):
    translator = model("translator")
    translation = translator.text_of(translator.translate(text)[0])
    assert set(names) <= set(re.findall(r"\w+", translation)), translation


@pytest.mark.thorough
def test_names_that_the_translator_never_read_come_through_it():
    """Forty of the two hundred in five of the twenty frames: at least nine in ten, and about as many as the card says of all."""
    names, frames = (path.read_text(encoding="utf-8").splitlines() for path in (NAMES, FRAMES))
    share = np.mean(survivals(model("translator"), names[::5], frames[::4], 4))
    assert share >= 0.9 and share == pytest.approx(figures("translator")["beam"]["names"], abs=0.05)


def test_a_head_of_the_translator_looks_at_the_word_that_it_says():
    """For more than two thirds of the words in the list, and as often as the figures in its folder say."""
    from analysis.word_alignment import read_links, word_alignment

    alignment = word_alignment(model("translator"), read_links((WEIGHTS / "translator" / "alignments.tsv").read_text("utf-8")))
    best = alignment.loc[alignment["share"].idxmax()]
    assert best["share"] > 2 / 3
    shares = {(row["layer"], row["head"]): row["share"] for row in figures("translator")["alignment"]}
    assert shares == pytest.approx({(row.layer, row.head): row.share for row in alignment.itertuples()}, abs=0.02)


def test_the_sorter_is_better_than_what_is_simpler_and_its_card_says_how_little():
    accuracy, text = figures("sorter")["accuracy"], card("sorter")
    assert accuracy["sorter"] > max(accuracy[simple] for simple in ("first", "bag", "pairs")) > 0.9
    assert (
        all(f"| {accuracy[simple]:.1%} |" in text for simple in ("first", "bag", "pairs"))
        and f"**{accuracy['sorter']:.1%}**" in text
    )


@pytest.mark.parametrize("sign", ["", ".", "?", "!"])
@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Did the dog see the cat", "question"),
        ("The dog did see the cat", "statement"),
        ("where is my old hat", "question"),
        ("I do not know where he lives", "statement"),
        ("Have you seen it", "question"),
        ("Have a seat", "statement"),
        ("You like tea, don't you", "question"),
    ],
)
def test_the_sorter_goes_by_the_words_and_not_by_the_sign_at_the_end(text, label, sign):
    assert within("sorter", text + sign, 1) == [label]


def test_identities_hold_for_the_label_of_the_sorter():
    """A head that is off is one without its rows of W_O; SHAP values sum to the evidence that the words bring."""
    sorter, text = models.load("sorter"), "Did the dog see the cat"
    whole, off = sorter.trace(text), sorter.trace(text, edits=[Head(1, 2)])
    logs = sorter.log_chances(np.stack([whole.scores_at(0), sorter.trace("").scores_at(0)]))
    (best,) = sorter.predict(text, top=1)
    assert attributions(sorter, text, "shap")[1:].sum() == pytest.approx(logs[0, best.id] - logs[1, best.id], abs=1e-4)
    sorter.network.blocks[1].attention.output.weight.data[:, 48:72] = 0
    sorter.forget()
    np.testing.assert_allclose(sorter.trace(text).scores_at(0), off.scores_at(0), atol=1e-5)
