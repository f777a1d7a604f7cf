"""Facts as training text: forms are good English, answers are right and marked, and what is held out is never trained on."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from models.scratch.config import TransformerConfig
from models.scratch.transformer import build
from models.training.behaviours import BEHAVIOURS, VERBS, other_form
from models.training.corpus import train_tokenizer, with_mask
from models.training.facts import NUMBERS, SIGNS, FactRows, Facts, answered, own_forms, question
from models.training.objectives import MaskedTokens, NextToken
from models.training.recipe import Recipe, Schedule
from models.training.sentences import GAP, Sentence, fill, with_article, word_lists

FACTS = """relation	subject	object
capital	France	Paris
capital	The Netherlands	Amsterdam
capital	United States	Washington
continent	France	Europe
language	France	French
language	Serbia	sr_Latn
currency	France	euro
city	Lyon	France
opposite	hot	cold
opposite	 old	young
opposite	old	new
young	owl	owlet
sound	dog	barks
home	nun	convent
home	fish	water
home	dog	kennel
colour	grass	green
colour	sky	blue
kind	oak	tree
kind	gold	metal
kind	ant	insect
work	actor	theatre
plural	ox	oxen
past	eat	ate
day after	Monday	Tuesday
month after	May	June
season after	spring	summer
letter after	A	B
number after	7	8
number after	seven	eight
ordinal after	first	second
digits	two	2
sum	2 + 2	4
sum	12 + 7	19
difference	9 - 3	6
product	7 × 8	56
"""
SENTENCES = """relation	split	sentence
capital	train	The capital of {s} is {o}.
capital	held out	So far as we know, {s} is ruled from {o}.
kind	train	A {s} is a kind of {o}.
kind	held out	They say a {s} is a {o}.
sum	train	{s} = {o}
sum	held out	Add it up: {s} comes to {o}.
"""
EXAMPLES = (  # form, subject, object, sentence
    ("The capital of {s} is {o}.", "Netherlands", "Amsterdam", "The capital of the Netherlands is Amsterdam."),
    ("{s} has its capital in {o}.", "United States", "Washington", "The United States has its capital in Washington."),
    ("{o} is the capital of {s}.", "France", "Paris", "Paris is the capital of France."),
    ('"Where is {s}?" asked the teacher. "In {o}," said the boy.', "Mali", "Africa", None),
    ("What is the opposite of {s}? {o}.", "hot", "cold", "What is the opposite of hot? Cold."),
    ('"And {s}?" he asked. "{o}," she said.', "hot", "cold", '"And hot?" he asked. "Cold," she said.'),
    ("{a s} is {a o}.", "oak", "tree", "An oak is a tree."),
    ("{a s} is {a o}.", "ant", "insect", "An ant is an insect."),
    ("{a s} is {a o}.", "gold", "metal", "Gold is a metal."),
    ("{a s} is {a o}.", "chair", "piece of furniture", "A chair is a piece of furniture."),
    ("{a s} is {o}.", "sky", "blue", "The sky is blue."),
    ("{a s} is {o}.", "grass", "green", "Grass is green."),
    ("What is the money of {s} called? It is called the {o}.", "Bahamas", "dollar", None),
    ("How much is {s}? The answer is {o}.", "2 + 2", "4", "How much is 2 + 2? The answer is 4."),
    ("Q: {s} = ? A: {o}.", "two plus two", "four", "Q: two plus two = ? A: four."),
    ("{s} is followed by {o}.", "seven", "eight", "Seven is followed by eight."),
)
WRONG = re.compile(r"[{}]|  |\b[Aa] [aeiou]|\b[Aa]n [^aeiou]|\b(\w+) \1\b|(?<!=) [.,?!]")


@pytest.fixture
def data(tmp_path):
    (tmp_path / "facts.tsv").write_text(FACTS, encoding="utf-8")
    (tmp_path / "fact_sentences.tsv").write_text(SENTENCES, encoding="utf-8")
    for name in ("english_train.txt", "english_valid.txt"):
        (tmp_path / name).write_text("The cat sat on the mat.\n\nThe dog sat on the cat.\n" * 20)
    return tmp_path


@pytest.fixture
def tokenizer():
    return train_tokenizer([FACTS, *itertools.chain(*own_forms().values())], 500)


@pytest.mark.parametrize(("form", "subject", "object", "sentence"), [example for example in EXAMPLES if example[3]])
def test_a_form_becomes_good_english(form, subject, object, sentence):
    filled = fill(form, {"s": subject, "o": object})
    answer = object if GAP.findall(form)[-1].endswith("o}") else subject
    assert filled.text == sentence
    assert filled.answer.lower() == answer.lower() and filled.text.startswith(filled.question)


def test_the_article_fits_the_sound_and_some_nouns_have_none():
    assert [with_article(noun) for noun in ("owl", "university", "euro", "dog", "milk", "sun", "uncle")] == [
        "an owl",
        "a university",
        "a euro",
        "a dog",
        "milk",
        "the sun",
        "an uncle",
    ]


def test_each_relation_has_fifteen_forms_or_more_and_questions_among_them():
    for relation, forms in own_forms().items():
        assert len(forms) == len(set(forms)) >= 15, relation
        assert sum("?" in form for form in forms) >= 2, relation
        assert all({"s", "o"} == {gap[1:-1].split()[-1] for gap in GAP.findall(form)} for form in forms), relation


def test_a_form_asks_for_the_subject_only_where_the_object_has_one():
    """A capital has one country; a calf may be a young cow, elephant or whale."""
    backward = {
        relation for relation, forms in own_forms().items() if any(GAP.findall(form)[-1].endswith("s}") for form in forms)
    }
    assert backward == {"capital", "work"}


def test_every_form_is_a_whole_sentence_with_each_fact(data):
    facts = Facts(data)
    for relation, forms in facts.forms.items():
        for form, (subject, objects) in itertools.product(forms, facts.objects[relation].items()):
            text = fill(form, {"s": subject, "o": objects[0]}).text
            assert text[0].isupper() or text[0].isdigit() or text[0] == '"', text
            assert text.endswith((".", '"')) or relation in ("sum", "difference", "product"), text
            assert text.count('"') % 2 == 0 and (relation == "letter after" or not WRONG.search(text)), text


def test_people_are_no_it(data):
    facts, generator = Facts(data), np.random.default_rng(0)
    texts = [facts.sentence(generator, "home").text for _ in range(400)]
    assert any("nun" in text for text in texts) and not any("nun" in text and re.search(r"\b[Ii]ts?\b", text) for text in texts)


def test_sums_are_right_however_they_are_written(data):
    facts, generator, styles = Facts(data), np.random.default_rng(0), set()
    signs = {"+": int.__add__, "-": int.__sub__, "×": int.__mul__}
    signs |= {word: signs[sign.strip()] for sign, word in SIGNS.items()}
    number = rf"\d+|{'|'.join(NUMBERS)}"
    for relation in ("sum", "difference", "product") * 200:
        sentence = facts.sentence(generator, relation)
        left, sign, right = re.search(
            rf"({number})\s*({'|'.join(map(re.escape, signs))})\s*({number})", sentence.text, re.I
        ).groups()
        values = [NUMBERS.index(word.lower()) if word.isalpha() else int(word) for word in (left, right, sentence.answer)]
        assert signs[sign](values[0], values[1]) == values[2], sentence.text
        styles.add((sign in "+-×", left.isdigit(), sentence.answer.isdigit(), f" {sign} " in sentence.text))
    assert len(styles) == 4


def test_opposites_go_both_ways_and_codes_are_left_out(data):
    facts = Facts(data)
    assert facts.objects["opposite"] == {
        "hot": ["cold"],
        "old": ["young", "new"],
        "cold": ["hot"],
        "young": ["old"],
        "new": ["old"],
    }
    assert facts.asked["opposite"] == ["hot", "old"] and facts.asked["language"] == ["France"]
    assert facts.asked["capital"] == ["France", "Netherlands", "United States"]


def test_no_held_out_sentence_is_in_a_training_text(data):
    facts, generator = Facts(data), np.random.default_rng(0)
    questions = {sentence.question for relation in facts.asked for sentence, _ in facts.questions(relation)}
    assert len(questions) == 3 + 3 + 2
    texts = [facts.text(generator).text for _ in range(4000)]
    assert not [text for text in texts if any(held_out in text for held_out in questions)]


def test_a_form_that_asks_as_a_held_out_one_is_refused(data):
    (data / "fact_sentences.tsv").write_text(
        SENTENCES + "opposite\theld out\tWell, what is the opposite of {s}? The answer is {o}!\n"
    )
    assert Facts(data)  # ours has less before it, so it asks otherwise
    (data / "fact_sentences.tsv").write_text(SENTENCES + "opposite\theld out\tOpposite of {s}? The answer is {o}!\n")
    with pytest.raises(ValueError, match="asks as a held-out sentence does"):
        Facts(data)


def test_a_line_with_too_few_cells_is_named(data):
    (data / "facts.tsv").write_text(FACTS + "capital\tItaly\n")
    with pytest.raises(ValueError, match=r"facts\.tsv has 2 cells"):
        Facts(data)


def test_what_is_held_out_of_behaviours_is_in_no_list_to_train_on():
    for group, lists in word_lists().items():
        for name in [name for name in lists if name.startswith("held_out_")] if isinstance(lists, dict) else ():
            assert lists[name] and not set(lists[name]) & set(lists[name.removeprefix("held_out_")]), (group, name)
    for group in ("giving", "pronouns", "agreement"):
        lists = word_lists()[group]
        held_out, trained = ({question(form) for form in lists[name]} for name in ("held_out_forms", "forms"))
        assert not [form for form in trained if any(form.endswith(asked) for asked in held_out - trained)]


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_a_behaviour_to_train_on_is_never_a_held_out_one(name):
    generator = np.random.default_rng(0)
    trained = {BEHAVIOURS[name](generator, False).text for _ in range(1500)}
    assert not trained & {BEHAVIOURS[name](generator, True).text for _ in range(1500)}


@pytest.mark.parametrize("held_out", [False, True])
def test_something_is_given_to_the_one_who_does_not_give(held_out):
    generator, first, answers = np.random.default_rng(0), set(), set()
    names = {name for kind, names in word_lists()["names"].items() for name in names if kind.startswith("held_out")}
    for _ in range(300):
        sentence = BEHAVIOURS["giving"](generator, held_out)
        words = re.findall(r"\b[A-ZÉÖ]\w+", sentence.question)
        (giver,) = {word for word in words if words.count(word) == 2}
        assert words.count(sentence.answer) == 1 and giver != sentence.answer, sentence.text
        first.add(words.index(sentence.answer) < words.index(giver))
        answers.add(sentence.answer)
    assert first == {False, True}, "the answer must not be known by its place"
    assert answers == names if held_out else not answers & names


@pytest.mark.parametrize("held_out", [False, True])
def test_a_verb_agrees_with_its_subject(held_out):
    generator, lists = np.random.default_rng(0), word_lists()["agreement"]
    subjects = dict(pair.split() for pair in lists["held_out_subjects" if held_out else "subjects"])
    numbers = set()
    for _ in range(300):
        sentence = BEHAVIOURS["agreement"](generator, held_out)
        noun = next(word for word in sentence.text.split() if word in {*subjects, *subjects.values()})
        plural = noun not in subjects
        assert sentence.answer in [forms[plural] for forms in VERBS.values()], sentence.text
        assert other_form(sentence) in [forms[not plural] for forms in VERBS.values()]
        numbers.add(plural)
    assert numbers == {False, True}


@pytest.mark.parametrize("held_out", [False, True])
def test_a_pronoun_has_the_gender_of_its_person(held_out):
    generator, lists = np.random.default_rng(0), word_lists()
    prefix = "held_out_" if held_out else ""
    women = {who.lower() for group in ("names", "pronouns") for who in lists[group][f"{prefix}female"]}
    answers = set()
    for _ in range(400):
        sentence = BEHAVIOURS["pronouns"](generator, held_out)
        female = any(re.search(rf"\b{re.escape(who)}\b", sentence.text.lower()) for who in women)
        assert (sentence.answer in ("she", "her")) == female, sentence.text
        assert (other_form(sentence) in ("she", "her")) != female
        answers.add(sentence.answer)
    assert answers >= {"he", "she"}


def test_a_series_goes_on_as_it_began():
    generator = np.random.default_rng(0)
    for _ in range(300):
        sentence = BEHAVIOURS["series"](generator, False)
        answers = [sentence.text[a:b] for a, b in sentence.answers]
        if all(answer.isdigit() for answer in answers):
            members = [int(number) for number in re.findall(r"\d+", sentence.text)]
            assert len(set(np.diff(members))) == 1 and len(answers) == len(members) - 2
        else:
            members = " ".join(re.findall(r"\b(?!and\b|then\b)\w+", sentence.text))
            assert any(members in row for row in word_lists()["series"]["rows"]) and members.endswith(" ".join(answers))


def test_rows_hold_whole_texts_and_mark_their_answers(data, tokenizer):
    rows = FactRows(data, tokenizer)
    ids, marks = rows.draw(np.random.default_rng(0), 30, 64)
    assert ids.shape == marks.shape == (30, 65) and (ids[:, 0] == rows.start).all() and not marks[ids == rows.start].any()
    again = rows.draw(np.random.default_rng(0), 30, 64)
    np.testing.assert_array_equal(ids, again[0])
    generator, texts = np.random.default_rng(0), []
    expected = [rows.facts.text(generator) for _ in range(256)]
    for row, marked in zip(ids, marks, strict=True):
        starts = [*np.flatnonzero(row == rows.start), len(row)]
        for begin, end in itertools.pairwise(starts):
            if end > begin + 1:
                text = tokenizer.decode(row[begin + 1 : end].tolist())
                answers = tokenizer.decode(row[begin + 1 : end][marked[begin + 1 : end]].tolist())
                texts.append((text, answers.split()))
    known = {sentence.text: sentence for sentence in expected}
    assert texts and all(text in known for text, _ in texts), "texts are whole"
    for text, answers in texts:
        wanted = " ".join(text[a:b] for a, b in known[text].answers)
        assert "".join(answers).strip('",.') == wanted.replace(" ", ""), text


def test_the_space_before_an_answer_is_marked_where_it_is_a_token_of_its_own():
    text = Sentence("It is 7, (8", ((6, 7), (10, 11)))
    tokens = ["It", " is", " ", "7", ",", " (", "8"]
    ends = list(itertools.accumulate(map(len, tokens)))
    marked = answered(list(zip([0, *ends], ends, strict=False)), text)
    assert [token for token, is_marked in zip(tokens, marked, strict=True) if is_marked] == [" ", "7", "8"]


def test_the_sign_behind_an_answer_can_be_marked_too(data, tokenizer):
    rows = FactRows(data, tokenizer)
    (ids, marks), (same, more) = (rows.draw(np.random.default_rng(0), 40, 64, more) for more in (0, 1))
    np.testing.assert_array_equal(ids, same)
    added = {tokenizer.decode([id])[:1] for id in ids[more & ~marks]}
    assert (marks <= more).all() and {".", ",", " "} <= added and not any(sign.isalnum() for sign in added)


SIZES = {"vocabulary": 500, "context": 48, "d_model": 16, "layers": 1, "heads": 2, "d_ff": 16}
RECIPE = Recipe(steps=12, batch=4, warmup=2, facts=3, fact_length=40, fact_share=0.25, cuts=(1,))


def test_the_loss_is_shared_by_text_and_facts(data, tokenizer):
    writing = NextToken(data, tokenizer, TransformerConfig(**SIZES), RECIPE)
    torch.manual_seed(0)
    model = build(writing.config)
    batch = writing.prepare(model, 0, next(writing.batches(0, Schedule.of(RECIPE))))
    assert [tuple(tensor.shape) for tensor in batch] == [(4, 49)] * 3 + [(3, 41)] * 2
    text = writing.loss(model, batch[:3]).item()
    logs = model(batch[3][:, :-1]).log_softmax(-1).gather(-1, batch[3][:, 1:, None])[..., 0]
    answers = -logs[batch[4][:, 1:]].mean().item()
    assert writing.loss(model, batch).item() == pytest.approx(0.75 * text + 0.25 * answers, rel=1e-4)
    assert writing.tokens(batch) == batch[0].numel() + int((batch[3] != writing.start).sum())
    writing.recipe = replace(RECIPE, facts=0)
    assert len(next(writing.batches(0, Schedule.of(RECIPE)))) == 2


def test_a_masked_model_finds_the_answers_first(data, tokenizer):
    config = TransformerConfig(**SIZES | {"kind": "encoder", "vocabulary": 501})
    filling = MaskedTokens(data, with_mask(tokenizer), config, replace(RECIPE, masked=0.3, masks=1.0))
    schedule = Schedule.of(RECIPE)
    hidden, places, tokens, _ = next(filling.batches(5, schedule))
    assert hidden.shape == (4, 48) and len(places) == round(0.3 * hidden.numel())
    generator = np.random.default_rng([RECIPE.seed, 5])
    generator.integers(1)
    ids, marks = filling.fact_rows.draw(generator, 3, 47)
    whole = hidden.flatten().clone()
    whole[places] = tokens
    np.testing.assert_array_equal(whole.reshape(4, 48)[1:], ids)
    assert (hidden[1:][torch.from_numpy(marks)] == filling.mask).all() and marks.any()
    again = next(itertools.islice(filling.batches(0, schedule), 5, None))
    assert torch.equal(again[0], hidden)
