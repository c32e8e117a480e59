"""Questions to appeals: what a message asks of the other's likes, knowledge and choice."""

import re
from collections.abc import Iterator

import msgspec

from sally.games.mindgames.reading.groups import Rows, Topic, grouped
from sally.games.mindgames.reading.tokens import Sentence, Token

Columns = tuple[int, ...]


class Appeals(msgspec.Struct, frozen=True):
    """What one question asks about."""

    motivational: Columns = ()
    informational: tuple[tuple[int, int], ...] = ()
    inferential: Rows = ()


class Clause(msgspec.Struct, frozen=True):
    """One question: its shape (names replaced by P and T) and the names in it."""

    shape: str
    rows: Rows
    columns: Columns


NOUN = r"(?:proposals?|options?|choices?|plans?|experiments?|one|ones|course of action)"
OPENS = re.compile(
    r"(?:so |and |but |ok |okay |then |now |also |hi |hello |well |, |- |: |\" )*"
    r"(?:(?:what|which|how|why|whats)\b|"
    r"(?:do|did|would|could|can|are|should|shall|have|does|is|will)"
    r" (?:not )?(?:you|your|we|i|it|that|this|the|there|P|proposal|T)\b)"
)
INNER = re.compile(
    r"\b(?:what|which|how|why)(?: \w+){0,3}? (?:do|does|are|is|would|will|have|did|makes?) "
    r"(?:not )?(?:you|your|it)\b"
)
DEMANDS = re.compile(
    r"\b(?:tell me|let me know|share (?:your|what|which|how)|state your|explain (?:your|why|what)|"
    r"describe (?:your|what)|list (?:your|what)|confirm (?:your|that you|what)|"
    r"(?:like|love|want|curious|interested|keen) to (?:know|hear|understand)\b(?! that| P| more about what)|"
    r"help me understand|curious (?:about|what|how|which)|may i ask|like to ask|clarify (?:your|what))"
)
OFFER = re.compile(r"\blet me know if\b|^if\b.*\blet me know\b|\bif there 's\b|\bfeel free\b")
SPLIT = re.compile(
    r"(?:,|;|-)? ?\b(?:and|or|but|also)\b ,? ?(?=(?:also )?(?:what|which|how|why|do|does|are|is|would|"
    r"can|could|shall|should|have) (?:(?:not )?(?:you|your|we|it|is|are|do|would|does|aspects?|"
    r"attributes?|factors?|proposals?|specific|specifically|about|there|P|T)\b))"
)
KNOWS = re.compile(
    r"\byou (?:all |already |currently |really |even )?(?:know|understand(?! (?:that|why|the))|heard)\b|"
    r"\b(?:know|knowledge|information|info|details|facts|understanding)\b.{0,25}"
    r"\b(?:about|on|of|regarding)\b|\bfamiliar with\b|\baware\b|\bwhat you (?:currently )?know\b|"
    r"\b(?:additional|more|further|other|what|any) (?:\w+ )?(?:information|details|facts|info)\b|"
    r"\b(?:clarif\w+|anything else you|else you .*know)\b|"
    r"\b(?:known|your) (?:effects|information|knowledge)\b"
)
ALREADY = re.compile(
    r"\b(?:this|that|the|these|new|based on|given) (?:new |additional |extra )?(?:information|info|details)\b|"
    r"\b(?:now that|since|as|i|we|what i|based on what) (?:you )?(?:already )?know\b|\bi know\b|"
    r"\bgiven what you know\b|\bthat you know\b"
)
LIKES = re.compile(
    r"\b(?:like|likes|dislike|dislikes|feel|feeling|feelings|care|value|values|prefer|preference|"
    r"preferences|prefences|important|importance|importan\w*|matter|matters|priority|priorities|"
    r"prioriti\w+|thoughts?|think|opinion|opinions|view|views|concern|concerns|concerned|worth|"
    r"interested|interest|interests|want|wants|love|hate|appeal|appeals|appealing|unappealing|"
    r"attractive|goal|goals|objective|objectives|consider|considered|considering|willing|agree|"
    r"indifferent|enjoy|stance|outweigh|outweighs|desirable|desire|seek|favor|favour|about|"
    r"rank|rate|weigh|focus|comfortable|ok with|okay with|bother|mind|good|bad|acceptable|"
    r"benefit|beneficial|significant|factor|aim|aims|optimiz\w+|minimiz\w+|maximiz\w+)\b"
)
CRITERIA = re.compile(
    r"(?<!this )(?<!that )(?<!with your )(?<!meet your )(?<!match your )(?<!on your )(?<!for your )"
    r"\b(?:attributes?|factors?|aspects?|criteria|criterion|considerations?|priority|priorities|"
    r"preferences|prefences|values|goals?|objectives?|qualities|outcomes?|metrics?|issues?|"
    r"interests|things|likes|dislikes|concerns|features?|characteristics?)\b"
)
WANTS_ALL = re.compile(
    r"\b(?:what|which|how) (?:else )?(?:(?:do|does|would) )?(?:not )?you (?:\w+ )?(?:like|dislike|want|value|"
    r"care|prioriti\w+|look|hate|love|care about|enjoy|wish|need)\b(?! P| T| best| most| the (?:best|"
    r"most|least)| more| to| better| least)|"
    r"\bwhat (?:is|are|'s)? ?(?:most |more )?(?:important|matters?)\b(?:.*\byou\b)?|"
    r"\bmatters? (?:most|more)?\b.*\byou\b|\bmost important to you\b|\blike (?:and|or) dislike\b|"
    r"(?<!with )(?<!meet )(?<!match )(?<!on )(?<!for )(?<!given )(?<!matches )(?<!meets )"
    r"\byour (?:\w+ )?(?:priority|priorities|preferences|prefences|values|goals?|objectives?|"
    r"interests|likes|dislikes|main concern)\b"
)
CHOOSES = re.compile(
    r"\b(?:choose|chose|choosing|chosen|choice|pick|picking|picked|select|selecting|selected|prefer|"
    r"preferred|preference|favor|favorite|favourite|favour|best|better|worst|decision|decide|decided|"
    r"lean|leaning|support|supporting|back|agree|consider|considering|reconsider|reconsidering|"
    r"switch|vote|approve|go with|going with|go ahead|move forward|moving forward|settle|lock in|"
    r"finalize|finalise|convince|convinced|persuade|opt|rank|ranking|think|thoughts|opinion|feel|like|"
    r"dislike|want|view|appeal|appeals|appealing|attractive|evaluat\w+|assess\w+|see|accept|utility|"
    r"optimal|option|fit|suit|suits|align|aligns|change|rational|logical|sense|superior|adopt|open to|"
    r"willing|ready|comfortable|board|outweigh|worth|stance|top|hesitant|merits|value|concerns?|"
    r"match|meet|meets|satisf\w+|how about|what about|inclined|endorse)\b"
)
WHICH_ONE = re.compile(
    r"\b(?:which|what)(?: \w+)? ?" + NOUN + r"\b(?!.*\bT\b.*\bknow)|"
    r"\bwhich (?:one )?(?:do|would|will|are|is|did|have) (?:you|better|best|your|the)\b|"
    r"\byour (?:\w+ )?(?:choice|decision|pick|favorite|favourite|preference|choose|selection|vote|"
    r"ranking|verdict|preferred \w+|top \w+)\b|\brank\b|\b(?:three|all|each|these|the) (?:of the )?"
    r"(?:three )?proposals\b|\bwhat (?:do|would|will|did) you (?:choose|pick|prefer|decide|select)\b|"
    r"\bour decision\b|\bpreferred (?:proposal|option|choice|one)\b|\bbest (?:course|proposal|option|choice)\b"
)
FACT = re.compile(
    r"^(?:\W|and|so|but|also)*(?:does|do|will|would|is|are|can|could|has|have|did) "
    r"(?:the |both )?(?:proposal |choice |option )?P\b"
)


BARE_WHY = re.compile(r"^(?:\w+ |, |again |but ){0,8}why(?: not| is that| so)?\W*$")
ABOUT = re.compile(
    r"\b(?:what|why|which|how)\b.*\b(?:like|likes|dislike|love|hate|prefer|appeal\w*|attractive|"
    r"hesitant|against|important|makes|change your mind|aspects?|specific\w*)\b.*\bP\b|"
    r"\bthink (?:about|of) (?:proposal |choice |option )?P\W*$|"
    r"\bwhy (?:(?:do|are|is|would|did|have|has|will|wo|can) )?(?:not )?(?:you\b.*)?"
    r"(?:proposal |choice |option |no proposal )?P\b|\b(?:what|which)\b.*\bP\b.*\b(?:appeal\w*|attractive|prefer|like)\b"
)
PARTS = re.compile(
    r"\b(?:lack|part|parts|drawbacks?|benefits?|effects?|impacts?|about|of|with)\b.*\bP\b"
)
PRONOUN = re.compile(
    r"\b(?:like|dislike|hate|love|prefer|feel about|against|important|want|think about) "
    r"(?:it|them|that|this|those|these|so)\W*$|\b(?:that|this|it) (?:more )?(?:important|"
    r"matter\w*|what you)\b"
)
THIS_CHANGES = re.compile(
    r"\b(?:this|that|these|it|which)\b.*\b(?:change|affect|influence|alter|make|impact|sway|help|tip)\b"
)
AGREE = re.compile(
    r"\breconsider\b|\bwork for you\b|\b(?:option|choice|fit) for you\b|\bresonate\b|"
    r"\byour (?:perspective|view|mind|stance)\b|\bthe best\b|\bagree\b|\b(?:final|our|your) (?:decision|choice|answer)\b|\bshall we\b"
)


MAIN = re.compile(
    r"(?:,|:|-|\bbut|\bso|\basking|\bask) ((?:(?:do|did|would|could|can|are|should|shall|have|does|is|"
    r"will) (?:not )?(?:you|your|we|i|it|that|this|the|there|P|proposal|choice|its)\b|"
    r"(?:what|how|why)\b(?! (?:you|we|i)\b)|"
    r"which (?:proposal|one|of|attribute|factor|option|concern|aspect|matter|do|would)))"
)
OR_ELSE = re.compile(r"(?:is|are) there (?:any|some|another|other)")
ABOUT_FIRST = re.compile(r"(?:between|regarding|about|concerning|as for|in terms of|with|on) ")


WEIGHS = re.compile(
    r"\b(?:outweigh\w*|worth|appeal\w*|important|concern\w*|priorit\w+|value|like)\b"
)


class Asking(msgspec.Struct, frozen=True):
    """What a question can lean on: the topic, the last reply, the size of the game."""

    topic: Topic
    reply: Columns  # attributes the last reply said it likes or dislikes
    ranked: bool  # did the last reply rank the proposals?
    everyone: Rows
    everything: Columns


def appeals(sentence: Sentence, at: Asking) -> Appeals:
    """What a sentence asks; empty when it asks nothing that the target can answer."""
    tokens = grouped(sentence.tokens, at.topic, len(at.everyone))
    text = shape(tokens)
    if not asks(sentence, text):
        return Appeals()
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
    if OFFER.search(text):
        return False
    return bool(OPENS.match(text) or INNER.search(text) or DEMANDS.search(text))


def clauses(tokens: tuple[Token, ...], text: str) -> Iterator[Clause]:
    """The questions joined in one sentence, each with the names it holds."""
    names = iter([t for t in tokens if t.sort in ("proposal", "attribute")])
    cuts = [0, *(m.end() for m in SPLIT.finditer(text)), len(text)]
    for start, end in zip(cuts, cuts[1:], strict=False):
        asked = _main(text[start:end])
        held = [next(names) for _ in re.findall(r"\b[PT]\b", text[start:end])]
        held = held[len(held) - len(re.findall(r"\b[PT]\b", asked)) :]
        if OR_ELSE.match(asked) and start:
            continue
        yield Clause(
            shape=asked.strip(),
            rows=tuple(sorted({r for t in held for r in t.rows})),
            columns=tuple(sorted({t.column for t in held if t.sort == "attribute"})),
        )


def _main(text: str) -> str:
    """The question itself, without the clause that leads up to it: `since ..., would you ...?`"""
    starts = [m.start(1) for m in MAIN.finditer(text)]
    if not starts or ABOUT_FIRST.match(text):
        return text
    main = text[starts[-1] :]
    return main if re.search(r"\b[PT]\b", main) or not OPENS.match(text) else text


def _ask(clause: Clause, at: Asking) -> Appeals:
    text = clause.shape
    if BARE_WHY.match(text):
        return _why(at)
    heard = re.sub(
        r"\b(?:let me|like to|curious to|want to|interested to|love to) know\b", "tell", text
    )
    if KNOWS.search(heard) and not ALREADY.search(text) and not re.search(r"\bmatters?\b", text):
        if not clause.rows and not clause.columns and re.search(r"\b(?:that|this|it)\W*$", text):
            return Appeals(informational=_cross(at.topic.rows, at.topic.columns[-1:]))
        likes = at.everything if re.search(r"\bknow (?:and|or) (?:dis)?like\b", text) else ()
        cells = _cross(clause.rows or at.everyone, clause.columns or at.everything)
        return Appeals(motivational=likes, informational=cells)
    if FACT.match(text) and clause.columns and not re.search(r"\byour?\b", text):
        return Appeals(informational=_cross(clause.rows, clause.columns))
    if re.match(r"is it\b", text) and clause.columns:
        return Appeals(clause.columns, _cross(at.topic.rows[:1], clause.columns))
    if clause.rows:
        return _about_proposals(clause, at)
    if clause.columns:
        return Appeals(motivational=clause.columns) if LIKES.search(text) else Appeals()
    return _general(text, at)


def _cross(rows: Rows, columns: Columns) -> tuple[tuple[int, int], ...]:
    return tuple((r, c) for r in rows for c in columns)


def _why(at: Asking) -> Appeals:
    """A bare `why?` asks for the reasons of what the target just said."""
    if at.ranked:
        return Appeals(at.everything, _cross(at.everyone, at.everything), at.everyone)
    return Appeals(motivational=at.reply)


def _about_proposals(clause: Clause, at: Asking) -> Appeals:
    text = clause.shape
    if ABOUT.search(text) and not clause.columns and len(clause.rows) == 1:
        return Appeals(at.everything, _cross(clause.rows, at.everything), clause.rows)
    if re.search(r"\b(?:how|what) about P\W*$", text):
        return Appeals((), _cross(clause.rows, at.everything), clause.rows)
    weighed = clause.columns if WEIGHS.search(text) else ()
    return Appeals(motivational=weighed, inferential=clause.rows)


def _general(text: str, at: Asking) -> Appeals:
    if WANTS_ALL.search(text) or (CRITERIA.search(text) and LIKES.search(text)):
        return Appeals(motivational=at.everything)
    if PRONOUN.search(text):
        return Appeals(motivational=at.topic.columns[-2:] if not at.reply else at.reply)
    if WHICH_ONE.search(text):
        return Appeals(inferential=at.everyone)
    if AGREE.search(text) or THIS_CHANGES.search(text):
        return Appeals(inferential=at.topic.pair or at.topic.rows)
    return Appeals()
