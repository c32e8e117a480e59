"""Proposals as they are talked about: lists, `both`, `the others`, `it`."""

import msgspec

from sally.games.mindgames.reading import lexicon
from sally.games.mindgames.reading.lexicon import JOINS, NOUNS
from sally.games.mindgames.reading.tokens import Token

Rows = tuple[int, ...]
TELLING = lexicon.CONTRASTS | {"is"}
SKIPPED = lexicon.FILLERS | NOUNS


class Topic(msgspec.Struct, frozen=True):
    """What was talked about last, for pronouns: proposals and attributes."""

    rows: Rows = ()
    pair: Rows = ()
    columns: tuple[int, ...] = ()


def grouped(tokens: tuple[Token, ...], topic: Topic, proposals: int) -> tuple[Token, ...]:
    """Tokens with lists of proposals joined and words like `others` or `it` resolved."""
    everyone = tuple(range(proposals))
    out: list[Token] = []
    last: Rows = topic.rows
    probe_session: list[int] = []
    i = 0
    while i < len(tokens):
        token = tokens[i]
        aside = _word_before(out) in lexicon.ASIDES
        rest = [t.text for t in tokens[i + 1 : i + 4]]
        rows: Rows = ()
        end = i + 1
        if token.sort == "proposal":
            rows, end = _list(tokens, i, _word_before(out) not in lexicon.ASIDES | {"over"})
            last = last if aside and last else rows
        elif _means_others(token.text, rest) and 0 < len(last) < proposals:
            if not any(t.sort == "proposal" for t in tokens[i : i + 5]):
                rows = tuple(r for r in everyone if r not in last)
        elif token.text in ("all", "each", "every") and any(w in NOUNS for w in rest[:3]):
            rows = everyone
        elif token.text == "both" and topic.pair and not out:
            rows = topic.pair
        elif (
            token.text in ("it", "they", "its")
            and last
            and _opens_clause(out, probe_session)
            and (not out or out[-1].text in lexicon.BEFORE_IT)
            and _word_before(out) != "is"
        ):
            rows = last
        plain = token.sort == "proposal" and not any(t.text == "or" for t in tokens[i:end])
        plain = plain or (token.text in ("it", "its") and not _several(rows, out, topic))
        out.append(Token("proposal", token.text, rows=rows, plain=plain) if rows else token)
        if rows and aside:
            probe_session.append(len(out) - 1)
        i = end
    return tuple(out)


def _means_others(word: str, rest: list[str]) -> bool:
    if word in ("others", "alternatives"):
        return True
    return word in lexicon.OTHERS and any(w in NOUNS | {"two", "ones"} for w in rest[:2])


def _word_before(out: list[Token]) -> str:
    for token in reversed(out):
        if token.text in TELLING or token.text not in SKIPPED:
            return token.text
    return ""


def _opens_clause(out: list[Token], probe_session: list[int]) -> bool:
    """Can `it` be a proposal here: nothing before it in the sentence but small words and asides?"""
    return not any(
        t.sort in ("proposal", "attribute", "direction")
        for at, t in enumerate(out)
        if at not in probe_session
    )


def _several(rows: Rows, out: list[Token], topic: Topic) -> bool:
    """Could `it` be another proposal too?"""
    named = {row for t in out if t.sort == "proposal" for row in t.rows}
    return bool((named or set(topic.pair)) - set(rows))


def _list(tokens: tuple[Token, ...], i: int, commas: bool) -> tuple[Rows, int]:
    """Proposals joined by commas, `and`, `or` and the like, and the position after them."""
    rows = list(tokens[i].rows)
    end = j = i + 1
    while j < len(tokens):
        if tokens[j].sort == "proposal":
            rows += tokens[j].rows
            end = j = j + 1
        elif tokens[j].text in JOINS and (commas or tokens[j].text != ","):
            j += 1
        else:
            break
    return tuple(sorted(set(rows))), end
