"""Reading a pick from a menu, or a whole number, out of a reply.

The rule (version 7) is stated for citation in docs/reference/replies.md. The gain of each clause on
real replies is measured by `python benchmarks/reply_reader.py --clauses`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from sally.core.errors import Unreadable, listed
from sally.core.reply.plain_text import doubtful, json_objects, plain, unmarked, without_thoughts

VERSION = 7  # stored with every language player; rises when a reply is read differently
SHORT = 80  # characters; readings of shorter replies are cached
MOST_LINES = 500  # that are searched for labels and bare options, from the end of a reply
MOST_LENGTH = 2_000  # characters of a sentence that is read
MOST_LABELS = 20  # that are tried in one line, from its end
FEW_WORDS = 8  # a reply of so few words needs no verb of choosing
MOST_SENTENCES = 4  # that are tried, from the end of a reply

# Labels in front of an answer besides the game's own, in the languages of common words packs.
LABELS = (
    *("final answer", "answer", "option", "choice", "decision", "pick", "move"),
    *("action", "prediction", "guess", "result", "antwort", "wahl", "entscheidung", "zug"),
    *("réponse", "choix", "respuesta", "opción", "elección", "risposta", "scelta", "opzione"),
    *("resposta", "opção", "escolha", "antwoord", "keuze", "odpowiedź", "wybór", "ответ", "выбор"),
    *("答案", "选择", "選択", "回答", "選擇", "답", "답변", "선택", "cevap", "seçim", "jawaban"),
)
NOUNS = ("option", "options", "opt", "number", "choice")  # before a name, besides the menu's own

# Chinese, Japanese and Korean set no blanks around a name.
_LETTER = r"[^\W\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]"
_BREAK = re.compile(
    r"[(;!|\n,。，、]|[–—]|(?<=\s)-+(?=\s)|\.(?!\d)|:(?=\s|$)|\s(?:because|since|as)\b"
)
_SENTENCE = re.compile(r"[^.!?\n;。？]+(?:\.(?=\d)[^.!?\n;。？]*)*[.!?;。？]*")
_LEADS = re.compile(r"(?:^|[.!?,;:]\s?|\b(?:so|is|thus|hence|therefore|then|the|my|final)\s)\W*$")
_ASIDE = re.compile(
    r"\([^()]*\)|, (?:which|as|since|given|with) [^.!?]*|,? because [^.!?]*|"
    r", not [^.!?,]*| over [^.!?]*|"
    r" (?:as (?:it|this|that|they|i|we|you|\w+ing)|against|without) [^.!?,]*"
)

_ARTICLE = re.compile(r"(?:an?|the) ")
_UNFINISHED = re.compile(r"(?<=[.!])\s+[^.!?]+$")
_ITEM = re.compile(r"\W*\d+[.)] ")  # of a numbered list

# What a sentence must have to choose an option, and what keeps it from choosing one.
_CHOOSES = re.compile(
    r"\b(?:pick(?:s|ing)?|choos\w+|select(?:s|ing)?|go(?:es|ing)? (?:with|to|for)|tak(?:e|es|ing)|"
    r"play(?:s|ing)?|stick\w*|switch to|prefer|opt(?:s|ing)? for|recommend\w*|answer|choice|"
    r"decision|best|guess\w*|correct|optimal|ask|bid|is the only|"
    r"wähle|nehme|choisis|prends|elijo|escojo|scelgo|escolho|kies|выбираю)\b|选|選|선택"
)
_OBJECT = re.compile(
    r"\b(?:pick|choose|select|go with|go for|take|play|stick with|stick to|opt for|recommend)"
    r"\W+(?:the )?$"
)
_AND = re.compile(r"\W*(?:and|or|as well as)?\W+")
_UNIT = re.compile(r"(?i)[\s.!()#>:-]*(?:(?:points?|steps?|dollars?|coins?|tokens?)[.\s]*)?")
_IS = re.compile(r"(?i)\b(?:is|be)\W*(?:the )?$")
_DENIES = re.compile(
    r"[?？]|\b(?:not|never|neither|nor|cannot|without|avoid\w*|except|unlikely|unless|if|when|whether|"
    r"either|or|might|may|can|maybe|perhaps|could|unsure|uncertain|consider\w*|example|like|"
    r"negative|minus|ruled out|eliminated|instead of|rather than|no longer|unable|depends|"
    r"to determine|need to|let's|nicht|kein\w*|oder|pas|ou|no(?! doubt)|nunca|non|nie|не|или)\b|"
    r"n't\b|[/≠不没或않]|아니"
)
_PAST = re.compile(
    r"\b(?:picked|chose|chosen|played|selected|took|went|opened|was|were|had|did|last|past|"
    r"previous\w*|earlier|so far|history|rounds|(?:round|cycle|turn)s? \d+)\b"
)
_AGAIN = re.compile(r"\b(?:expect (?:it|them|that)|pick it|once more|likely to continue)\b")
_OTHERS = re.compile(r"\b(?:player|opponent|partner|they|them|their)\b")
_OPINION = re.compile(r"\bi (?:think|believe|expect|predict|assume|guess)\b")
_MINE = re.compile(r"\b(?:i|i'll|i'm|i'd|my|we|me|you|your)\b")


# --- options in a text ------------------------------------------------------------------------


class Mention(NamedTuple):
    """A mention of an option, or of a number that is not an option (key None), with its place."""

    key: int | None
    start: int
    end: int


Finds = Callable[..., list[Mention]]  # (text, prose=False)


@lru_cache(maxsize=512)
def _menu(names: tuple[str, ...], label: str, numbered: bool) -> Finds:
    """Return a function that finds a menu's option names in a text, with or without a noun such as
    "option" before them."""
    known: dict[str, int] = {}
    for place, name in enumerate(names):
        known.setdefault(" ".join(plain(name).split()).strip(" .,;:!") or name.casefold(), place)
    first = {name.split(" ", 1)[0] for name in known}
    shared = first if len(first) == 1 and all(" " in name for name in known) else set[str]()
    if shared:  # "Box 1", "Box 2": 1 is enough
        known |= {name.split(" ", 1)[1]: place for name, place in known.items()}
    for name, place in list(known.items()):  # "a game": game is enough
        known.setdefault(_ARTICLE.sub("", name), place)
    if numbered:
        known |= {str(place + 1): place for place in range(len(names))}
    nouns = {*NOUNS, *label.casefold().split(), *shared, "#"} - set(known)
    noun, said = (
        "|".join(re.escape(each) for each in sorted(group, key=len, reverse=True))
        for group in (nouns, known)
    )
    # A noun may touch a name that begins with a capital: OptionF.
    pattern = re.compile(
        rf"(?i)(?<!{_LETTER})(?<![$€£'])(?<!\w\.)"
        rf"(?:({noun})(?:[ /:]|(?<=#)|(?<=\w)(?-i:(?=[A-Z]))))?"
        rf"(?P<name>{said})(?!{_LETTER})(?!'\w)"
    )
    digits = any(name.isdigit() for name in known)

    def find(text: str, prose: bool = False) -> list[Mention]:
        out = list[Mention]()
        for hit in pattern.finditer(text):
            name, end = hit["name"], hit.end()
            if name.isdigit() and prose and numbered and hit[1] is None:
                continue  # "Agent 5", "Round 3", "2 points"
            if hit[1] is None and (
                _is_article(name, text, end) or _is_counted(text, hit.start(), name)
            ):
                continue
            part = name.isdigit() and _is_part(text, hit.start("name"), end)
            out.append(Mention(None if part else known[name.casefold()], hit.start(), end))
        if digits and not (prose and numbered):
            ends = {mention.end for mention in out}
            out += [
                Mention(None, hit.start(), hit.end())
                for hit in re.finditer(r"(?<!\w)\d+", text)
                if hit.end() not in ends and not _is_counted(text, hit.start(), hit[0])
            ]
        return out

    return find


def _is_article(name: str, text: str, end: int) -> bool:
    """Return whether a name is used as an ordinary word: `A player`, `I`, `no way`."""
    if name.casefold() == "no":
        return re.match(r" \w", text[end : end + 2]) is not None
    if name in ("a", "i", "I"):
        return name != text.strip(" .!") and not re.match(r" \w(?!\w)", text[end : end + 3])
    return name == "A" and re.match(r" [a-z]", text[end : end + 2]) is not None


_COUNTED = re.compile(r"(?i)\b(?:player|agent|round|turn|game|cycle|digit) #?$")


def _is_counted(text: str, start: int, name: str) -> bool:
    """Return whether digits are the number of something other than an option: `Player 1`, `Round
    15`."""
    return name.isdigit() and _COUNTED.search(text[max(0, start - 9) : start]) is not None


_PART_BEFORE = re.compile(r"(?:^|\W)[-+]$|\d[.,/:]$|\w[-+*/^]$")
_PART_AFTER = re.compile(r"[.,/:]\d| ?[%*^+]|-\d")


def _is_part(text: str, start: int, end: int) -> bool:
    """Return whether digits are part of a signed number, a fraction, a decimal or a percentage."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    return bool(_PART_BEFORE.search(before) or _PART_AFTER.match(after))


_NUMBER = re.compile(rf"(?<!\w)(\d+)(?:\.0+(?!\d))?(?!{_LETTER})")


def _numbers(low: int, high: int) -> Finds:
    """Return a function that finds whole numbers."""

    def find(text: str, prose: bool = False) -> list[Mention]:
        out = []
        for hit in _NUMBER.finditer(text):
            start, end = hit.span()
            if _is_counted(text, start, hit[1]):
                continue
            minus = low < 0 and re.search(r"(?<!\w)-$", text[max(0, start - 2) : start]) is not None
            value = (-1) ** minus * int(hit[1][:30])
            part = _is_part(text, start - minus, end) or not low <= value <= high
            out.append(Mention(None if part else value, start - minus, end))
        return out

    return find


# --- labelled values --------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _label(labels: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern that matches one of the labels at the end of the text before a colon."""
    said = "|".join(re.escape(each) for each in sorted(set(labels), key=len, reverse=True))
    return re.compile(rf"(?i)(?<!\w)(?:{said})(?: (?:is|number))? ?$")


def _last_lines(text: str) -> tuple[int, list[str]]:
    """Return the last lines of a text, and where they begin."""
    lines = text.rsplit("\n", MOST_LINES)[-MOST_LINES:]
    return len(text) - sum(map(len, lines)) - len(lines) + 1, lines


def _last_colons(line: str) -> Iterator[int]:
    """Yield the positions of the last colons and equals signs in a line, starting from its end."""
    at = len(line)
    for _ in range(MOST_LABELS):
        at = max(line.rfind(sign, 0, at) for sign in ":=：")
        if at < 0:
            return
        yield at


def _stated(text: str, label: str) -> list[tuple[int, str]]:
    """Return each labelled value with its end position. General labels are tried only if the game's
    own label is not found."""
    begin, lines = _last_lines(text)
    for labels in ((label.casefold(),), LABELS):
        pattern, found, at = _label(labels), list[tuple[int, str]](), begin
        for line in lines:
            end = at + len(line)
            for colon in _last_colons(line):
                start = max(0, colon - SHORT)
                hit = pattern.search(line[start:colon])
                before = line[: start + hit.start()] if hit else ""
                if hit is None or (
                    before.strip(" #>-–•.)(0123456789")
                    and not _LEADS.search(before[-40:].casefold())
                ):
                    continue
                value = line[colon + 1 :].lstrip()
                if not value.strip(" .:-"):  # the value is on the next line
                    rest = text[end:].lstrip("\n ")
                    value = rest.split("\n", 1)[0]
                    end = len(text) - len(rest) + len(value)
                found.append((end, value))
                break
            at += len(line) + 1
        if found:
            return found
    return []


def restated(reply: str, label: str) -> bool:
    """Return whether a reply gives its labelled answer several times with different values, of
    which only the last counts."""
    if "\n" not in reply:
        return False
    return len({value.strip(" .!").casefold() for _, value in _stated(unmarked(reply), label)}) > 1


def _bare(part: str, find: Finds) -> int | None:
    """Return the option if a part of a text consists of one option and nothing else."""
    if not 0 < len(part) <= SHORT or _ITEM.match(part):
        return None
    mentions = find(part)
    if not mentions or len({mention.key for mention in mentions}) > 1:
        return None
    for mention in sorted(mentions, reverse=True, key=lambda each: each.start):
        part = part[: mention.start] + part[mention.end :]
    return mentions[0].key if _UNIT.fullmatch(part) else None


def _value(text: str, find: Finds, theirs: bool) -> int | None:
    """Return the index of the option given by the text after a label (`label: text`), or None if
    the text gives no single option."""
    parts = [part for part in _BREAK.split(text, maxsplit=9) if part.strip(" .-")][:2]
    chosen = _bare(parts[0], find) if parts else None
    if chosen is None:
        return _named(text, find, theirs, few_words=0)
    follows = find(parts[1]) if len(parts) > 1 else []
    if follows and follows[0].key not in (None, chosen) and follows[0].start < 4:
        return None  # `R, S`, `1 (River)`
    if len(text) <= SHORT and doubtful(text) and len({m.key for m in find(text)}) > 1:
        return None  # `F, F or B`
    first = min(find(text[: 3 * SHORT]), key=lambda mention: mention.start, default=None)
    return chosen if first is not None and first.key == chosen else None  # `2.5`, `2%`


# --- sentences --------------------------------------------------------------------------------


def _named(text: str, find: Finds, theirs: bool, few_words: int | None = None) -> int | None:
    """Return the only option named in the last sentences, if one of these sentences chooses it.

    A reply of few words that names one option needs no verb.
    """
    most = FEW_WORDS if few_words is None else few_words
    core = _core(text, find) if len(text) <= MOST_LENGTH else text
    if (rest := _UNFINISHED.search(core)) and not find(rest[0]):
        core = core[: rest.start()]
    short = len(core) <= MOST_LENGTH and len(core.split()) <= most
    short = short and len({mention.key for mention in find(core)}) == 1
    named = [each for each in _sentences(text) if any(m.key is not None for m in find(each, True))]
    one: int | None = None
    for each in reversed(named[-MOST_SENTENCES:]):
        sentence = _core(each, find).strip()
        for clause in (sentence, _last_clause(sentence)):
            found = find(clause, True)
            keys = {mention.key for mention in found}
            if len(keys) != 1 or None in keys or (one is not None and one not in keys):
                continue
            part = clause is not sentence and len({m.key for m in find(sentence, True)}) > 1
            if not _allows(_masked(clause, found), theirs, part):
                continue
            if (
                short
                or _AGAIN.search(clause.casefold())
                or _CHOOSES.search(clause.casefold())
                or _IS.search(clause[: found[-1].start])
            ):
                return keys.pop() if short or _is_whole(text, find) else None
        if len(keys) != 1 or None in keys or (one is not None and one not in keys):
            return None
        (one,) = keys
        if _DENIES.search(_masked(sentence, find(sentence, True))):
            return None
    return None


def _core(text: str, find: Finds) -> str:
    """Return the text without asides, such as brackets and reasons; `, which is X` is kept if X is
    an option."""
    return _ASIDE.sub(
        lambda hit: hit[0] if hit[0].startswith(", which is") and find(hit[0], True) else " ", text
    )


def _masked(text: str, mentions: list[Mention]) -> str:
    """Return the text in lower case with every mention of an option replaced by `#`, so that an
    option called "no" is not read as a denial."""
    for mention in sorted(mentions, reverse=True, key=lambda each: each.start):
        text = text[: mention.start] + "#" + text[mention.end :]
    return text.casefold()


def _committed(text: str, find: Finds, theirs: bool) -> int | None:
    """Return the option that every statement of a choice (such as `I choose B`) names, or None if
    these statements differ or there are none."""
    chosen, right = set[int | None](), False
    for sentence in _sentences(text):
        found = [] if "?" in sentence else find(sentence, True)[:MOST_LABELS]
        for n, mention in enumerate(found):
            before = sentence[: mention.start].casefold()
            stated = _OBJECT.search(before[-SHORT:])
            if not stated or _DENIES.search(before) or _PAST.search(_last_clause(before)):
                continue
            clause = _last_clause(before)
            others, mine = _OTHERS.search(clause) is not None, _MINE.search(clause) is not None
            if not theirs and (others or not mine or "you" in clause):
                continue
            right = right or not theirs or others or not mine
            between = sentence[mention.end : found[n + 1].start] if found[n + 1 :] else ""
            chosen |= {mention.key, None if _AND.fullmatch(between) else mention.key}
    return chosen.pop() if len(chosen) == 1 and right and _is_whole(text, find) else None


def _sentences(text: str) -> list[str]:
    """Return the last sentences of a text; an empty list if one of them is too long to be read."""
    last = [hit[0] for hit in _SENTENCE.finditer(text, _last_lines(text)[0])][-MOST_LINES:]
    return [] if any(len(sentence) > MOST_LENGTH for sentence in last) else last


def _last_clause(sentence: str) -> str:
    return sentence[max(0, *(sentence.rfind(each) for each in (", ", " so ", " therefore "))) :]


def _is_whole(text: str, find: Finds) -> bool:
    """Return whether a text ends like a finished answer: with a full stop, an exclamation mark or a
    closing bracket or, if the text is short, with an option."""
    found = find(text[-SHORT:], True)
    return text.endswith((".", "!", ")", "。")) or (
        bool(found) and found[-1].end == len(text[-SHORT:]) and len(text) < 4 * SHORT
    )


def _allows(clause: str, theirs: bool, part: bool) -> bool:
    """Return whether a clause makes a clear choice for this turn, without denial or doubt.

    A part of a sentence that names several options must say whose choice it is.
    """
    if _DENIES.search(clause) or (_PAST.search(clause) and not _AGAIN.search(clause)):
        return False
    clause = _OPINION.sub("", clause) if theirs else clause
    others, mine = _OTHERS.search(clause) is not None, _MINE.search(clause) is not None
    return others or not mine if theirs else mine or not (others or part)


# --- the rule ---------------------------------------------------------------------------------


def _field(reply: str, label: str) -> str | None:
    """Return the answer field of the only JSON object in a reply, or None if there is none."""
    found = [each for each, _, _ in json_objects(without_thoughts(reply))] if "{" in reply else []
    if len(found) != 1:
        return None
    wanted = {label.casefold(), *LABELS}
    fields = [each for key, each in found[0].items() if key.casefold().replace("_", " ") in wanted]
    if len(fields) == 1 and isinstance(fields[0], str | int) and not isinstance(fields[0], bool):
        return str(fields[0])
    return None


def _read(reply: str, find: Finds, label: str, theirs: bool) -> int | None:
    """Return the option or number that the reply rule reads in a reply, or None."""
    if (field := _field(reply, label)) is not None:
        return _value(unmarked(field), find, theirs)
    text = unmarked(reply)
    if label[:1].isupper():  # `pickOption J`
        glued = rf"(?<=[a-zß-ÿ])(?={re.escape(label)}(\W))"
        text = re.sub(glued, lambda hit: "\n" if hit[1] == ":" else " ", text)
    stated, bare = _stated(text, label), _bare_lines(text, find)
    if not stated or (_value(stated[-1][1], find, theirs) is None and bare[-1:] > stated[-1:]):
        alone = {_bare(line, find) for _, line in bare}
        if len(alone) == 1:
            return alone.pop()
        named = _named(text, find, theirs)
        return _committed(text, find, theirs) if named is None else named
    end, value = stated[-1]
    chosen = _value(value, find, theirs)
    later = {_bare(line, find) for at, line in bare if at > end}
    if not theirs:
        later.add(_named(text[end:], find, theirs, few_words=0))
    return None if later - {chosen, None} else chosen


def _bare_lines(text: str, find: Finds) -> list[tuple[int, str]]:
    """Return the lines, and the opening sentence, that consist of one option and nothing else."""
    at, last = _last_lines(text)
    lines = [((at := at + len(line) + 1) - 1, line) for line in last]
    opening = re.match(r"[^.!\n]{1,60}[.!](?=\s)", text)
    keys = {m.key for m in find(text[:MOST_LENGTH], True)}
    if not opening and "?" not in text and len(keys) == 1:
        opening = re.match(r"[^.!,:\n]{1,60},", text)  # `No, it will not.`
    if any(_ITEM.match(line[:SHORT]) for _, line in lines):  # a list may have been cut
        lines = [each for each in lines if not each[1].strip(" .)").isdigit()]
    if opening and not _ITEM.match(text):
        lines.insert(0, (opening.end(), opening[0].rstrip(",")))
    return [
        each for each in lines if not each[1].endswith(":") and _bare(each[1], find) is not None
    ]


_read_short = lru_cache(maxsize=4096)(_read)


def forget_readings() -> None:
    """Clear the caches, so that a benchmark can switch off one clause of the reading rule."""
    for cached in (_read_short, _menu, _label):
        cached.cache_clear()


def read_choice(reply: str, names: Sequence[str], label: str, theirs: bool = False) -> int:
    """Return the index of the one name that a reply gives.

    With `theirs`, the question is about others, so `They will pick J.` answers it.

    Raises:
        Unreadable: the reply gives no name, or several; the message says what is expected.
    """
    whole = reply.strip().removeprefix(f"{label}:").strip()
    if names.count(whole) == 1:  # a name that is a sentence is compared as a whole
        return names.index(whole)
    chosen = _chosen(reply, _menu(tuple(names), label, False), label, theirs)
    if chosen is None:
        raise Unreadable(f"Answer with `{label}:` and exactly one of {listed(names, 'or')}.")
    return chosen


def read_numbered(reply: str, names: Sequence[str], label: str) -> int:
    """Return the index of the one option that a reply names, by number from 1, name, or both."""
    if names.count(reply.strip()) == 1:
        return names.index(reply.strip())
    chosen = _chosen(reply, _menu(tuple(names), label, True), label, True)
    if chosen is None:
        taught = listed([f"{n} ({name})" for n, name in enumerate(names, 1)], "or")
        raise Unreadable(f"Answer with `{label}:` and exactly one number: {taught}.")
    return chosen


def read_number(reply: str, low: int, high: int, label: str, theirs: bool = False) -> int:
    """Return the one whole number from `low` to `high` that a reply gives.

    Raises:
        Unreadable: the reply gives no such number, or several.
    """
    found = _read(reply, _numbers(low, high), label, theirs)
    if found is None:
        raise Unreadable(
            f"Answer with `{label}:` and exactly one whole number from {low} to {high}."
        )
    return found


def _chosen(reply: str, find: Finds, label: str, theirs: bool) -> int | None:
    return (_read_short if len(reply) <= SHORT else _read)(reply, find, label, theirs)


def read_each(reply: str, wanted: Sequence[Sequence[str]], label: str) -> list[int | None]:
    """Return, for each question, the index of the name under `label 1:`, `label 2:` ..., or None.

    A single question needs no number, and numbers may be left out if every question has a line.
    """
    marked = re.compile(rf"(?i)[\W\d]*{re.escape(label)}\W{{0,2}}(\d*)\W{{0,2}}[:=](.*)")
    lines = unmarked(reply).split("\n")
    found = [hit.groups() for line in lines if (hit := marked.fullmatch(line))]
    if found and len(found) == len(wanted) and not any(number for number, _ in found):
        found = [(str(n), said) for n, (_, said) in enumerate(found, 1)]
    answers: list[int | None] = []
    for n, names in enumerate(wanted, 1):
        mine = [said for number, said in found if number == str(n) or (not number and n == 1)]
        mine = mine if len(wanted) > 1 else [said for _, said in found]
        answers.append(_value(mine[-1], _menu(tuple(names), label, False), True) if mine else None)
    return answers
