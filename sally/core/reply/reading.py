"""Reading a pick from a menu, or a whole number, out of a reply.

The rule (version 5), stated for citation in docs/reference/replies.md:

(a) A JSON object with one answer field is read by that field. (b) Else the last labelled line
counts (`Option: X`), its value up to the first bracket, dash, comma, semicolon or full stop,
compared without markup, case and Unicode width; a line that holds nothing but an option counts as
labelled. (c) Else the one option that the reply names, if no sentence that names it denies it,
doubts it or asks. Everything else is unreadable and asked again.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sally.core.errors import TooLong, Unreadable, listed

VERSION = 5  # stored with every language player; rises when a reply is read differently
MOST_READ = 50_000  # characters; a longer reply is rejected unread
MOST_LABELS = 20  # labels tried in one line, from its end
MOST_SENTENCES = 5  # sentences tried, from the end of a reply
SHORT = 80  # characters; readings of shorter replies are cached

# Labels in front of an answer besides the game's own, in the languages of common words packs.
LABELS = (
    *("final answer", "answer", "option", "choice", "decision", "pick", "move", "action"),
    *("prediction", "guess", "antwort", "wahl", "entscheidung", "zug", "réponse", "choix"),
    *("respuesta", "opción", "elección", "risposta", "scelta", "opzione", "resposta", "opção"),
    *("escolha", "antwoord", "keuze", "odpowiedź", "wybór", "ответ", "выбор", "答案", "选择"),
    *("選択", "回答", "選擇", "답", "답변", "선택", "cevap", "seçim", "jawaban", "pilihan"),
)
NOUNS = ("option", "choice", "number", "no.", "no", "answer", "move", "action", "item", "nr")

_THOUGHTS = re.compile(r"(?is)<(think|thinking|thought|reasoning|scratchpad)>.*?(?:</\1>|\Z)")
_STRUCK = re.compile(r"(?i)~~[^~\n]*~~|<(s|del|strike)>[^<]*</\1>")
_TAGS = re.compile(r"</?[A-Za-z][A-Za-z0-9_-]{0,20} ?/?>")
_LATEX = re.compile(r"\\(?:boxed|text|textbf|mathrm|mathbf) ?\{([^{}]*)\}")
_MARKUP = str.maketrans("’‘", "''", '*_`"“”„«»[]{}<>\\\u200b\u200c\u200d\u2060\ufeff\xad')
_QUOTES = re.compile(r"(?<!\w)'|'(?!\w)")
_BREAK = re.compile(
    r"[(;!|\n,]|[–—]|(?<=\s)-+(?=\s)|--|\.(?!\d)|:(?=\s|$)|\s(?:because|since|as)\b"
)
_SENTENCE = re.compile(r"[^.!?\n;]+(?:\.(?=\d)[^.!?\n;]*)*[.!?;]*")
_OPEN_END = re.compile(
    r"\W*(?:or|and|maybe|perhaps|wait|actually|no(?!\w)|not sure|vs|versus|to)\b|\s*[/?&+]"
)
# What keeps a sentence that names an option from choosing it.
_DENIES = re.compile(
    r"\?|\b(?:to determine|need to|let's|not|never|cannot|neither|nor|without|avoid\w*|against|"
    r"except|unlikely|unless|if|when|whether|either|or|might|may|can|maybe|perhaps|could|unsure|"
    r"uncertain|suppose|imagine|consider\w*|"
    r"example|e\.g|like|instead of|rather than|no longer|refuse|unable|beats?|versus|vs|depends|"
    r"nicht|kein\w*|oder|pas|ou|no(?! doubt)|nunca|non|nie|не|или)\b|n't\b|[/≠不没或않]|아니"
)
_PAST = re.compile(
    r"\b(?:picked|chose|chosen|played|selected|took|went|opened|was|were|had|did|last|past|"
    r"previous\w*|earlier|so far|always|history|rounds|rounds? \d+)\b"
)
_MY_PAST = re.compile(r"\bi(?:'ve| have)? (?:picked|chose|chosen|selected|decided)\b")
_OTHERS = re.compile(r"\b(?:other player|opponent|partner|they|their)\b")
_MINE = re.compile(r"\b(?:i|i'll|i'm|i'd|my|we|me|you|your)\b")
_CHOOSES = re.compile(
    r"\b(?:pick(?:s|ing)?|choos\w+|select(?:s|ing)?|go(?:es|ing)? (?:with|to|for)|tak(?:e|es|ing)|"
    r"play(?:s|ing)?|stick\w*|switch to|prefer|opt(?:s|ing)? for|recommend\w*|answer|choice|"
    r"decision|best|guess|correct|optimal|wähle|nehme|choisis|prends|elijo|escojo|scelgo|escolho|kies|выбираю)\b|选|選|선택"
)
_ASIDE = re.compile(r"\([^()]*\)|, (?:which|as|since|because|given|with) [^.!?]*| over [^.!?]*")
_FEW_WORDS = 8  # a reply of so few words needs no verb of choosing
_RETRACTS = re.compile(
    r"\b(?:wait|on (?:second thoughts?|reflection)|(?:scratch|strike) that|never ?mind|oops|my bad|"
    r"take (?:it|that) back|correct(?:ion|ed)\b[:,. ]|chang(?:e|ed|ing) my mind|i (?:mean|meant)|"
    r"(?:ignore|discard|disregard) (?:that|the|this|my)|kidding|misspoke|typo|wrong one|backwards|"
    r"amend|after all|update:|sorry|not really|psych)\b"
)
_DOUBTS = re.compile(r"\?|/|\b(?:or|not|either|maybe|perhaps|oder|ou)\b")
_LEADS = re.compile(
    r"(?:^|[.!?,;:]\s?|\b(?:so|is|thus|hence|therefore|then|my|the|final|best|chosen)\s)\W*$"
)


def bounded(reply: str) -> str:
    """Return the reply; raise TooLong if it is too long to be read without its thoughts."""
    if len(reply) > MOST_READ:
        reply = _THOUGHTS.sub(" ", reply)
    if len(reply) > MOST_READ:
        raise TooLong(f"The answer has more than {MOST_READ} characters; give a short one.")
    return reply


def without_thoughts(reply: str) -> str:
    """Return the reply without thoughts in tags, if it is not too long to be read."""
    return _THOUGHTS.sub(" ", bounded(reply))


class _Narrow(dict[int, str]):
    """Each character without Unicode width or font; filled as characters are met."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        kind = unicodedata.decomposition(sign)
        if kind.startswith(("<wide>", "<narrow>", "<font>")):
            sign = unicodedata.normalize("NFKC", sign)
        if len(self) < 4096:
            self[code] = sign
        return sign


_NARROW = _Narrow()


def _unmarked(text: str) -> str:
    """Return the text without thoughts, struck-out parts, markup and Unicode width, by line."""
    text = _STRUCK.sub(" ", without_thoughts(text))
    if "\\" in text:
        text = _LATEX.sub(r"\1", _LATEX.sub(r"\1", text))
    text = _TAGS.sub(" ", text)
    if not text.isascii():
        text = text.translate(_NARROW).replace("\u2212", "-")
    text = _QUOTES.sub("", text.translate(_MARKUP))
    return re.sub(r"[ \t]+", " ", text).strip()


def plain(text: str) -> str:
    """Return the text without thoughts, markup and Unicode width, in one letter case."""
    return _unmarked(text).casefold()


def doubtful(text: str) -> bool:
    """Return whether a value after a label offers alternatives, denies or asks."""
    return _DOUBTS.search(text.casefold()) is not None


# --- labelled lines ---------------------------------------------------------------------------


def lines_in(reply: str) -> list[str]:
    """Return the lines of a reply that is not too long."""
    return bounded(reply).split("\n")


def labelled(reply: str, label: str) -> list[tuple[int, str]]:
    """Return what follows each `label:` at the start of a line, with the number of the line."""
    marked = re.compile(rf"(?i)[\s>#*_`-]*{re.escape(label)}[*_` ]*[:：][*_` ]*(.*)")
    hits = enumerate(map(marked.fullmatch, lines_in(without_thoughts(reply))))
    return [(n, hit.group(1)) for n, hit in hits if hit]


def after_label(reply: str, label: str) -> str | None:
    """Return what follows the last `label:` at the start of a line, or None without one."""
    found = labelled(reply, label)
    return found[-1][1] if found else None


def sections(reply: str, labels: Sequence[str]) -> dict[str, str]:
    """Return what follows each label, over several lines, up to the next label."""
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


@lru_cache(maxsize=256)
def _label(labels: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of a label with its colon, anywhere in a line."""
    said = "|".join(re.escape(each) for each in sorted(set(labels), key=len, reverse=True))
    return re.compile(rf"(?i)(?<!\w)(?:{said})(?: (?:is|number))? ?[:=：] ?")


def _stated(text: str, label: str) -> list[tuple[int, str]]:
    """Return each labelled value with where it ends; the game's own label goes before others."""
    for labels in ((label.casefold(),), LABELS):
        pattern, found, at = _label(labels), list[tuple[int, str]](), 0
        for line in text.split("\n"):
            end = at + len(line)
            hits = list(pattern.finditer(line))[-MOST_LABELS:]
            hit = next((hit for hit in reversed(hits) if _leads(line[: hit.start()])), None)
            if hit:
                value = line[hit.end() :]
                if not value.strip(" .:-"):  # the value is on the next line
                    rest = text[end:].lstrip("\n ")
                    value = rest.split("\n", 1)[0]
                    end = len(text) - len(rest) + len(value)
                found.append((end, value))
            at += len(line) + 1
        if found:
            return found
    return []


def _leads(before: str) -> bool:
    """Return whether a label may follow this beginning of a line."""
    if not before.strip(" #>-–•.)(0123456789"):
        return True
    return _LEADS.search(before[-40:].casefold()) is not None


def restated(reply: str, label: str) -> bool:
    """Return whether a reply gives different values under its label; the last one counts."""
    if "\n" not in reply:
        return False
    return len({value.strip(" .!").casefold() for _, value in _stated(_unmarked(reply), label)}) > 1


# --- options in a text ------------------------------------------------------------------------


class Mention(NamedTuple):
    """An option, or a number that is not one (key None), with its place in the text."""

    key: int | None
    start: int
    end: int


Finds = Callable[..., list[Mention]]  # (text, prose=False)


@lru_cache(maxsize=512)
def _menu(names: tuple[str, ...], label: str, numbered: bool) -> Finds:
    """Return a function that finds the names of a menu, with or without the menu's noun."""
    known: dict[str, int | None] = {}
    for place, name in enumerate(names):
        known.setdefault(" ".join(plain(name).split()).strip(" .,;:!") or name.casefold(), place)
    first = {name.split(" ", 1)[0] for name in known}
    shared = first if len(first) == 1 and all(" " in name for name in known) else set[str]()
    if shared:  # "Box 1", "Box 2": 1 is enough
        known |= {name.split(" ", 1)[1]: place for name, place in known.items()}
    if numbered:
        known |= {str(place + 1): place for place in range(len(names))}
    nouns = {*NOUNS, *label.casefold().split(), *shared, "#"} - set(known)
    noun = "|".join(re.escape(each) for each in sorted(nouns, key=len, reverse=True))
    said = "|".join(re.escape(each) for each in sorted(known, key=len, reverse=True))
    pattern = re.compile(
        rf"(?i)(?<![\w$€£'])(?:({noun})[ /:]?)?(?<![\w.'])(?P<name>{said})(?!\w)(?!'\w)"
    )
    digits = any(name.isdigit() for name in known)

    def find(text: str, prose: bool = False) -> list[Mention]:
        out, prose = list[Mention](), prose and numbered
        for hit in pattern.finditer(text):
            name, start, end = hit["name"], hit.start(), hit.end()
            if prose and hit[1] is None and name.isdigit():
                continue  # "Agent 5", "Round 3", "2 points"
            key = known[name.casefold()]
            if name.isdigit() and _is_part(text, hit.start("name"), end):
                key = None
            elif (
                (
                    name in ("a", "i", "I")
                    and name != text.strip(" .!")
                    and not re.match(r" \w(?!\w)", text[end : end + 3])  # "a b" names two
                )
                or (name == "A" and hit[1] is None and re.match(r" [a-z]", text[end : end + 2]))
            ):
                continue  # an article or a pronoun
            out.append(Mention(key, start, end))
        if digits and not prose:
            taken = {place for m in out for place in range(m.start, m.end)}
            out += [
                Mention(None, hit.start(), hit.end())
                for hit in re.finditer(r"[-+]?\d+", text)
                if hit.end() - 1 not in taken and numbered_like(text, hit)
            ]
        return out

    def numbered_like(text: str, hit: re.Match[str]) -> bool:
        return not text[hit.start() - 1 : hit.start()].isalnum()

    return find


def _is_part(text: str, start: int, end: int) -> bool:
    """Return whether digits are part of a signed, broken, decimal or percent number."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    return bool(
        re.search(r"(?:^|[^\w])[-+]$|\d[.,/:]$|[\w][-+*/^]$", before)
        or re.match(r"[.,/:]\d| ?[%*^+]|-\d", after)
    )


def _numbers(low: int, high: int) -> Finds:
    """Return a function that finds whole numbers."""

    def find(text: str, prose: bool = False) -> list[Mention]:
        out = []
        for hit in re.finditer(r"(?<!\w)\d+(?!\w)", text):
            start, end, digits = hit.start(), hit.end(), hit[0]
            negative = (
                low < 0 and text[start - 1 : start] == "-" and not text[: start - 1][-1:].isalnum()
            )
            value = int(digits) if len(digits) <= 30 else high + 1
            part = _is_part(text, start - 1 if negative else start, end)
            value = -value if negative else value
            key = None if part or not low <= value <= high else value
            out.append(Mention(key, start - negative, end))
        return out

    return find


_FILLER = re.compile(
    r"(?i)[\s\W_]|\b(?:option|choice|number|no|nr|box|the|my|is|i|pick|choose|select|play|will|"
    r"would|go|with|ll|for|answer|points?|dollars?|units?|coins?|percent|a|an|final|move)\b"
)


def _value(text: str, find: Finds, theirs: bool = False) -> int | None:
    """Return the option that a labelled value is, if it is one."""
    hit = _BREAK.search(text)
    while hit and not text[: hit.start()].strip(" (-"):  # a bracket around the value
        hit = _BREAK.search(text, hit.end())
    head = text[: hit.start()] if hit else text
    mentions = find(head)
    keys = {mention.key for mention in mentions}
    if len(keys) == 1 and None not in keys:
        rest = head
        for mention in reversed(mentions):
            rest = rest[: mention.start] + " " + rest[mention.end :]
        whole = find(text[: len(head) + 3])
        broken = any(m.key is None for m in whole)
        if not _FILLER.sub("", rest) and not broken and "?" not in text[len(head) :][:2]:
            if "?" in head or "/" in rest or "&" in rest:
                return None
            after = text[len(head) :]
            if _OPEN_END.match(after.lstrip(" ,;.!-–—")) or _goes_on(after, find, keys):
                return None
            return keys.pop()
    return _named(text, find, theirs, few_words=0)


def _goes_on(after: str, find: Finds, keys: set[int | None]) -> bool:
    """Return whether a value goes on with another option: `R, S`, `1 (River)`."""
    if after.startswith("("):
        inner = find(bracketed := after[1:].partition(")")[0])
        named = {mention.key for mention in inner}
        bare = (
            len(inner) == 1 and not bracketed[: inner[0].start].strip() + bracketed[inner[0].end :]
        )
        return bare and named != keys
    if not after.startswith((",", ";")):
        return False
    following = find(after)
    return (
        bool(following)
        and not after[: following[0].start].strip(" ,;")
        and (following[0].key not in keys or " or " in after)
    )


def _named(text: str, find: Finds, theirs: bool, few_words: int = _FEW_WORDS) -> int | None:
    """Return the option of the last sentence that names any, if that sentence chooses it.

    A reply that names a single option is also read this way, if none of its sentences rejects it.
    """
    mentions = sorted(find(text, True), key=lambda mention: mention.start)
    if not mentions:
        return None
    sentences = [hit for hit in _SENTENCE.finditer(text) if hit.start() <= mentions[-1].start]
    place, held = 0, list[tuple[str, int]]()
    for hit in sentences:
        first = place
        while place < len(mentions) and mentions[place].start < hit.end():
            place += 1
        if place > first:
            held.append((_ASIDE.sub(" ", hit[0]).strip(), hit.end()))
    if not held:
        return None
    alone = len({mention.key for mention in mentions}) == 1
    short = len(text.split()) <= few_words
    for sentence, end in reversed(held[-MOST_SENTENCES:]) if alone else held[-1:]:
        if few_words and not short and not _is_finished(text, end, 3 if alone else 1):
            return None
        for clause in (sentence, sentence[_clause(sentence) :]):
            found = find(clause, True)
            keys = {mention.key for mention in found}
            if len(keys) != 1 or None in keys or not _allows(clause, theirs):
                continue
            before = clause[: found[-1].start].casefold()
            if _CHOOSES.search(clause.casefold()) or re.search(r"\b(?:is|be)\W*(?:the )?$", before):
                return keys.pop()
            if short and alone:
                return keys.pop() if all(_allows(each, theirs) for each, _ in held) else None
        if not _allows(sentence, theirs):
            return None
    return None


def _is_finished(text: str, end: int, more: int) -> bool:
    """Return whether a text is complete, and few sentences follow the one that ends here."""
    follow = len(re.findall(r"[.!?](?:\s|$)", text[end:]))
    return text.endswith((".", "!", ")", ":")) and follow <= more


def _clause(sentence: str) -> int:
    """Return where the last clause of a sentence begins."""
    return max(sentence.rfind(", "), sentence.rfind(" so "), sentence.rfind(" therefore "), 0)


def _allows(sentence: str, theirs: bool) -> bool:
    """Return whether a sentence neither denies, doubts nor asks, and is not about the past."""
    sentence = sentence.casefold()
    if "(" in sentence or _DENIES.search(sentence):
        return False
    if _PAST.search(sentence) and not _MY_PAST.search(sentence):
        return False
    others, mine = _OTHERS.search(sentence), _MINE.search(sentence)
    return not mine or others is not None if theirs else not others or mine is not None


def _bare(text: str, find: Finds) -> list[tuple[int, str]]:
    """Return the lines, or the opening sentence, that hold nothing but one option."""
    found, at = list[tuple[int, str]](), 0
    for line in (*text.split("\n"), ""):
        if _is_bare(line, find):
            found.append((at + len(line), line))
        at += len(line) + 1
    if len({find(line)[0].key for _, line in found}) > 1:
        return []
    if (
        not found
        and (first := re.match(r"[^.!\n]{1,60}[.!](?=\s)", text))
        and _is_bare(first[0], find)
    ):
        return [(first.end(), first[0])]
    return found


def _is_bare(line: str, find: Finds) -> bool:
    if not 0 < len(line) <= SHORT or len(mentions := find(line)) != 1:
        return False
    rest = line[: mentions[0].start] + line[mentions[0].end :]
    return not rest.strip(" .!()-#>") and not re.match(r"\W*\d+[.)] ", line)


def _object(reply: str, label: str) -> Any:
    """Return the answer field of the one JSON object of a reply, or None without one."""
    if "{" not in reply:
        return None
    found = [given for given, _, _ in json_objects(without_thoughts(reply))]
    if len(found) != 1:
        return None
    wanted = {label.casefold(), *LABELS}
    fields = [
        value for key, value in found[0].items() if key.casefold().replace("_", " ") in wanted
    ]
    if len(fields) == 1 and isinstance(fields[0], str | int) and not isinstance(fields[0], bool):
        return str(fields[0])
    return None


def _read(reply: str, find: Finds, label: str, theirs: bool) -> int | None:
    """Return the option or number that a reply gives by the rule, or None."""
    if (field := _object(reply, label)) is not None:
        return _value(_unmarked(field), find, theirs)
    text = _unmarked(reply)
    stated = _stated(text, label) or _bare(text, find)
    if not stated:
        return None if _RETRACTS.search(text.casefold()) else _named(text, find, theirs)
    end, value = stated[-1]
    chosen, after = _value(value, find, theirs), text[end:]
    if chosen is None or _RETRACTS.search(f"{value}\n{after}".casefold()):
        return None
    others = {find(line)[0].key for line in after.split("\n") if _is_bare(line, find)}
    return chosen if others <= {chosen} else None


_read_short = lru_cache(maxsize=4096)(_read)


def read_choice(reply: str, names: Sequence[str], label: str, theirs: bool = False) -> int:
    """Return the index of the one name that a reply gives.

    With `theirs`, the question is about others, so `They will pick J.` answers it.

    Raises:
        Unreadable: the reply gives none or several; the message says what is wanted.
    """
    whole = reply.strip().removeprefix(f"{label}:").strip()
    if names.count(whole) == 1:  # a name that is a sentence is compared as a whole
        return names.index(whole)
    chosen = _chosen(reply, _menu(tuple(names), label, False), names, label, theirs)
    if chosen is None:
        raise Unreadable(f"Answer with `{label}:` and exactly one of {listed(names, 'or')}.")
    return chosen


def read_numbered(reply: str, names: Sequence[str], label: str) -> int:
    """Return the index of the one option that a reply names, by number from 1, name, or both."""
    chosen = _chosen(reply, _menu(tuple(names), label, True), names, label, True)
    if chosen is None:
        taught = listed([f"{n} ({name})" for n, name in enumerate(names, 1)], "or")
        raise Unreadable(f"Answer with `{label}:` and exactly one number: {taught}.")
    return chosen


def _chosen(reply: str, find: Finds, names: Sequence[str], label: str, theirs: bool) -> int | None:
    said = reply.strip()
    exact = [place for place, name in enumerate(names) if said == name]
    if exact:  # a name may be a sign that markup is made of
        return exact[0]
    read = _read_short if len(reply) <= SHORT else _read
    return read(reply, find, label, theirs)


def read_number(reply: str, low: int, high: int, label: str, theirs: bool = False) -> int:
    """Return the one whole number from `low` to `high` that a reply gives.

    Raises:
        Unreadable: the reply gives none or several.
    """
    found = _read(reply, _numbers(low, high), label, theirs)
    if found is None:
        raise Unreadable(
            f"Answer with `{label}:` and exactly one whole number from {low} to {high}."
        )
    return found


def read_each(reply: str, wanted: Sequence[Sequence[str]], label: str) -> list[int | None]:
    """Return the name given under `label 1:`, `label 2:` ... for each question; None without one.

    A single question needs no number, and numbers may be left out if every question has a line.
    """
    marked = re.compile(rf"(?i)[\W\d]*{re.escape(label)}\W{{0,2}}(\d*)\W{{0,2}}[:=](.*)")
    lines = _unmarked(reply).split("\n")
    found = [hit.groups() for line in lines if (hit := marked.fullmatch(line))]
    if found and len(found) == len(wanted) and not any(number for number, _ in found):
        found = [(str(n), said) for n, (_, said) in enumerate(found, 1)]
    answers: list[int | None] = []
    for n, names in enumerate(wanted, 1):
        mine = [said for number, said in found if number == str(n) or (not number and n == 1)]
        mine = mine if len(wanted) > 1 else [said for _, said in found]
        answers.append(_value(mine[-1], _menu(tuple(names), label, False), True) if mine else None)
    return answers


# --- JSON -------------------------------------------------------------------------------------

MOST_BRACES = 500  # a reply with more is not an answer, and each parse costs its length


def json_objects(reply: str) -> Iterator[tuple[dict[str, Any], int, int]]:
    """Return the outermost JSON objects of a text, each with its beginning and end.

    Raises:
        Unreadable: an object gives a field twice.
    """
    at, decoder = reply.find("{"), json.JSONDecoder(object_pairs_hook=_once)
    for _ in range(MOST_BRACES):
        if at < 0:
            return
        try:
            found, end = decoder.raw_decode(reply, at)
            yield found, at, end
        except Unreadable:
            raise
        except ValueError:
            end = at + 1
        except RecursionError:
            return  # nested deeper than any answer
        at = reply.find("{", end)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    given = dict(pairs)
    if len(given) != len(pairs):
        raise Unreadable("Give each field of the JSON object once.")
    return given
