"""Questions to appeals: what a message asks of the other's likes, knowledge and choice."""

import itertools
import re
from collections.abc import Iterator

import msgspec

from sally.games.mindgames.reading import patterns
from sally.games.mindgames.reading.groups import Rows, Topic, grouped
from sally.games.mindgames.reading.tokens import Sentence, Token

Columns = tuple[int, ...]
Cells = tuple[tuple[int, int], ...]


class Appeals(msgspec.Struct, frozen=True):
    """What one question asks about."""

    motivational: Columns = ()
    informational: Cells = ()
    inferential: Rows = ()


class Clause(msgspec.Struct, frozen=True):
    """One question: its shape (names replaced by P and T) and the names in it."""

    shape: str
    rows: Rows
    columns: Columns


class Asking(msgspec.Struct, frozen=True):
    """What a question can lean on: the topic, the last reply, the size of the game."""

    topic: Topic
    reply: Columns  # attributes the last reply said it likes or dislikes
    ranked: bool  # did the last reply rank the proposals?
    stated: Cells  # what this message has told so far
    news: Cells  # what this sentence tells, in a message that asks for an answer
    everyone: Rows
    everything: Columns


def appeals(sentence: Sentence, at: Asking) -> Appeals:
    """What a sentence asks; empty when it asks nothing that the target can answer."""
    tokens = grouped(sentence.tokens, at.topic, len(at.everyone))
    text = shape(tokens)
    if not asks(sentence, text):
        return Appeals(informational=at.news if patterns.NEWS.search(text) else ())
    found = [_ask(c, at) for c in clauses(tokens, text) if sentence.asks or asks(sentence, c.shape)]
    return Appeals(
        motivational=tuple(sorted({c for f in found for c in f.motivational})),
        informational=tuple(sorted({c for f in found for c in f.informational})),
        inferential=tuple(sorted({r for f in found for r in f.inferential})),
    )


def shape(tokens: tuple[Token, ...]) -> str:
    """The sentence with every proposal written P and every attribute written T."""
    signs = {"proposal": "P", "attribute": "T"}
    text = " ".join(signs.get(t.sort, t.text) for t in tokens)
    return text.replace("the system", "you")


def asks(sentence: Sentence, text: str) -> bool:
    """Does it ask: by its mark, its first words, a question inside, or a demand?"""
    if sentence.asks:
        return True
    if patterns.OFFER.search(text):
        return False
    return bool(
        patterns.OPENS.match(text) or patterns.INNER.search(text) or patterns.DEMANDS.search(text)
    )


def clauses(tokens: tuple[Token, ...], text: str) -> Iterator[Clause]:
    """The questions joined in one sentence, each with the names it holds."""
    names = iter([t for t in tokens if t.sort in ("proposal", "attribute")])
    cuts = [0, *(m.end() for m in patterns.SPLIT.finditer(text)), len(text)]
    for start, end in itertools.pairwise(cuts):
        asked = _main(text[start:end])
        held = [next(names) for _ in re.findall(r"\b[PT]\b", text[start:end])]
        held = held[len(held) - len(re.findall(r"\b[PT]\b", asked)) :]
        if patterns.OR_ELSE.match(asked) and start:
            continue
        if end < len(text) and patterns.ADMITS.match(asked):
            continue
        yield Clause(
            shape=asked.strip(),
            rows=tuple(sorted({r for t in held for r in t.rows})),
            columns=tuple(sorted({t.column for t in held if t.sort == "attribute"})),
        )


def _main(text: str) -> str:
    """The question itself, without the clause that leads up to it: `since ..., would you ...?`"""
    starts = [m.start(1) for m in patterns.MAIN.finditer(text)]
    if not starts or patterns.ABOUT_FIRST.match(text):
        return text
    main = text[starts[-1] :]
    return main if re.search(r"\b[PT]\b", main) or not patterns.OPENS.match(text) else text


def _ask(clause: Clause, at: Asking) -> Appeals:
    text = clause.shape
    if patterns.BARE_WHY.match(text):
        return _why(at)
    if _asks_knowledge(text):
        return _knowledge(clause, at)
    if patterns.FACT.match(text) and clause.columns and not patterns.YOURS.search(text):
        return Appeals(informational=_cross(clause.rows, clause.columns))
    if patterns.IS_IT.match(text) and clause.columns:
        return Appeals(clause.columns, _cross(at.topic.rows[:1], clause.columns))
    if clause.rows:
        return _about_proposals(clause, at)
    if clause.columns:
        likes = clause.columns if patterns.LIKES.search(text) else ()
        return Appeals(motivational=likes)
    return _general(text, at)


def _asks_knowledge(text: str) -> bool:
    """`What do you know`, but not `now that you know` or `let me know`."""
    heard = patterns.TO_KNOW.sub("tell", text)
    known = patterns.ALREADY.search(text) or patterns.MATTERS.search(text)
    return bool(patterns.KNOWS.search(heard)) and not known


def _knowledge(clause: Clause, at: Asking) -> Appeals:
    """What is known of the named cells; of all where a name is missing; of `that` just said."""
    if not clause.rows and not clause.columns and patterns.JUST_THAT.search(clause.shape):
        return Appeals(informational=_cross(at.topic.rows, at.topic.columns[-1:]))
    likes = at.everything if patterns.KNOW_AND_LIKE.search(clause.shape) else ()
    cells = _cross(clause.rows or at.everyone, clause.columns or at.everything)
    return Appeals(motivational=likes, informational=cells)


def _cross(rows: Rows, columns: Columns) -> tuple[tuple[int, int], ...]:
    return tuple((r, c) for r in rows for c in columns)


def _why(at: Asking) -> Appeals:
    """A bare `why?` asks for the reasons of what the target just said."""
    if at.ranked:
        return Appeals(at.everything, _cross(at.everyone, at.everything), at.everyone)
    return Appeals(motivational=at.reply)


def _about_proposals(clause: Clause, at: Asking) -> Appeals:
    """A question that names proposals asks for their rank, some ask for reasons as well."""
    text = clause.shape
    if not clause.columns and patterns.LIKE_OF.search(text):
        return Appeals(motivational=at.everything, inferential=clause.rows)
    if not clause.columns and patterns.LIKE_ABOUT.search(text):
        return Appeals(at.everything, _cross(clause.rows, at.everything))
    reasons = patterns.ABOUT.search(text) or patterns.THINK_OF.search(text)
    if reasons and not clause.columns and len(clause.rows) == 1:
        opinion = patterns.THINK_OF.search(text)
        return Appeals(
            at.everything, () if opinion else _cross(clause.rows, at.everything), clause.rows
        )
    if patterns.HOW_ABOUT.search(text):
        return Appeals((), _cross(clause.rows, at.everything), clause.rows)
    weighed = clause.columns if patterns.WEIGHS.search(text) else ()
    cells = _cross(clause.rows, clause.columns)
    if not patterns.EFFECT.search(text) or patterns.URGES.search(text):
        return Appeals(motivational=weighed, inferential=clause.rows)
    told = tuple(c for c in cells if c in at.stated) or cells
    ranked = clause.rows if patterns.RANKS.search(text) else ()
    return Appeals(motivational=weighed, informational=told, inferential=ranked)


def _general(text: str, at: Asking) -> Appeals:
    """A question without names."""
    if patterns.POINTS_BACK.search(text) and at.topic.columns:
        return Appeals(motivational=at.topic.columns)
    if patterns.WANTS_ALL.search(text) or (
        patterns.CRITERIA.search(text) and patterns.LIKES.search(text)
    ):
        return Appeals(motivational=at.everything)
    if patterns.PRONOUN.search(text):
        return Appeals(motivational=at.topic.columns[-2:] if not at.reply else at.reply)
    if patterns.THIS_CHANGES.search(text):
        rows = tuple(sorted({row for row, _ in at.stated})) or at.topic.pair or at.topic.rows
        return Appeals(informational=at.stated, inferential=rows)
    if patterns.WHICH_ONE.search(text):
        return Appeals(inferential=at.everyone)
    if patterns.AGREE.search(text):
        return Appeals(inferential=at.topic.pair or at.topic.rows)
    return Appeals()
