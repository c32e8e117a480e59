"""Reading a choice out of words: what a careful person would accept, and nothing else."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from benchmarks.reader_v4 import grammar
from sally.core.errors import TooLong, Unreadable, listed

_MARKS = str.maketrans("", "", "*_`\"'“”‘’[]<>{}$\\\u200b\u200c\u200d\u2060\ufeff\xad")
_TAGS = re.compile(r"(?i)</?(?:b|i|u|em|strong|code|p|br|span|answer|option|final) ?/?>")
_THINKING = re.compile(r"(?is)<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)")
# What was crossed out, or put out of use as a comment.
_STRUCK = re.compile(r"(?ism)~~[^~\n]*~~|<(s|del|strike)>[^<]*</\1>|^[ \t]*//[^\n]*")
_LATEX = re.compile(r"\\(?:boxed|text|textbf|mathrm|mathbf) ?\{([^{}]*)\}")
# At most and at least, though not <3> and not a mark of quotation at the start of a line.
_BOUND = re.compile(r"(?m)((?<!^)(?<=[^\s=-])[ \t]?)[<>]=?[ \t]?\d++(?![\w.]*[ \t]?>)")
VERSION = 4  # of reading: it stands in the log, and rises when a reply is read otherwise
MOST_READ = 50_000  # characters of a reply; a longer one is no answer
MOST_STATED = 100  # different answers behind a label
MOST_LINES = 1000  # different ones of a reply without a label
MOST_MARKS = 30  # on one letter, as in Unicode's stream-safe text; more take quadratic time
_NO_CHARACTER = grammar.BLOT
_OTHER_LABELS = ("final answer", "answer", "choice", "decision", "option", "pick", "move", "action")


def plain(text: str) -> str:
    """The text without markup, quotes, thoughts in tags and doubled blanks, in one letter case."""
    return _short(text) if len(text) <= SHORT else _plain(text)


def _plain(text: str) -> str:
    text = bounded(_TAGS.sub(" ", _THINKING.sub(" ", _STRUCK.sub(" ", bounded(text)))))
    if not text.isascii():
        text = bounded(unicodedata.normalize("NFKC", _tamed(text)))
    text = _BOUND.sub(f"\\1{_NO_CHARACTER}", _LATEX.sub(r"\1", _LATEX.sub(r"\1", text)))
    return re.sub(r"[ \t]+", " ", text.replace("<>", "≠").translate(_MARKS)).strip().casefold()


def bounded(reply: str) -> str:
    """The reply, if it is not too long to be read; thoughts in tags do not count."""
    if len(reply) > MOST_READ:
        reply = _THINKING.sub(" ", reply)
    if len(reply) > MOST_READ:
        raise TooLong(f"The answer has more than {MOST_READ} characters; give a short one.")
    return reply


def _tamed(text: str) -> str:
    """The text without raised, lowered and circled signs, which are no names, and heaps of marks.

    A ² is not the option 2, though Unicode would have it so.
    """
    text = "".join(map(_plain_sign, text)) if len(text) < SHORT else text.translate(_SIGNS)
    return _FOREIGN.sub(_fewer_marks, text)


_FOREIGN = re.compile(rf"[^\x00-\x7f]{{{MOST_MARKS + 1},}}")


def _fewer_marks(run: re.Match[str]) -> str:
    """A run of signs without those marks that are too many for one letter."""
    out, marks = [], 0
    for sign, combines in zip(run[0], map(unicodedata.combining, run[0]), strict=True):
        marks = marks + 1 if combines else 0
        if marks <= MOST_MARKS:
            out.append(sign)
    return "".join(out)


@lru_cache(maxsize=4096)
def _plain_sign(sign: str) -> str:
    if sign.isascii():
        return sign
    kind = unicodedata.decomposition(sign)
    odd = kind.startswith(("<super>", "<sub>", "<fraction>", "<circle>"))
    return _NO_CHARACTER if odd or kind.count(" ") > MOST_LETTERS else sign


class _Signs(dict[int, str]):
    """What each sign becomes, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        plain_one = _plain_sign(chr(code))
        if len(self) < 4096:
            self[code] = plain_one
        return plain_one


_SIGNS = _Signs()
MOST_LETTERS = 4  # for which one sign may stand


SHORT = 80  # characters: names and labels come again at every turn
_short = lru_cache(maxsize=4096)(_plain)


def labelled(reply: str, label: str) -> list[tuple[int, str]]:
    """What stands behind each `label:` at the start of a line, and the number of the line."""
    marked = re.compile(rf"(?i)[\s>#*_`-]*{re.escape(label)}[*_` ]*[:：][*_` ]*(.*)")
    hits = enumerate(map(marked.fullmatch, lines_in(reply)))
    return [(n, hit.group(1)) for n, hit in hits if hit]


def after_label(reply: str, label: str) -> str | None:
    """What stands behind the one `label:` at the start of a line, or None without one.

    The same may be said twice; two different answers, or one that is taken back, raise Unreadable.
    """
    found = labelled(reply, label)
    if not found:
        return None
    if len({plain(said).strip(grammar.ENDS) for _, said in found}) > 1:
        raise Unreadable(f"There are different answers behind `{label}:`; give one.")
    (at, said), lines = found[-1], lines_in(reply)
    refuse_unsaid("\n".join(lines[:at]), "\n".join(lines[at + 1 :]))
    return said


UNSAID = (
    "Your answer is denied, doubted, quoted or taken back by what stands around it; say it once."
)


def refuse_unsaid(before: str, after: str) -> None:
    """Raise Unreadable if what stands around an answer, of whatever kind, does not stand by it."""
    *_, last = ("", *plain(before).rstrip("\n").split("\n"))
    rest = dict.fromkeys(line.strip() for line in plain(after).split("\n"))
    if grammar.unsaid(last, list(filter(None, rest))):
        raise Unreadable(UNSAID)


def sections(reply: str, labels: Sequence[str]) -> dict[str, str]:
    """What stands behind each label, over several lines, up to the next label."""
    starts = "|".join(re.escape(label) for label in labels)
    marked = re.compile(rf"(?i)[\s>#*_`\d.-]*({starts})[*_` ]*[:：][*_` ]*(.*)")
    by_fold = {label.casefold(): label for label in labels}
    found: dict[str, list[str]] = {}
    now: list[str] = []
    for line in lines_in(reply):
        if hit := marked.fullmatch(line):
            now = found[by_fold[hit.group(1).casefold()]] = [hit.group(2)]
        else:
            now.append(line)
    return {label: "\n".join(lines).strip() for label, lines in found.items()}


def lines_in(reply: str) -> list[str]:
    """The lines of a reply that is not too long."""
    return bounded(reply).split("\n")


def named(text: str, names: Sequence[str]) -> list[int]:
    """The one of the names that a text behind a label chooses, alone in a list; else none."""
    folded = [plain(name) for name in names]
    return grammar.chosen(grammar.marked(plain(text), folded, range(len(names))), False)


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

    The last labelled line counts, unless plain answers under the label contradict each other, or
    what follows takes it back; without a label, a line counts that holds nothing but a name.
    """
    return placed(reply, names, range(len(names)), label, theirs)


def placed(
    reply: str, names: Sequence[str], places: Sequence[int], label: str, theirs: bool = False
) -> list[int]:
    """The places that a reply may have chosen, where several names may stand for one place."""
    read = _placed_short if len(reply) <= SHORT else _placed
    return list(read(reply, tuple(names), tuple(places), label, theirs))


def _placed(
    reply: str, names: Sequence[str], places: Sequence[int], label: str, theirs: bool
) -> list[int]:
    known = [plain(name) for name in names]
    short = [name.strip(" \t.,;:!") or name for name in known]
    lines = [line.strip() for line in plain(reply).split("\n")]
    alone = list(filter(None, lines))
    exact = {places[i] for i, name in enumerate(known) if name and [name] == alone}
    if exact:  # a name may be a mere sign
        return sorted(exact)
    if len(set(short)) == len(set(known)):  # with the signs at its ends, or without them
        known, places = [*known, *short], [*places, *places]
    read = Lines(lines, known, places, theirs)
    for labels in ((label,), _OTHER_LABELS):
        stated = list(_stated(read, labels))
        if stated:
            return _settled(read, stated)
    return _unlabelled(read)


_placed_short = lru_cache(maxsize=4096)(_placed)  # short replies come again and again


class Lines(NamedTuple):
    """A reply by lines, with the names that are looked for."""

    lines: Sequence[str]
    names: Sequence[str]
    places: Sequence[int]
    theirs: bool

    def marked(self, text: str) -> grammar.Marked:
        return grammar.marked(text, self.names, self.places)

    def bare(self, text: str) -> list[int]:
        """The place of the name that is all a line says."""
        found = self.marked(text)
        return found.places if grammar.bare(found, self.theirs) else []


def _settled(read: Lines, stated: Sequence[tuple[int, str]]) -> list[int]:
    """What labelled lines say in sum, given by their numbers and what stands behind the label."""
    texts = dict.fromkeys(text for _, text in stated)
    if len(texts) > MOST_STATED:
        return []
    meant = {text: grammar.chosen(read.marked(text), read.theirs) for text in texts}
    sure = {place for hits in meant.values() for place in hits}
    at, last = stated[-1]
    if len(sure) > 1 or not meant[last]:
        return sorted(sure) if len(sure) > 1 else []
    (chosen,) = meant[last]
    if at and grammar.spoken_of(read.lines[at - 1]):
        return []
    before = next((line for line in reversed(read.lines[:at]) if line), "")
    if not read.theirs and grammar.contradicts(before, read.names, read.places, chosen):
        return []
    after = list(dict.fromkeys(filter(None, read.lines[at + 1 :])))
    return [] if grammar.takes_back(after, read.names, read.places, chosen) else [chosen]


def _unlabelled(read: Lines) -> list[int]:
    """The name that stands alone in the first or the last line, if nothing speaks against it."""
    lines = [(n, line) for n, line in enumerate(read.lines) if line]
    if len(lines) == 1 and len(set((alone := read.marked(lines[0][1])).places)) == 1:
        return grammar.chosen(alone, read.theirs)
    different = dict.fromkeys(line for _, line in lines)
    if len(different) > MOST_LINES:
        return []
    bare = {line: read.bare(line) for line in different}
    hits = [(n, place) for n, line in lines for place in bare[line]]
    if not hits or (hits[0][0] != lines[0][0] and hits[-1][0] != lines[-1][0]):
        return []
    found = {place for _, place in hits}
    at = hits[-1][0]
    if len(found) != 1 or (at and grammar.spoken_of(read.lines[at - 1])):
        return sorted(found) if len(found) > 1 else []
    (chosen,) = found
    after = list(dict.fromkeys(line for n, line in lines if n > hits[0][0]))
    others = [line for line in after if set(read.marked(line).places) - found]
    if not all(map(grammar.REASON.match, others)):
        return []
    return [] if grammar.takes_back(after, read.names, read.places, chosen) else [chosen]


def _stated(read: Lines, labels: Sequence[str]) -> Iterator[tuple[int, str]]:
    """What stands behind a label: at the start of a line, or within it if only a name follows."""
    at_start, within = _labelled(tuple(labels))
    known = [plain(label) for label in labels]
    with_label = {line for line in set(read.lines) if any(map(line.__contains__, known))}
    for n, line in enumerate(read.lines) if with_label else ():
        if line not in with_label:
            continue
        if hit := at_start.fullmatch(line):
            said = hit.group(1)
            if said.strip(grammar.ENDS) or read.bare(said):
                yield n, said
            elif (next_ := _next(read.lines, n)) is not None and read.bare(read.lines[next_]):
                yield next_, read.lines[next_]
        elif (
            (hit := within.fullmatch(line))
            and grammar.leads_to(hit.group(1), read.theirs)
            and read.bare(hit.group(2))
        ):
            yield n, hit.group(2)


def _next(lines: Sequence[str], n: int) -> int | None:
    """The next line with something in it."""
    return next((k for k in range(n + 1, min(n + 4, len(lines))) if lines[k]), None)


@lru_cache(maxsize=256)
def _labelled(labels: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A line that begins with one of the labels, and one that has it within."""
    said = "|".join(re.escape(plain(label)) for label in labels)
    before = "(?:my|the|final|chosen|best|selected)"
    at_start = re.compile(rf"[\W\d]*(?:{before} )*(?:{said}) ?[:=](.*)")
    return at_start, re.compile(rf"(.*)(?<!\w)(?:{said}) ?[:=](.*)")


def read_numbered(reply: str, names: Sequence[str], label: str) -> int:
    """The index of the one option that a reply names, by its number from 1, its name, or both."""
    known = [*(str(n) for n in range(1, len(names) + 1)), *names]
    places = [*range(len(names))] * 2
    said = _NO_OPTION.sub(_NO_CHARACTER, bounded(reply))
    clear = placed(said, known, places, label)
    if len(clear) != 1:
        taught = listed([f"{n} ({name})" for n, name in enumerate(names, 1)], "or")
        raise Unreadable(f"Answer with `{label}:` and exactly one number: {taught}.")
    return clear[0]


_NO_OPTION = re.compile(  # -1, 1.5, 2%, $3, 3€ and 2 * 2
    r"(?<!\w)-\d[\d.]*+|(?<!\d)\d++ ?[*×^] ?\d++|"
    r"(?<!\d)\d++(?:[.,]\d++| ?[%€£])|[$€£] ?\d++(?! ?\$)"
)
_ODDS = re.compile(r"(?<![\d.,/])(?:50/50|60/40|40/60|70/30|30/70|80/20|20/80|90/10)(?![\d.,/])")
_NO_WHOLE = re.compile(r"(?<!\d)\d++(?:(?:[.,/:]\d++)++%?|%)")  # 1.5, 1,000, 2/3 and 50%
MOST_DIGITS = 100  # of a number; Python itself refuses to read thousands of them
MOST_NUMBERS = 200  # different ones in a reply; more are a calculation and no answer


def whole_only(reply: str, signed: bool = False) -> str:
    """The reply with a blot for each number that is not whole, or is below 0."""
    reply = _ODDS.sub("either", bounded(reply).replace("\u2212", "-"))
    reply = _NO_WHOLE.sub(_NO_CHARACTER, reply)
    return reply if signed else re.sub(r"(?<![\w.])-\d+", _NO_CHARACTER, reply)


def read_number(reply: str, low: int, high: int, label: str, theirs: bool = False) -> int:
    """The one whole number from `low` to `high` that the reply gives; raises Unreadable otherwise.

    It is read as a name is read, so that the reasons around it may hold numbers, too.
    """
    said = whole_only(reply, signed=low < 0)
    sign = r"(?<![\w-])-?" if low < 0 else ""
    names = tuple(dict.fromkeys(re.findall(rf"{sign}\d+", said)))[: MOST_NUMBERS + 1]
    hits = choices_in(said, names, label, theirs) if len(names) <= MOST_NUMBERS else []
    said_number = names[hits[0]] if len(hits) == 1 else ""
    if 0 < len(said_number) <= MOST_DIGITS and low <= (number := int(said_number)) <= high:
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
        known = [plain(name) for name in names]
        read = Lines((), known, range(len(known)), True)
        hits = grammar.chosen(read.marked(mine[-1]), True) if mine else []
        answers.append(hits[0] if len(hits) == 1 else None)
    return answers
