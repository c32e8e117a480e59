"""What stands around a word: look-ups in the tokens of one sentence, by position."""

from sally.games.mindgames.reading import lexicon
from sally.games.mindgames.reading.groups import Rows
from sally.games.mindgames.reading.tokens import Token

Tokens = tuple[Token, ...]
SKIPPED = lexicon.FILLERS | lexicon.NOUNS


def text_at(tokens: Tokens, i: int) -> str:
    """The word at position i; none outside the sentence."""
    return tokens[i].text if 0 <= i < len(tokens) else ""


def noun_skipped(tokens: Tokens, i: int) -> str:
    """The word at position i, or the one before it if that is only `proposal`."""
    return text_at(tokens, i - 1 if i and tokens[i].text in lexicon.NOUNS else i)


def word_before(tokens: Tokens, i: int) -> str:
    """The last word before position i that is no filler."""
    for back in range(i - 1, -1, -1):
        word = tokens[back].text
        if word == "like" and back and tokens[back - 1].text in lexicon.SEEMS:
            return "seems"
        if word in lexicon.CONTRASTS or word not in SKIPPED:
            return word
    return ""


def ends(tokens: Tokens, i: int) -> bool:
    """Is position i the last word of its clause?"""
    return i + 1 == len(tokens) or tokens[i + 1].sort == "mark"


def leads(tokens: Tokens, i: int) -> bool:
    """`unlike B, it ...`: the comparison is with what comes next, not with what came before."""
    rest = [t.text for t in tokens[i + 1 : i + 3]]
    return len(rest) == 2 and rest[0] == "," and rest[1] in ("it", "they", "proposal")


def speaks_next(tokens: Tokens, i: int) -> bool:
    """Does a contrasted proposal get its own clause: `unlike B, which ...`, `than C's ...`?"""
    rest = [t for t in tokens[i + 1 : i + 4] if t.text not in (",", "(")]
    if rest and rest[0].text in ("which", "that", "'s"):
        return True
    if noun_skipped(tokens, i - 1) != "as" or not rest:
        return False
    return (
        rest[0].sort == "direction"
        or (  # `as C will raise it`, and not `as C does`
            rest[0].text in lexicon.AUXILIARY and any(t.sort == "direction" for t in rest[1:])
        )
    )


def denied(tokens: Tokens, i: int, asks: bool) -> bool:
    """Is there a denial shortly before position i, in the same clause?"""
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
    """`Isn't A better`, `doesn't it`: a question that denies nothing."""
    if not asks or not i or tokens[i - 1].text not in lexicon.AUXILIARY:
        return False
    return i == 1 or tokens[i - 2].sort == "mark" or tokens[i - 2].text in (
        "but", "and", "then", "so", "why",
    )  # fmt: skip


def next_attribute(tokens: Tokens, i: int) -> str:
    """Is the next attribute near (fillers only between), far in the clause, or not there?"""
    near = True
    for token in tokens[i + 1 :]:
        if token.sort == "attribute":
            return "near" if near else "far"
        if token.sort in ("proposal", "direction") or token.text in lexicon.LINKS:
            return "none"
        if token.sort == "touch" or token.text in lexicon.FILLERS:
            continue
        if token.sort == "deny" or token.text in (",", ":", "-"):
            return "none"
        near = False
    return "none"


def attribute_behind(tokens: Tokens, i: int) -> int | None:
    """Where the attribute just before the direction word is, as in `trust will fall`."""
    for back in range(i - 1, -1, -1):
        token = tokens[back]
        if token.sort == "attribute":
            return back
        if token.text not in lexicon.AUXILIARY and token.sort not in ("touch", "deny"):
            return None
    return None


def moved_behind(tokens: Tokens, i: int) -> bool:
    """Does a direction word right after the attribute at i claim it?"""
    for j in range(i + 1, len(tokens)):
        if tokens[j].sort == "direction":
            return next_attribute(tokens, j) != "near"
        if tokens[j].text not in lexicon.AUXILIARY:
            return False
    return False


def owner(tokens: Tokens, i: int) -> Rows:
    """The proposal right after a phrase that ends at i: `the speed spike in B`."""
    rest = [t for t in tokens[i + 1 : i + 4] if t.text not in lexicon.NOUNS]
    if len(rest) > 1 and rest[0].text in lexicon.PLACES and rest[1].sort == "proposal":
        return rest[1].rows
    return ()


def pronoun_near(tokens: Tokens, subject: int, moved: int) -> int:
    """Where the `it` is that opens the clause of a direction word; else where its subject is."""
    for back in range(moved - 1, max(subject, 0), -1):
        if tokens[back].text in ("it", "they") and tokens[back - 1].text in lexicon.BEFORE_IT:
            return back
    return subject


def plainly(tokens: Tokens, subject: int, attribute: int, moved: int) -> bool:
    """Do nothing but plain words join a proposal, a direction and an attribute?"""
    if subject < 0:
        return False
    if subject > max(attribute, moved):  # `a drop of trust under B`
        return bool(owner(tokens, max(attribute, moved)))
    path = tokens[subject + 1 : max(attribute, moved) + 1]
    for n, token in enumerate(path):
        before, after = path[n - 1] if n else None, path[n + 1] if n + 1 < len(path) else None
        if token.sort in ("direction", "touch"):
            plain = lexicon.PLAIN.match(token.text) is not None
        elif token.sort == "deny":
            plain = token.text in lexicon.DENIALS
        elif token.sort == "attribute":
            plain = True
        elif token.text == "to":
            plain = after is not None and after.sort != "direction"
        elif token.text in ("which", "that"):
            plain = before is None or before.text == ","
            plain = plain and not any(t.sort == "attribute" for t in path[:n])
        else:
            plain = token.text in lexicon.BETWEEN
        if not plain:
            return False
    return True


def measured(tokens: Tokens, i: int) -> bool:
    """`does not raise trust as much`: a matter of degree, no plain denial."""
    return any(t.text in ("as", "much", "enough", "like") for t in tokens[i + 1 : i + 3])


def list_before(tokens: Tokens, i: int, taken: set[int]) -> list[int]:
    """The attributes of a list that ends at position i, as far as nothing has moved them."""
    found: list[int] = []
    for back in range(i, -1, -1):
        if tokens[back].sort == "attribute" and back not in taken:
            found.append(back)
        elif tokens[back].text not in ("and", ",", "the", "&"):
            break
    return found
