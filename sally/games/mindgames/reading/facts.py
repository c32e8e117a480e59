"""Statements to disclosures: which proposal moves which attribute, and which way."""

import msgspec

from sally.games.mindgames.reading import around, lexicon
from sally.games.mindgames.reading.groups import Rows, Topic, grouped
from sally.games.mindgames.reading.lexicon import Allowed
from sally.games.mindgames.reading.tokens import Sentence, Token


class Fact(msgspec.Struct, frozen=True):
    """A statement that the proposal in this row moves the attribute in this column.

    Plain words stand whatever the truth is. What is only `likely` meant is dropped where it would
    be false, so that a loose phrase does not make a liar of its speaker; what is plainly said of
    something `doubtful` (`B or C`, an `it` that may be either) is asked back where it would be.
    """

    row: int
    column: int
    allowed: Allowed
    likely: bool = False
    doubtful: bool = False


def facts(sentence: Sentence, topic: Topic, proposals: int) -> tuple[tuple[Fact, ...], Topic]:
    """The facts a sentence states, and what the next sentence's pronouns refer to."""
    walk = _Walk(sentence, topic, proposals)
    if not enquires(sentence):
        walk.run()
    if walk.orphans and not walk.found and topic.rows and _continues(sentence):
        walk.found += [Fact(r, c, a, likely=True) for c, a in walk.orphans for r in topic.rows]
    columns = tuple(t.column for t in sentence.tokens if t.sort == "attribute")
    named = [t.rows for t in walk.tokens if t.sort == "proposal"]
    return tuple(walk.found), Topic(
        rows=walk.subject or (named[-1] if named else topic.rows),
        pair=_pair(named, topic),
        columns=columns or topic.columns,
    )


def _pair(named: list[Rows], topic: Topic) -> Rows:
    """The two proposals named last, if the sentence named just two."""
    rows = tuple(sorted({row for group in named for row in group}))
    return rows if len(rows) == 2 else (() if rows else topic.pair)


def enquires(sentence: Sentence) -> bool:
    """Is the sentence as a whole a yes-or-no question about facts: `does A raise X?`"""
    words = [t.text for t in sentence.tokens[:4]]
    if not sentence.asks or not words:
        return False
    if words[:3] in (["do", "you", "know"], ["are", "you", "aware"]):
        return any(t.text in ("if", "whether", "how", "what") for t in sentence.tokens)
    return words[0] in lexicon.ASKERS and words[1:2] not in (["not"], ["you"])


def _continues(sentence: Sentence) -> bool:
    """Does the sentence go on about the proposal before it?"""
    first = sentence.tokens[0]
    if first.sort == "direction":
        return not first.text.endswith("ing")
    if first.text in ("while", "although", "though"):
        return len(sentence.tokens) > 1 and sentence.tokens[1].sort == "attribute"
    if first.text in lexicon.ARTICLES and not sentence.asks:
        return any(t.sort == "direction" for t in sentence.tokens[1:4])
    return first.text in lexicon.CONTINUERS


def turned(allowed: Allowed, denied: bool) -> Allowed:
    """What is left of a direction when it is denied: `not increase` is no rise, maybe a fall."""
    if not denied:
        return allowed
    if allowed == lexicon.UP:
        return lexicon.NOT_UP
    if allowed == lexicon.DOWN:
        return lexicon.NOT_DOWN
    return lexicon.DOWN if allowed == lexicon.NOT_DOWN else allowed


def opposite(allowed: Allowed) -> Allowed:
    """What holds of the others when a denial sets a proposal apart from them."""
    return {lexicon.NOT_UP: lexicon.UP, lexicon.NOT_DOWN: lexicon.DOWN}.get(allowed, ())


class _Walk:
    """One pass over a sentence, left to right; made and dropped inside `facts`."""

    def __init__(self, sentence: Sentence, topic: Topic, proposals: int) -> None:
        self.tokens = grouped(sentence.tokens, topic, proposals)
        self.asks = sentence.asks
        self.respective = any(t.text == "respectively" for t in sentence.tokens)
        self.topic = topic
        self.subject: Rows = ()
        self.subject_at = -1
        self.moved_at = -1  # the direction word in force
        self.pronoun_at = -1  # the `it` before it, where that stands for the subject
        self.found: list[Fact] = []
        self.orphans: list[tuple[int, Allowed]] = []
        self.active: Allowed = ()
        self.held: Allowed = ()  # the active direction outside the brackets
        self.keeps = False  # the last direction word said what is kept up: aim as often as effect
        self.fresh = False  # the next attribute belongs to the active direction for certain
        self.wished = False  # what follows is wanted or supposed, not stated
        self.taken: set[int] = set()  # attributes already moved by a direction before them
        self.vague = False  # the compared proposals were not named one by one
        self.compared: tuple[str, Rows] = ("", ())
        self.last: tuple[int, Allowed] | None = None

    def run(self) -> None:
        for i, token in enumerate(self.tokens):
            if token.sort == "proposal":
                self.proposal(i, token)
            elif token.sort in ("direction", "touch"):
                self.direction(i, token)
            elif token.sort == "attribute":
                self.attribute(i)
            elif token.sort == "deny":
                self.active = ()
                self.ellipsis(i)
                self.nothing(i)
            elif token.text in ("(", ")"):
                self.aside(token.text)
            elif token.text in lexicon.ECHOES:
                self.echo(i)
            elif token.text in lexicon.LINKS:
                self.active = ()
                self.wished = token.text == "if"
            elif token.text in lexicon.DESIRES:
                self.wished = True
            elif self.states_again(token):
                self.wished = False

    def aside(self, bracket: str) -> None:
        """What stands in brackets does not end the list around it."""
        if bracket == "(":
            self.held = self.active
        else:
            self.active, self.wished = self.held, False

    def states_again(self, token: Token) -> bool:
        """Does what is stated go on after a wish: `A raises X, which you like, and lowers Y`?"""
        if token.text in ("and", "also"):
            return self.last is not None
        return bool(self.subject) and token.text in (",", "-", ":", "by")

    # proposals

    def proposal(self, i: int, token: Token) -> None:
        before = around.word_before(self.tokens, i)
        if (
            before in lexicon.CONTRASTS
            and not around.speaks_next(self.tokens, i)
            and not self.inside(i)
        ):
            self.compared = (before, token.rows)
            self.vague = token.text in lexicon.OTHERS
            if self.last and before in ("unlike", "like") and not around.leads(self.tokens, i):
                self.compare(*self.last)
            return
        if self.orphans and not self.subject and (self.inside(i) or self.claims_orphans(before)):
            self.found += [Fact(r, c, a, likely=True) for c, a in self.orphans for r in token.rows]
            self.orphans = []
        self.subject = token.rows
        self.subject_at = i
        self.active = ()
        self.wished = before in lexicon.SUPPOSES

    def inside(self, i: int) -> bool:
        """`growth, as in B`: the effect is in the proposal."""
        if not self.orphans or not i:
            return False
        does = i + 1 < len(self.tokens) and self.tokens[i + 1].text in lexicon.ECHOES
        return around.noun_skipped(self.tokens, i - 1) in ("in", "under", "with") or (
            around.noun_skipped(self.tokens, i - 1) == "as" and does
        )

    def claims_orphans(self, before: str) -> bool:
        """`less trust under B`, `by raising trust, A ...`: the proposal comes after its effects."""
        return before in lexicon.THROUGH or self.tokens[0].text in lexicon.OPENERS

    def compare(self, column: int, allowed: Allowed) -> None:
        """`A does not raise X, unlike B`: B does. `A raises X like B`: B does too."""
        how, rows = self.compared
        others = opposite(allowed) if len(allowed) > 1 else (allowed if how == "like" else ())
        if others and rows != self.subject and not self.vague:
            self.found += [Fact(row, column, others, likely=True) for row in rows]
        self.compared = ("", ())

    # directions

    def direction(self, i: int, token: Token) -> None:
        self.keeps = token.allowed == lexicon.NOT_DOWN
        allowed = self.meaning(i, token)
        if not allowed:
            return
        self.moved_at = i
        if self.hedged(i):
            self.active = ()
            return
        ahead = around.next_attribute(self.tokens, i)
        if ahead == "far" and token.allowed == lexicon.NOT_DOWN:
            ahead = "none"  # `ensures responsible use of speed` says nothing of speed
        behind = around.attribute_behind(self.tokens, i)
        if ahead == "near" or (ahead == "far" and behind is None):
            self.active = allowed
            self.fresh = ahead == "near" and not token.text.startswith("risk")
        elif behind is not None:
            no = around.denied(self.tokens, behind, self.asks) and not around.denied(
                self.tokens, i, self.asks
            )
            self.subject = around.owner(self.tokens, i) or self.subject
            for position in around.list_before(self.tokens, behind, self.taken):
                self.emit(position, turned(allowed, no), likely=self.keeps)
            self.active = ()
        else:
            self.active = ()
            self.pronoun(i, allowed)

    def meaning(self, i: int, token: Token) -> Allowed:
        """What the direction word allows, counting a denial before it and an `or` after it."""
        no = around.denied(self.tokens, i, self.asks)
        if token.sort == "touch":
            before = self.tokens[i - 1].text if i else ""
            return lexicon.SAME if no or before.startswith("minimi") else ()
        if [t.text for t in self.tokens[i + 1 : i + 2]] == ["or"] and i + 2 < len(self.tokens):
            other = self.tokens[i + 2]
            if other.sort == "direction" and not no:
                return tuple(dict.fromkeys(token.allowed + other.allowed))
            if other.sort == "direction":
                return lexicon.SAME
        if i > 1 and self.tokens[i - 1].text in ("or", "nor") and self.moves(i - 2):
            either = tuple(dict.fromkeys(self.tokens[i - 2].allowed + token.allowed))
            return lexicon.SAME if no else either
        return turned(token.allowed, no)

    def moves(self, i: int) -> bool:
        return self.tokens[i].sort == "direction"

    def hedged(self, i: int) -> bool:
        """`added safety can hinder speed`: a supposed consequence, no effect of the proposal."""
        at = next((j for j in range(i - 1, max(-1, i - 4), -1) if self.is_modal(j)), -1)
        if at < 1 or self.tokens[at - 1].text in ("it", "they"):
            return False
        return any(t.sort == "attribute" for t in self.tokens[self.subject_at + 1 : i])

    def is_modal(self, i: int) -> bool:
        return self.tokens[i].text in lexicon.MODALS

    def pronoun(self, i: int, allowed: Allowed) -> None:
        """`raises it`, `has no effect on them`, `cuts both`: what was named before."""
        rest = [t.text for t in self.tokens[i + 1 : i + 5] if t.text not in lexicon.STEPS]
        seen = tuple(t.column for t in self.tokens[:i] if t.sort == "attribute")
        known = seen or self.topic.columns
        if self.tokens[i].text in lexicon.WEAK:
            return
        if (
            seen
            and self.subject_at > 0
            and around.noun_skipped(self.tokens, self.subject_at - 1) == "which"
        ):
            self.emit_column(seen[-1], allowed)
        elif not known:
            return
        elif not rest or rest[0] in (",", "-", ")"):
            if self.last and self.subject_at > 0:
                self.emit_column(self.last[0], allowed)
        elif rest[0] in ("it", "this") or lexicon.SIDES.intersection(rest[:2]):
            self.emit_column(known[-1], allowed)
        elif rest[0] in ("both", "them", "these"):
            pair = dict.fromkeys(reversed((*self.topic.columns, *seen)))
            for column in list(pair)[:2]:
                self.emit_column(column, allowed)

    def ellipsis(self, i: int) -> None:
        """`A raises X, while C does not`: C does not raise X."""
        ends = i + 1 == len(self.tokens) or self.tokens[i + 1].sort == "mark"
        fresh = self.subject_at >= 0 and all(
            t.text in lexicon.AUXILIARY for t in self.tokens[self.subject_at + 1 : i]
        )
        if ends and fresh and self.last and len(self.last[1]) == 1:
            column, allowed = self.last
            self.found += [
                Fact(row, column, turned(allowed, True), likely=True) for row in self.subject
            ]

    def nothing(self, i: int) -> None:
        """`does nothing for trust`: it leaves it as it is."""
        after = self.tokens[i + 1].text if i + 1 < len(self.tokens) else ""
        if self.tokens[i].text == "nothing" and after in ("for", "to", "about"):
            self.active, self.fresh = lexicon.SAME, True

    def echo(self, i: int) -> None:
        """`A does not raise X, unlike C, which does`: C raises X."""
        ends = i + 1 == len(self.tokens) or self.tokens[i + 1].sort == "mark"
        between = self.tokens[self.subject_at + 1 : i]
        clean = all(t.sort == "mark" or t.text in ("which", "that") for t in between)
        if ends and self.last and self.subject_at >= 0 and clean:
            column, allowed = self.last
            if opposite(allowed):
                self.found += [
                    Fact(row, column, opposite(allowed), likely=True) for row in self.subject
                ]

    # attributes

    def attribute(self, i: int) -> None:
        bargained = i > 0 and self.tokens[i - 1].text == "for" and not self.fresh
        if (
            self.active
            and not bargained
            and (self.fresh or not around.moved_behind(self.tokens, i))
        ):
            self.subject = around.owner(self.tokens, i) or self.subject
            loose = not (self.fresh or self.listed(i))
            self.emit(i, self.active, likely=self.keeps or loose)
        self.fresh = False

    def listed(self, i: int) -> bool:
        """Is the attribute the next of a list: `raises X, the Y and Z`?"""
        for back in range(i - 1, -1, -1):
            token = self.tokens[back]
            if token.sort == "attribute":
                return True
            if token.text not in lexicon.JOINS | lexicon.FILLERS:
                return False
        return False

    def emit(self, position: int, allowed: Allowed, *, likely: bool) -> None:
        self.taken.add(position)
        token = self.tokens[position]
        sides = tuple(-u for u in allowed) if token.inverse else allowed
        start = around.pronoun_near(self.tokens, self.subject_at, self.moved_at)
        self.pronoun_at = start if start != self.subject_at else -1
        loose = likely or not (
            token.plain
            and around.plainly(self.tokens, start, position, self.moved_at)
            and not around.measured(self.tokens, max(position, self.moved_at))
            and not any(map(self.is_modal, range(self.subject_at + 1, self.moved_at)))
        )
        self.emit_column(token.column, sides, likely=loose)

    def sure(self) -> bool:
        """Is it beyond doubt which proposal is meant?"""
        if self.subject_at < 0:
            return True
        if self.pronoun_at > 0:
            before = self.tokens[: self.pronoun_at]
            return len({r for t in before if t.sort == "proposal" for r in t.rows}) < 2
        return self.tokens[self.subject_at].plain

    def emit_column(self, column: int, allowed: Allowed, *, likely: bool = True) -> None:
        if self.wished:
            return
        self.last = (column, allowed)
        if self.subject:
            doubtful = not likely and (self.respective or not self.sure())
            self.found += [Fact(row, column, allowed, likely, doubtful) for row in self.subject]
        else:
            self.orphans.append((column, allowed))
        if self.compared[0] in ("unlike", "like"):
            self.compare(column, allowed)
