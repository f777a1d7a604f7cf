"""Names, places and numbers that a translator has to copy, put in place of the few that its sentence pairs have.

A pair with Tom on both sides gets another name on both sides: a real one of many languages, or an invented one, so that the model
learns to copy names and not to memorize them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TypeVar

import numpy as np

from models.training import corpus

T = TypeVar("T")

HELD_OUT_NAMES = Path(__file__).parent.parent / "weights" / "translator" / "names.txt"
FRAMES = Path(__file__).parent / "frames.tsv"
PLACES = Path(__file__).parent / "places.txt"  # cities that are spelled alike in English and in French, and have no article
Pair = tuple[str, str]

PEOPLE = {"Tom": "male", "John": "male", "Mary": "female", "Alice": "female", "Helen": "female"}  # the first names in the pairs
FAMILIES = ("Jackson", "Smith", "Brown")
CITIES = ("Boston", "Tokyo", "Kyoto", "Osaka", "Paris", "Rome", "Berlin", "Chicago", "Yokohama", "Kobe", "Madrid", "Milan")
TITLES = {
    "male": (("Mr. ", "M. "), ("Mr ", "M. ")),
    "female": (("Mrs. ", "Mme "), ("Mrs ", "Mme "), ("Ms ", "Mme "), ("Miss ", "Mlle ")),
}

BEGINNINGS = [
    *"bcdfghjklmnprstvz",
    "br",
    "ch",
    "dr",
    "fl",
    "gr",
    "kh",
    "kr",
    "ll",
    "nd",
    "ph",
    "qu",
    "sh",
    "sl",
    "st",
    "th",
    "tr",
    "w",
    "y",
]
MIDDLES = [*"aeiouaeioua", "ai", "au", "ee", "ei", "ia", "ie", "oo", "ou", "y", "é", "ö"]
ENDS = [*[""] * 12, *"lmnrstkdx", "ck", "ff", "ll", "ng", "rd", "ss", "tz"]

PRONOUNS = {"He": ("Il", "male"), "She": ("Elle", "female")}
# "Il" that stands for no person, or whose verb has another form after a name.
BEFORE_VERB = r"(?:n['’]|ne |y |en |lui |leur |me |te |nous |vous |m['’]|t['’])*"
NOBODY = re.compile(rf"(?:Il|Elle) (?:{BEFORE_VERB}(?:faut|fallait|faudra|fallut|se peut|a fallu)|(?:n['’])?y a)\b")


class Names:
    """Names to draw from. The lists of real ones are Faker's (MIT licence), read while training and nowhere else."""

    INVENTED = 0.4  # the share that is made of syllables

    def __init__(self, left_out: Collection[str] = ()):
        """left_out: names that are never drawn."""
        self.left_out = frozenset(left_out)
        self.real = {kind: sorted(kind_names - self.left_out) for kind, kind_names in real_names().items()}

    def first(self, kind: str, generator: np.random.Generator) -> str:
        """Draw a name of a kind: "male", "female", "family", "place"."""
        if generator.random() >= self.INVENTED:
            return draw(self.real[kind], generator)
        name = invented_name(generator)
        return name if name not in self.left_out else self.first(kind, generator)

    def person(self, kind: str, generator: np.random.Generator) -> Pair:
        """Draw a person's name in both languages: mostly a first name, sometimes with a family name or a title."""
        chance = generator.random()
        if chance < 0.08:
            english, french = draw(TITLES[kind], generator)
            family = self.first("family", generator)
            return english + family, french + family
        name = self.first(kind, generator)
        name = f"{name} {self.first('family', generator)}" if chance < 0.2 else name
        return name, name

    def rename(self, pair: Pair, generator: np.random.Generator) -> Pair:
        """Return the pair with other people, places and numbers; unchanged if nothing in it is the same on both sides."""
        for name, kind in PEOPLE.items():
            pair = replace_name(pair, name, self.person(kind, generator)) if shared(pair, name) else pair
        for name in FAMILIES:
            pair = replace_name(pair, name, (self.first("family", generator),) * 2) if shared(pair, name) else pair
        for name in CITIES:
            pair = replace_name(pair, name, (self.first("place", generator),) * 2) if shared(pair, name) else pair
        others = {digits: other_number(int(digits), generator) for digits in shared_numbers(pair)}
        english, french = (re.sub(NUMBER, lambda digits: others.get(digits[0], digits[0]), side) for side in pair)
        return english, french

    def put_name(self, pair: Pair, generator: np.random.Generator) -> Pair:
        """Return a pair that begins with a pronoun with a name in its place."""
        pronoun = re.findall(r"\w+", pair[0])[0]
        french_pronoun, kind = PRONOUNS[pronoun]
        english, french = self.person(kind, generator)
        return english + pair[0].removeprefix(pronoun), french + pair[1].removeprefix(french_pronoun)

    def variants(self, pairs: list[Pair], times: int, generator: np.random.Generator) -> list[Pair]:
        """Return pairs with other names for one epoch: those that share a name or a number `times` times, a fourth as often those
        that begin with a pronoun, and our own frames ten times as often."""
        known = [*PEOPLE, *FAMILIES, *CITIES]
        about = [pair for pair in pairs if any(shared(pair, name) for name in known) or shared_numbers(pair)]
        frames = corpus.pairs(FRAMES)
        others = [self.rename(pair, generator) for pair in (about + 10 * frames) * times]
        begin = [pair for pair in pairs if can_be_named(pair)]
        chosen = generator.random(len(begin)) < times / 4
        return others + [self.put_name(pair, generator) for pair, named in zip(begin, chosen, strict=True) if named]


NUMBER = r"(?<![\d.,:$€£-])(?:[2-9]|[1-9]\d+)(?![\d.,:]*\d|[a-z])"


def real_names() -> dict[str, set[str]]:
    """Read real names in Latin letters: "male", "female", "family", "place". Errors: ModuleNotFoundError that says what to
    install."""
    try:
        from faker.providers import person
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("Names come from Faker while training: pip install -r requirements-dev.txt") from error
    names_by_kind: dict[str, set[str]] = {"place": set(PLACES.read_text(encoding="utf-8").split())}
    lists = {"male": "first_names_male", "female": "first_names_female", "family": "last_names"}
    for module in iter_modules(person.__path__):
        provider = import_module(f"{person.__name__}.{module.name}").Provider
        for kind, attribute in lists.items():
            names = getattr(provider, attribute, ())
            names = () if isinstance(names, property) else names
            names_by_kind.setdefault(kind, set()).update(name for name in names if is_name(name))
    return names_by_kind


def is_name(text: str) -> bool:
    """Return whether a text is a word of 2 to 14 Latin letters with only the first capital, or two such words with a hyphen or
    an apostrophe between."""
    parts = re.split(r"['-]", text)
    latin = all(letter.isalpha() and unicodedata.name(letter, "").startswith("LATIN") for letter in "".join(parts))
    capital = all(part[:1].isupper() and part[1:] == part[1:].lower() for part in parts)
    return 2 <= len(text) <= 14 and latin and capital and len(parts) <= 2 and len(parts[-1]) > 1


def invented_name(generator: np.random.Generator) -> str:
    """Invent a name of one to four syllables, 3 to 14 letters."""
    name = "" if generator.random() < 0.8 else draw(MIDDLES, generator)
    for _ in range(draw([1, 2, 2, 2, 3, 3, 4], generator)):
        name += "".join(draw(letters, generator) for letters in (BEGINNINGS, MIDDLES, ENDS))
    return name.capitalize() if 3 <= len(name) <= 14 else invented_name(generator)


def draw(things: Sequence[T], generator: np.random.Generator) -> T:
    return things[int(generator.integers(len(things)))]


def other_number(number: int, generator: np.random.Generator) -> str:
    """Draw another number that can stand in its place: an hour, a day of a month, or one with as many digits."""
    low, high = next(
        (span for span in ((2, 12), (13, 31)) if number <= span[1]), (10 ** (len(str(number)) - 1), 10 ** len(str(number)) - 1)
    )
    return str(generator.integers(low, high + 1))


def shared_numbers(pair: Pair) -> list[str]:
    """Return the numbers, in digits, that are in both sides; not 1, after which words have another form."""
    return sorted(set(re.findall(NUMBER, pair[0])) & set(re.findall(NUMBER, pair[1])))


def shared(pair: Pair, name: str) -> bool:
    """Return whether both sides contain a name, as a separate word."""
    return name in pair[0] and name in pair[1] and all(re.search(rf"(?<!\w){name}(?!\w)", side) for side in pair)


def can_be_named(pair: Pair) -> bool:
    """Return whether a sentence begins with he or she in both languages, and a name could stand there."""
    return any(
        re.match(rf"{pronoun}(?: |'s |'d |'ll )", pair[0]) and re.match(rf"{french} ", pair[1]) and not NOBODY.match(pair[1])
        for pronoun, (french, _) in PRONOUNS.items()
    )


def replace_name(pair: Pair, name: str, by: Pair) -> Pair:
    """Return the pair with another name, elided as in French; unchanged if more than the name would have to change."""
    (english, french), vowel = pair, begins_with_vowel(by[1])
    if re.search(rf"\b[aA]n? {name}\b", english) or re.search(rf"(?:\b[jlmnstcJLMNSTC]['’])\b{name}\b", french):
        return pair
    if re.search(rf"\b(?:[lL][ea]|[cC]e|[mts]on|[mts]a|beau|nouveau|vieux) {name}\b", french):
        return pair
    elided = rf"(?<!\w)((?:[dD]|(?:[lL]ors|[pP]uis|[qQ]uoi)?[qQ]u)(?:e |['’]))?{name}(?!\w)"

    def put(match: re.Match) -> str:
        return by[1] if match[1] is None else match[1].rstrip("e '’") + ("'" if vowel else "e ") + by[1]

    return re.sub(rf"(?<!\w){name}(?!\w)", by[0], english), re.sub(elided, put, french)


def begins_with_vowel(name: str) -> bool:
    """Return whether French elides before a name. An h counts as sounded, as it mostly is in foreign names."""
    plain = unicodedata.normalize("NFD", name.lower())
    return plain[0] in "aeiouæœ" or (plain[0] == "y" and plain[1] not in "aeiou")
