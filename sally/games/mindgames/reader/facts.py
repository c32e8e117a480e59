"""From statements to disclosures: which proposal moves which attribute, and in which direction."""

from __future__ import annotations

import msgspec

from sally.games.mindgames.reader import lexicon
from sally.games.mindgames.reader.lexicon import Allowed
from sally.games.mindgames.reader.tokens import Rows, Sentence, Token, Topic, group_proposals

Tokens = tuple[Token, ...]
SKIPPED = lexicon.FILLERS | lexicon.NOUNS


def text_at(tokens: Tokens, i: int) -> str:
    """Return the word at position i; "" outside the sentence."""
    return tokens[i].text if 0 <= i < len(tokens) else ""


def noun_skipped(tokens: Tokens, i: int) -> str:
    """Return the word at position i or, if that is a noun such as `proposal`, the word before
    it."""
    return text_at(tokens, i - 1 if i and tokens[i].text in lexicon.NOUNS else i)


def word_before(tokens: Tokens, i: int) -> str:
    """Return the last word before position i that is not a filler."""
    for back in range(i - 1, -1, -1):
        word = tokens[back].text
        if word == "like" and back and tokens[back - 1].text in lexicon.SEEMS:
            return "seems"
        if word in lexicon.CONTRASTS or word not in SKIPPED:
            return word
    return ""


def ends(tokens: Tokens, i: int) -> bool:
    """Return whether position i holds the last word of its clause."""
    return i + 1 == len(tokens) or tokens[i + 1].sort == "mark"


def leads(tokens: Tokens, i: int) -> bool:
    """Return whether a comparison refers to the words that follow: `unlike B, it ...`."""
    next_tokens = [t.text for t in tokens[i + 1 : i + 3]]
    return (
        len(next_tokens) == 2
        and next_tokens[0] == ","
        and next_tokens[1] in ("it", "they", "proposal")
    )


def speaks_next(tokens: Tokens, i: int) -> bool:
    """Return whether a contrasted proposal has its own clause: `unlike B, which ...`."""
    next_tokens = [t for t in tokens[i + 1 : i + 4] if t.text not in (",", "(")]
    if next_tokens and next_tokens[0].text in ("which", "that", "'s"):
        return True
    if noun_skipped(tokens, i - 1) != "as" or not next_tokens:
        return False
    return (
        next_tokens[0].sort == "direction"
        or (  # `as C will raise it`, but not `as C does`
            next_tokens[0].text in lexicon.AUXILIARY
            and any(t.sort == "direction" for t in next_tokens[1:])
        )
    )


def is_denied(tokens: Tokens, i: int, asks: bool) -> bool:
    """Return whether a negation precedes position i closely, within the same clause."""
    for back in range(i - 1, max(-1, i - 8), -1):
        token = tokens[back]
        if token.sort == "deny":
            return not rhetorical(tokens, back, asks)
        if token.sort == "proposal":
            return word_before(tokens, back) in ("neither", "none", "no")
        joined = token.sort == "direction" and tokens[back + 1].text in ("or", "nor")
        if token.sort in ("direction", "attribute") and not joined:
            return False
        if token.text in (",", "but", "and", "instead") or token.text in lexicon.ENDS_DENIAL:
            return False
    return False


def rhetorical(tokens: Tokens, i: int, asks: bool) -> bool:
    """Return whether a denial is only rhetorical: `Isn't A better`, `doesn't it`."""
    if not asks or not i or tokens[i - 1].text not in lexicon.AUXILIARY:
        return False
    return i == 1 or tokens[i - 2].sort == "mark" or tokens[i - 2].text in (
        "but", "and", "then", "so", "why",
    )  # fmt: skip


def next_attribute(tokens: Tokens, i: int) -> str:
    """Return the distance of the next attribute: `is_near` (only filler words in between), `far`,
    or `none`."""
    is_near = True
    for token in tokens[i + 1 :]:
        if token.sort == "attribute":
            return "near" if is_near else "far"
        if token.sort in ("proposal", "direction") or token.text in lexicon.LINKS:
            return "none"
        if token.sort == "touch" or token.text in lexicon.FILLERS:
            continue
        if token.sort == "deny" or token.text in (",", ":", "-"):
            return "none"
        is_near = False
    return "none"


def attribute_behind(tokens: Tokens, i: int) -> int | None:
    """Return the position of the attribute just before a direction word: `trust will fall`."""
    for back in range(i - 1, -1, -1):
        token = tokens[back]
        if token.sort == "attribute":
            return back
        if token.text not in lexicon.AUXILIARY and token.sort not in ("touch", "deny"):
            return None
    return None


def moved_behind(tokens: Tokens, i: int) -> bool:
    """Return whether a direction word that follows the attribute at i describes how that
    attribute changes."""
    for j in range(i + 1, len(tokens)):
        if tokens[j].sort == "direction":
            return next_attribute(tokens, j) != "near"
        if tokens[j].text not in lexicon.AUXILIARY:
            return False
    return False


def owner(tokens: Tokens, i: int) -> Rows:
    """Return the proposal to which a phrase that ends at i belongs: B in `the speed spike in B`."""
    next_tokens = [t for t in tokens[i + 1 : i + 4] if t.text not in lexicon.NOUNS]
    if (
        len(next_tokens) > 1
        and next_tokens[0].text in lexicon.PLACES
        and next_tokens[1].sort == "proposal"
    ):
        return next_tokens[1].rows
    return ()


def pronoun_near(tokens: Tokens, subject: int, moved: int) -> int:
    """Return the position of the pronoun (`it`, `they`) that starts the clause around position
    `moved`; if there is none, return the position of the subject."""
    for back in range(moved - 1, max(subject, 0), -1):
        if tokens[back].text in ("it", "they") and tokens[back - 1].text in lexicon.BEFORE_IT:
            return back
    return subject


def plainly(tokens: Tokens, subject: int, attribute: int, moved: int) -> bool:
    """Return whether only simple words connect a proposal, a word of change (such as `raises`) and
    an attribute."""
    if subject < 0:
        return False
    if subject > max(attribute, moved):  # `a drop of trust under B`
        return bool(owner(tokens, max(attribute, moved)))
    path = tokens[subject + 1 : max(attribute, moved) + 1]
    for n, token in enumerate(path):
        token_before, token_after = (
            path[n - 1] if n else None,
            path[n + 1] if n + 1 < len(path) else None,
        )
        if token.sort in ("direction", "touch"):
            plain = lexicon.PLAIN.match(token.text) is not None
        elif token.sort == "deny":
            plain = token.text in lexicon.DENIALS
        elif token.sort == "attribute":
            plain = True
        elif token.text == "to":
            plain = token_after is not None and token_after.sort != "direction"
        elif token.text in ("which", "that"):
            plain = token_before is None or token_before.text == ","
            plain = plain and not any(t.sort == "attribute" for t in path[:n])
        else:
            plain = token.text in lexicon.BETWEEN
        if not plain:
            return False
    return True


def denies_degree(tokens: Tokens, i: int) -> bool:
    """Return whether a negation denies only the degree of an effect: `does not raise trust as
    much`."""
    return any(t.text in ("as", "much", "enough", "like") for t in tokens[i + 1 : i + 3])


def list_before(tokens: Tokens, i: int, taken_positions: set[int]) -> list[int]:
    """Return the positions of the attributes in a list that ends at position i (`trust, safety and
    jobs`), except those to which a change (up or down) has already been assigned."""
    positions: list[int] = []
    for back in range(i, -1, -1):
        if tokens[back].sort == "attribute" and back not in taken_positions:
            positions.append(back)
        elif tokens[back].text not in ("and", ",", "the", "&"):
            break
    return positions


class Fact(msgspec.Struct, frozen=True):
    """A statement that the proposal in this row changes the attribute in this column.

    Unambiguous statements count even if false. A meaning that is only `likely` is dropped if it
    would be false, so that a loose phrase does not count as a lie. A statement whose reference is
    `doubtful` (`B or C`, or an `it` that may refer to either) leads to a request for clarification
    if it would be false.
    """

    row: int
    column: int
    allowed: Allowed
    likely: bool = False
    doubtful: bool = False


def facts(sentence: Sentence, topic: Topic, proposals: int) -> tuple[tuple[Fact, ...], Topic]:
    """Return the facts that a sentence states, and the topic for the next sentence's pronouns."""
    walk = _Walk(sentence, topic, proposals)
    if not enquires(sentence):
        walk.run()
    if walk.orphans and not walk.found and topic.rows and _continues(sentence):
        walk.found += [Fact(r, c, a, likely=True) for c, a in walk.orphans for r in topic.rows]
    columns = tuple(t.column for t in sentence.tokens if t.sort == "attribute")
    proposals_named = [t.rows for t in walk.tokens if t.sort == "proposal"]
    return tuple(walk.found), Topic(
        rows=walk.subject or (proposals_named[-1] if proposals_named else topic.rows),
        pair=_pair(proposals_named, topic),
        columns=columns or topic.columns,
    )


def _pair(proposals_named: list[Rows], topic: Topic) -> Rows:
    """Return the two proposals that the sentence names, if exactly two, or the earlier pair if it
    names none."""
    rows = tuple(sorted({row for group in proposals_named for row in group}))
    return rows if len(rows) == 2 else (() if rows else topic.pair)


def enquires(sentence: Sentence) -> bool:
    """Return whether the whole sentence is a yes-or-no question about facts: `does A raise X?`"""
    words = [t.text for t in sentence.tokens[:4]]
    if not sentence.asks or not words:
        return False
    if words[:3] in (["do", "you", "know"], ["are", "you", "aware"]):
        return any(t.text in ("if", "whether", "how", "what") for t in sentence.tokens)
    return words[0] in lexicon.ASKERS and words[1:2] not in (["not"], ["you"])


def _continues(sentence: Sentence) -> bool:
    """Return whether the sentence continues the description of the proposal in the sentence before
    it."""
    first = sentence.tokens[0]
    if first.sort == "direction":
        return not first.text.endswith("ing")
    if first.text in ("while", "although", "though"):
        return len(sentence.tokens) > 1 and sentence.tokens[1].sort == "attribute"
    if first.text in lexicon.ARTICLES and not sentence.asks:
        return any(t.sort == "direction" for t in sentence.tokens[1:4])
    return first.text in lexicon.CONTINUERS


def negate(allowed: Allowed, denied: bool) -> Allowed:
    """Return the values that a direction word allows if it is negated: `not increase` means 0 or
    a decrease."""
    if not denied:
        return allowed
    if allowed == lexicon.UP:
        return lexicon.NOT_UP
    if allowed == lexicon.DOWN:
        return lexicon.NOT_DOWN
    return lexicon.DOWN if allowed == lexicon.NOT_DOWN else allowed


def opposite(allowed: Allowed) -> Allowed:
    """Return the values that a negated statement implies for a contrasted proposal: UP for B in
    `A does not raise X, unlike B`."""
    return {lexicon.NOT_UP: lexicon.UP, lexicon.NOT_DOWN: lexicon.DOWN}.get(allowed, ())


class _Walk:
    """A left-to-right pass over a sentence, used inside `facts`."""

    def __init__(self, sentence: Sentence, topic: Topic, proposals: int) -> None:
        self.tokens = group_proposals(sentence.tokens, topic, proposals)
        self.asks = sentence.asks
        self.respective = any(t.text == "respectively" for t in sentence.tokens)
        self.topic = topic
        self.subject: Rows = ()
        self.subject_at = -1
        self.moved_at = -1  # the direction word in force
        self.pronoun_at = -1  # the `it` before it that means the subject
        self.found: list[Fact] = []
        self.orphans: list[tuple[int, Allowed]] = []
        self.active: Allowed = ()
        self.held: Allowed = ()  # the active direction outside the brackets
        self.keeps = False  # the last direction word may state an aim, not an effect
        self.fresh = False  # the next attribute certainly belongs to the active direction
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
        """Save the direction of the effects being stated (up or down) at an opening bracket, and
        restore it at the closing one."""
        if bracket == "(":
            self.held = self.active
        else:
            self.active, self.wished = self.held, False

    def states_again(self, token: Token) -> bool:
        """Return whether statements resume after a wish: `raises X, which you like, and Y`."""
        if token.text in ("and", "also"):
            return self.last is not None
        return bool(self.subject) and token.text in (",", "-", ":", "by")

    # proposals

    def proposal(self, i: int, token: Token) -> None:
        word_in_front = word_before(self.tokens, i)
        if (
            word_in_front in lexicon.CONTRASTS
            and not speaks_next(self.tokens, i)
            and not self.inside(i)
        ):
            self.compared = (word_in_front, token.rows)
            self.vague = token.text in lexicon.OTHERS
            if self.last and word_in_front in ("unlike", "like") and not leads(self.tokens, i):
                self.compare(*self.last)
            return
        if (
            self.orphans
            and not self.subject
            and (self.inside(i) or self.claims_orphans(word_in_front))
        ):
            self.found += [Fact(r, c, a, likely=True) for c, a in self.orphans for r in token.rows]
            self.orphans = []
        self.subject = token.rows
        self.subject_at = i
        self.active = ()
        self.wished = word_in_front in lexicon.SUPPOSES

    def inside(self, i: int) -> bool:
        """Return whether effects named earlier are attributed to the proposal at position i:
        `growth, as in B`."""
        if not self.orphans or not i:
            return False
        does = i + 1 < len(self.tokens) and self.tokens[i + 1].text in lexicon.ECHOES
        return noun_skipped(self.tokens, i - 1) in ("in", "under", "with") or (
            noun_skipped(self.tokens, i - 1) == "as" and does
        )

    def claims_orphans(self, word_in_front: str) -> bool:
        """Return whether effects that were named before any proposal belong to this one: `less
        trust under B`."""
        return word_in_front in lexicon.THROUGH or self.tokens[0].text in lexicon.OPENERS

    def compare(self, column: int, allowed: Allowed) -> None:
        """Add the facts that a comparison implies: `A does not raise X, unlike B`; `A raises X like
        B`."""
        comparison, rows = self.compared
        others = (
            opposite(allowed) if len(allowed) > 1 else (allowed if comparison == "like" else ())
        )
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
        if self.is_hedged(i):
            self.active = ()
            return
        ahead = next_attribute(self.tokens, i)
        if ahead == "far" and token.allowed == lexicon.NOT_DOWN:
            ahead = "none"  # `ensures responsible use of speed` says nothing of speed
        behind = attribute_behind(self.tokens, i)
        if ahead == "near" or (ahead == "far" and behind is None):
            self.active = allowed
            self.fresh = ahead == "near" and not token.text.startswith("risk")
        elif behind is not None:
            no = is_denied(self.tokens, behind, self.asks) and not is_denied(
                self.tokens, i, self.asks
            )
            self.subject = owner(self.tokens, i) or self.subject
            for position in list_before(self.tokens, behind, self.taken):
                self.emit(position, negate(allowed, no), likely=self.keeps)
            self.active = ()
        else:
            self.active = ()
            self.pronoun(i, allowed)

    def meaning(self, i: int, token: Token) -> Allowed:
        """Return the values that a direction word allows, given a negation before it or an `or`
        after it."""
        no = is_denied(self.tokens, i, self.asks)
        if token.sort == "touch":
            word_in_front = self.tokens[i - 1].text if i else ""
            return lexicon.SAME if no or word_in_front.startswith("minimi") else ()
        if [t.text for t in self.tokens[i + 1 : i + 2]] == ["or"] and i + 2 < len(self.tokens):
            second_direction = self.tokens[i + 2]
            if second_direction.sort == "direction" and not no:
                return tuple(dict.fromkeys(token.allowed + second_direction.allowed))
            if second_direction.sort == "direction":
                return lexicon.SAME
        if i > 1 and self.tokens[i - 1].text in ("or", "nor") and self.moves(i - 2):
            either = tuple(dict.fromkeys(self.tokens[i - 2].allowed + token.allowed))
            return lexicon.SAME if no else either
        return negate(token.allowed, no)

    def moves(self, i: int) -> bool:
        return self.tokens[i].sort == "direction"

    def is_hedged(self, i: int) -> bool:
        """Return whether an effect is stated only as a possibility, and has an attribute rather
        than a proposal as its cause: `added safety can hinder speed`."""
        modal_position = next((j for j in range(i - 1, max(-1, i - 4), -1) if self.is_modal(j)), -1)
        if modal_position < 1 or self.tokens[modal_position - 1].text in ("it", "they"):
            return False
        return any(t.sort == "attribute" for t in self.tokens[self.subject_at + 1 : i])

    def is_modal(self, i: int) -> bool:
        return self.tokens[i].text in lexicon.MODALS

    def pronoun(self, i: int, allowed: Allowed) -> None:
        """Resolve `raises it`, `has no effect on them`, `cuts both` to attributes named before."""
        next_words = [t.text for t in self.tokens[i + 1 : i + 5] if t.text not in lexicon.STEPS]
        columns_seen = tuple(t.column for t in self.tokens[:i] if t.sort == "attribute")
        columns_known = columns_seen or self.topic.columns
        if self.tokens[i].text in lexicon.WEAK:
            return
        if (
            columns_seen
            and self.subject_at > 0
            and noun_skipped(self.tokens, self.subject_at - 1) == "which"
        ):
            self.emit_column(columns_seen[-1], allowed)
        elif not columns_known:
            return
        elif not next_words or next_words[0] in (",", "-", ")"):
            if self.last and self.subject_at > 0:
                self.emit_column(self.last[0], allowed)
        elif next_words[0] in ("it", "this") or lexicon.SIDES.intersection(next_words[:2]):
            self.emit_column(columns_known[-1], allowed)
        elif next_words[0] in ("both", "them", "these"):
            pair = dict.fromkeys(reversed((*self.topic.columns, *columns_seen)))
            for column in list(pair)[:2]:
                self.emit_column(column, allowed)

    def ellipsis(self, i: int) -> None:
        """Add the fact implied by an ellipsis: `A raises X, while C does not`."""
        fresh = self.subject_at >= 0 and all(
            t.text in lexicon.AUXILIARY for t in self.tokens[self.subject_at + 1 : i]
        )
        if ends(self.tokens, i) and fresh and self.last and len(self.last[1]) == 1:
            column, allowed = self.last
            self.found += [
                Fact(row, column, negate(allowed, True), likely=True) for row in self.subject
            ]

    def nothing(self, i: int) -> None:
        """Read `does nothing for trust` as no effect."""
        next_word = self.tokens[i + 1].text if i + 1 < len(self.tokens) else ""
        if self.tokens[i].text == "nothing" and next_word in ("for", "to", "about"):
            self.active, self.fresh = lexicon.SAME, True

    def echo(self, i: int) -> None:
        """Add the fact implied by an echo: `A does not raise X, unlike C, which does`."""
        between = self.tokens[self.subject_at + 1 : i]
        clean = all(t.sort == "mark" or t.text in ("which", "that") for t in between)
        if ends(self.tokens, i) and self.last and self.subject_at >= 0 and clean:
            column, allowed = self.last
            if opposite(allowed):
                self.found += [
                    Fact(row, column, opposite(allowed), likely=True) for row in self.subject
                ]

    # attributes

    def attribute(self, i: int) -> None:
        bargained = i > 0 and self.tokens[i - 1].text == "for" and not self.fresh
        if self.active and not bargained and (self.fresh or not moved_behind(self.tokens, i)):
            self.subject = owner(self.tokens, i) or self.subject
            loose = not (self.fresh or self.continues_list(i))
            self.emit(i, self.active, likely=self.keeps or loose)
        self.fresh = False

    def continues_list(self, i: int) -> bool:
        """Return whether the attribute continues a list: `raises X, the Y and Z`."""
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
        start = pronoun_near(self.tokens, self.subject_at, self.moved_at)
        self.pronoun_at = start if start != self.subject_at else -1
        loose = likely or not (
            token.plain
            and plainly(self.tokens, start, position, self.moved_at)
            and not denies_degree(self.tokens, max(position, self.moved_at))
            and not any(map(self.is_modal, range(self.subject_at + 1, self.moved_at)))
        )
        self.emit_column(token.column, sides, likely=loose)

    def sure(self) -> bool:
        """Return whether it is certain which proposal is meant."""
        if self.subject_at < 0:
            return True
        if self.pronoun_at > 0:
            tokens_before = self.tokens[: self.pronoun_at]
            return len({r for t in tokens_before if t.sort == "proposal" for r in t.rows}) < 2
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
