"""Reading a choice out of words: what a careful person would accept, and nothing else."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

from sally.core.errors import Unreadable, listed

_DENIED = re.compile(
    r"\b(?:not|never|neither|nor|none|except|avoid|without|other than|anything but|instead of|"
    r"rather than|against|(?:do|does|did|wo|ca|is|would|should|could)nt|cannot)\b"
)
_REASON = re.compile(
    r"\b(?:because|since|given that|so that|in order to|as (?:the|they|i|it|this|that|we|he|she))\b"
)
_SECOND_THOUGHT = re.compile(
    r"\b(?:or|actually|wait|instead|rather|unless|but|however|maybe|perhaps|no|otherwise|else)\b"
)
_MARKS = str.maketrans("", "", "*_`\"'“”‘’[]<>{}$\\\u200b\u200c\u200d\u2060\ufeff\xad")
_TAGS = re.compile(r"(?i)</?(?:b|i|u|em|strong|code|p|br|span|answer|option|final) ?/?>")
_THINKING = re.compile(r"(?is)<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)")
_LATEX = re.compile(r"\\(?:boxed|text|textbf|mathrm|mathbf) ?\{([^{}]*)\}")
_ENDS = " \t.,;:!?()-–—|#>~=/\u3002"


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


# What may stand before a name that is all a line says: of one's own choice, and of another's.
_MINE = _words(
    "i ill id im we my you your the so then therefore thus hence final finally best is am was will "
    "would should choose chose choosing pick picked select selected play take go with going choice "
    "answer option decision move action for this round in it be let me lets of on to and ok okay "
    "sure well a an"
)
_THEIRS = _words(
    "i we my the so then therefore thus hence final finally is that will would should most likely "
    "probably again think expect predict guess believe assume prediction answer option choice "
    "move action for this round in it be of to and ok okay sure well a an other player players "
    "they their opponent partner pick picks picked choose chooses chose select selects play plays "
    "take takes go goes with"
)
_OWN = re.compile(r"\b(?:i|we|my|you) (?:will |would |should )?(?:pick|choose|select|play|take|go)")
_OTHER_LABELS = ("final answer", "answer", "choice", "decision", "option", "pick", "move", "action")


def plain(text: str) -> str:
    """The text without markup, quotes, thoughts in tags and doubled blanks, in one letter case."""
    return _short(text) if len(text) <= SHORT else _plain(text)


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", _TAGS.sub(" ", _THINKING.sub(" ", text)))
    text = _LATEX.sub(r"\1", _LATEX.sub(r"\1", text))
    return re.sub(r"[ \t]+", " ", text.translate(_MARKS)).strip().casefold()


SHORT = 80  # characters: names and labels come again at every turn
_short = lru_cache(maxsize=4096)(_plain)


def after_label(reply: str, label: str) -> str | None:
    """What stands behind the last `label:` at the start of a line, or None without one."""
    marked = re.compile(rf"(?i)[\s>#*_`-]*{re.escape(label)}[*_` ]*[:：][*_` ]*(.*)")
    found = [hit.group(1) for line in reply.split("\n") if (hit := marked.fullmatch(line))]
    return found[-1] if found else None


def sections(reply: str, labels: Sequence[str]) -> dict[str, str]:
    """What stands behind each label, over several lines, up to the next label."""
    starts = "|".join(re.escape(label) for label in labels)
    marked = re.compile(rf"(?i)[\s>#*_`\d.-]*({starts})[*_` ]*[:：][*_` ]*(.*)")
    by_fold = {label.casefold(): label for label in labels}
    found: dict[str, list[str]] = {}
    now: list[str] = []
    for line in reply.split("\n"):
        if hit := marked.fullmatch(line):
            now = found[by_fold[hit.group(1).casefold()]] = [hit.group(2)]
        else:
            now.append(line)
    return {label: "\n".join(lines).strip() for label, lines in found.items()}


def named(text: str, names: Sequence[str]) -> list[int]:
    """Which of the names stand in the text as whole words, longest first; none if it denies."""
    return _clear(plain(text), [plain(name) for name in names])


# Below, texts and names are plain already.


def _clear(text: str, names: Sequence[str]) -> list[int]:
    hits, left = _found(text, names)
    return [] if _DENIED.search(left) else hits


def _found(text: str, names: Sequence[str]) -> tuple[list[int], str]:
    """The names in a text, and what is left of it without them."""
    left, hits = text, []
    for i in sorted(range(len(names)), key=lambda i: -len(names[i])):
        if names[i]:
            whole = rf"(?<![\w-]){re.escape(names[i])}(?![\w-])"
            left, count = re.subn(whole, " ", left)
            hits += [i] if count else []
    return sorted(hits), left


def read_choice(reply: str, names: Sequence[str], label: str, theirs: bool = False) -> int:
    """The index of the one name that the reply chooses; raises Unreadable otherwise.

    With `theirs`, the question was what others do, so `I pick J` is no answer to it.
    """
    hits = choices_in(reply, names, label, theirs)
    if len(hits) != 1:
        raise Unreadable(f"Answer with `{label}:` and exactly one of {listed(names, 'or')}.")
    return hits[0]


def choices_in(reply: str, names: Sequence[str], label: str, theirs: bool = False) -> list[int]:
    """The names that a reply may have chosen: one when it is clear.

    The last labelled line counts, unless plain answers under the label contradict each other;
    without a label, a line counts that holds nothing but a name, as the first or the last line.
    """
    read = _choices_in_short if len(reply) <= SHORT else _choices_in
    return list(read(reply, tuple(names), label, theirs))


def _choices_in(reply: str, names: Sequence[str], label: str, theirs: bool) -> list[int]:
    names = [plain(name) for name in names]
    lines = [line for line in (line.strip() for line in plain(reply).split("\n")) if line]
    for labels in ((label,), _OTHER_LABELS):
        stated = list(_stated(lines, names, labels, theirs))
        if stated:
            sure = {i for text in stated for i in _bare(text, names, theirs)}
            return sorted(sure) if len(sure) > 1 else _meant(stated[-1], names, theirs)
    bare = [_bare(line, names, theirs) for line in lines]
    if not lines or not (bare[0] or bare[-1]):
        return []
    return sorted({i for hits in bare for i in hits})


_choices_in_short = lru_cache(maxsize=4096)(_choices_in)  # short replies come again and again


def _stated(
    lines: Sequence[str], names: Sequence[str], labels: Sequence[str], theirs: bool
) -> Iterator[str]:
    """What stands behind a label: at the start of a line, or within it if only a name follows."""
    at_start, within = _labelled(tuple(labels))
    for n, line in enumerate(lines):
        if hit := at_start.fullmatch(line):
            rest = hit.group(1).strip(_ENDS)
            after = lines[n + 1] if n + 1 < len(lines) else ""
            if rest or _bare(hit.group(1), names, theirs):  # a name may be a mere sign
                yield hit.group(1)
            elif _bare(after, names, theirs):
                yield after
        elif (hit := within.fullmatch(line)) and _bare(hit.group(1), names, theirs):
            yield hit.group(1)


@lru_cache(maxsize=256)
def _labelled(labels: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A line that begins with one of the labels, and one that has it within."""
    said = "|".join(re.escape(plain(label)) for label in labels)
    before = "(?:my|the|final|chosen|best|selected)"
    at_start = re.compile(rf"[\W\d]*(?:{before} )*(?:{said}) ?[:=](.*)")
    return at_start, re.compile(rf".*[\W_](?:{said}) ?[:=](.*)")


def _meant(stated: str, names: Sequence[str], theirs: bool) -> list[int]:
    """The names in an answer; reasons that follow a clear choice do not blur it."""
    if bare := _bare(stated, names, theirs):
        return bare
    if reason := _REASON.search(stated):
        before = _clear(stated[: reason.start()], names)
        others, rest = _found(stated[reason.end() :], names)
        if len(before) == 1 and not (set(others) - set(before) and _SECOND_THOUGHT.search(rest)):
            return before
    return _clear(stated, names)


def _bare(line: str, names: Sequence[str], theirs: bool) -> list[int]:
    """The name that is all a line says, leaving aside `I choose`, `Option` and the like."""
    exact = [i for i, name in enumerate(names) if name and line.strip() == name]
    if exact:
        return exact
    said, short = line.strip(_ENDS), [name.strip(_ENDS) for name in names]
    fits = [i for i, name in enumerate(short) if name and _says_only(said, name, theirs)]
    longest = max((len(short[i]) for i in fits), default=0)
    return [i for i in fits if len(short[i]) == longest]


def _says_only(said: str, name: str, theirs: bool) -> bool:
    head = said[: -len(name)]
    if not said.endswith(name) or (head and (head[-1].isalnum() or head[-1] in "-_")):
        return False
    if theirs and _OWN.search(head):
        return False
    filler = _THEIRS if theirs else _MINE
    return all(word.strip(_ENDS) in filler for word in head.split() if word.strip(_ENDS))


def read_numbered(reply: str, names: Sequence[str], label: str) -> int:
    """The index of the one option that a reply names, by its number from 1, its name, or both."""
    numbers = [str(n) for n in range(1, len(names) + 1)]
    reply = re.sub(r"(?<!\w)-\d[\d.]*|\d+[.,]\d+", "?", reply)  # -1 and 1.5 are no options
    clear = {*choices_in(reply, numbers, label), *choices_in(reply, names, label)}
    if len(clear) != 1:
        taught = listed([f"{n} ({name})" for n, name in enumerate(names, 1)], "or")
        raise Unreadable(f"Answer with `{label}:` and exactly one number: {taught}.")
    return clear.pop()


_NO_WHOLE = re.compile(r"\d+(?:[.,/:]\d+)+%?|\d+(?:\.\d+)?%")  # 1.5, 1,000, 2/3 and 50%
MOST_NUMBERS = 200  # different ones in a reply; more are a calculation and no answer


def whole_only(reply: str, signed: bool = False) -> str:
    """The reply with a question mark for each number that is not whole, or is below 0."""
    reply = _NO_WHOLE.sub("?", reply.replace("\u2212", "-"))
    return reply if signed else re.sub(r"(?<![\w.])-\d+", "?", reply)


def read_number(reply: str, low: int, high: int, label: str, theirs: bool = False) -> int:
    """The one whole number from `low` to `high` that the reply gives; raises Unreadable otherwise.

    It is read as a name is read, so that the reasons around it may hold numbers, too.
    """
    said = whole_only(reply, signed=low < 0)
    sign = r"(?<![\w-])-?" if low < 0 else ""
    names = tuple(dict.fromkeys(re.findall(rf"{sign}\d+", said)))[: MOST_NUMBERS + 1]
    hits = choices_in(said, names, label, theirs) if len(names) <= MOST_NUMBERS else []
    if len(hits) == 1 and low <= (number := int(names[hits[0]])) <= high:
        return number
    raise Unreadable(f"Answer with `{label}:` and exactly one whole number from {low} to {high}.")


def read_each(reply: str, wanted: Sequence[Sequence[str]], label: str) -> list[int | None]:
    """The name chosen under `label 1:`, `label 2:` ... for each question; None where none is.

    A single question needs no number, and numbers may be left out if every question has a line.
    """
    marked = re.compile(rf"[\W\d]*{re.escape(plain(label))}\W{{0,2}}(\d*)\W{{0,2}}[:=](.*)")
    found = [hit.groups() for line in plain(reply).split("\n") if (hit := marked.fullmatch(line))]
    if found and len(found) == len(wanted) and not any(number for number, _ in found):
        found = [(str(n), said) for n, (_, said) in enumerate(found, 1)]
    answers: list[int | None] = []
    for n, names in enumerate(wanted, 1):
        mine = [said for number, said in found if number == str(n) or (not number and n == 1)]
        mine = mine if len(wanted) > 1 else [said for _, said in found]
        hits = _meant(mine[-1], [plain(name) for name in names], True) if mine else []
        answers.append(hits[0] if len(hits) == 1 else None)
    return answers
