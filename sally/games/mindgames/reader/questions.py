"""From questions to appeals: questions about the target's likes, knowledge and choice.

Names of proposals are replaced by P, and names of attributes by T, before patterns are matched.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import msgspec

from sally.games.mindgames.reader.tokens import Rows, Sentence, Token, Topic, group_proposals


def any_of(*shapes: str) -> re.Pattern[str]:
    """Compile a pattern that matches any of these question patterns as whole words."""
    return re.compile("|".join(rf"\b(?:{shape})\b" for shape in shapes))


def starts(*shapes: str) -> re.Pattern[str]:
    """Compile a pattern that matches any of these question patterns at the start of a text."""
    return re.compile("|".join(rf"(?:{shape})\b" for shape in shapes))


NOUN = (
    "(?:proposals?|propositions?|options?|choices?|plans?|policy|policies|experiments?|ideas?|"
    "alternatives?|one|ones|course of action)"
)
NAMED = "(?:proposal |choice |option )?P"
WH = "(?:what|which|how|why)"
AUX = "(?:do|did|would|could|can|are|should|shall|have|does|is|will)"
YOU = "(?:not )?(?:you|your|we|i|it|that|this|the|there|P|proposal|choice|its)"
# To choose, in any form: `pick`, `are you choosing`, `would you go with`, `do you lean towards`.
CHOOSE = (
    r"(?:choos\w*|chose|pick\w*|prefer\w*|favou?r\w*|select\w*|decid\w*|vot\w+ for|"
    r"back\w*|go(?:ing)? (?:with|for|to \w+)|lean\w*|opt\w* for|settl\w+ on|tak\w+)"
)
# To put in order: `rank`, `order them`, `sort the proposals`.
ORDER = (
    "(?:rank|order|sort|compare)(?: (?:out|for me))? "
    rf"(?:(?:the|your|these|those|all|each|three|of|them|us|for|me) )*(?:them|P|T|three|{NOUN})"
)
LEAD_IN = '(?:so |and |but |ok |okay |then |now |also |hi |hello |well |, |- |: |" )*'

# Patterns of questions and demands.
OPENS = starts(LEAD_IN + "(?:what|which|how|why|whats)", f"{LEAD_IN}{AUX} (?:{YOU}|T)")
INNER = any_of(rf"{WH}(?: \w+){{0,3}}? (?:{AUX}|makes?) (?:not )?(?:you|your|it)")
DEMANDS = any_of(
    "tell me",
    "let me know",
    "(?:share|explain|describe|list|confirm|clarify|state) (?:your|what|which|how|why|that you)",
    "(?:like|love|want|curious|interested|keen) to (?:know|hear|understand)(?! that| P)",
    "(?:help me understand|may i ask|like to ask)",
    "curious (?:about|what|how|which)",
    ORDER,
    f"(?:any|your) (?:preferred|favou?rite) {NOUN}",
)
OFFER = any_of("let me know if", "if there 's", "feel free", "if you .* let me know")

# Patterns that separate joined questions and find the main one.
SPLIT = re.compile(
    rf"[,;-]? ?\b(?:and|or|but|also)\b ,? ?(?=(?:also )?(?:{WH}|{AUX}) (?:not )?"
    r"(?:you|your|we|it|is|are|do|would|does|aspects?|attributes?|factors?|proposals?|"
    r"specific|specifically|about|there|P|T)\b)"
)
MAIN = re.compile(
    rf"(?:,|:|-|\bbut|\bso|\bask|\basking) ({AUX} {YOU}\b|"
    r"(?:what|how|why)\b(?! (?:you|we|i)\b)|"
    r"which (?:proposal|one|of|attribute|factor|option|concern|aspect|matter|do|would))"
)
ADMITS = starts(
    "i (?:know|understand|see|acknowledge)", "you mentioned", "you prefer", "while", "although"
)
OR_ELSE = starts("(?:is|are) there (?:any|some|another|other)(?:thing)?")
ABOUT_FIRST = starts("between|regarding|about|concerning|as for|in terms of|with|on")

# Patterns of what is asked for.
BARE_WHY = re.compile(r"(?:\w+ |, ){0,8}why(?: not| is that| so)?\W*\Z")
TO_KNOW = any_of("(?:let me|like to|curious to|want to|interested to|love to) know")
KNOWS = any_of(
    r"you (?:\w+ )?(?:know|heard)",
    "you (?:currently )?understand(?! that| why| the)",
    "(?:know|knowledge|information|info|details|facts|understanding)"
    ".{0,25} (?:about|on|of|regarding)",
    "familiar with|aware",
    r"(?:additional|more|further|other|what|any) (?:\w+ )?(?:information|details|facts|info)",
    r"clarif\w+|anything else you|else you .*know",
    "(?:known|your) (?:effects|information|knowledge)",
)
ALREADY = any_of(
    "(?:this|that|the|these|new|based on|given) (?:new |additional |extra )?"
    "(?:information|info|details)",
    "(?:now that|since|as|i|we|based on what|given what|that) (?:you )?(?:already )?know",
)
KNOW_AND_LIKE = any_of("know (?:and|or) (?:dis)?like")
JUST_THAT = re.compile(r"\b(?:that|this|it)\W*\Z")
FACT = starts(rf"(?:(?:and|so|but|also|,) )*{AUX} (?:the |both )?{NAMED}")
IS_IT = starts("is it")
YOURS = any_of("your?")
MATTERS = any_of("matters?")

LIKE_OF = any_of(rf"{AUX} (?:not )?you (?:\w+ )?(?:dis)?like {NAMED}")
LIKE_ABOUT = any_of(rf"(?:dis)?like (?:best |most |least )?about {NAMED}")
LIKES = any_of(
    "like|likes|dislike|dislikes|love|hate|enjoy|want|wants|desire|desirable|seek|need|wish",
    "feel|feeling|feelings|care|value|values|mind|bother|comfortable|indifferent|willing",
    r"prefer|preference|preferences|favou?r|priority|priorities|prioriti\w+|focus|aim|aims",
    r"importan\w*|matter|matters|worth|outweighs?|weigh|rank|rate|significant|factor",
    "thoughts?|think|opinions?|views?|stance|agree|about",
    r"concern|concerns|concerned|interest|interests|interested|appeal\w*|unappealing|attractive",
    r"goals?|objectives?|good|bad|acceptable|benefit|beneficial|(?:opti|mini|maxi)mi[sz]\w+",
)
CRITERIA = re.compile(
    r"(?<!this )(?<!that )(?<!with your )(?<!meet your )(?<!match your )(?<!on your )"
    r"(?<!for your )\b(?:attributes?|factors?|aspects?|criteria|criterion|considerations?|"
    r"priority|priorities|preferences|values|goals?|objectives?|qualities|outcomes?|metrics?|"
    r"issues?|interests|things|likes|dislikes|concerns|features?|characteristics?)\b"
)
WANTS_ALL = any_of(
    r"(?:what|which|how) (?:else )?(?:(?:do|does|would) )?(?:not )?you (?:\w+ )?"
    r"(?:like|dislike|want|value|care|prioriti\w+|look|hate|love|enjoy|wish|need)"
    "(?! P| T| best| most| the (?:best|most|least)| more| to| better| least)",
    "what (?:is|are|'s)? ?(?:most |more )?(?:important|matters?)",
    "matters? .*you|most important to you|like (?:and|or) dislike",
    r"(?<!with )(?<!meet )(?<!match )(?<!on )(?<!for )(?<!given )(?<!matches )(?<!meets )"
    r"your (?:\w+ )?(?:priority|priorities|preferences|values|goals?|objectives?|interests|likes|"
    "dislikes|main concern)",
)
PRONOUN = re.compile(
    r"\b(?:like|dislike|hate|love|prefer|feel about|against|important|want|think about) "
    r"(?:it|them|that|this|those|these|so)\W*\Z|"
    r"\b(?:that|this|it) (?:more )?(?:important|matter\w*|what you)\b"
)
WHICH_ONE = any_of(
    rf"(?:which|what)(?: \w+)? ?{NOUN}",
    "which (?:one )?(?:do|would|will|are|is|did|have) (?:you|better|best|your|the)",
    rf"(?:which|what|who)(?: one)? (?:\w+ ){{0,4}}?{AUX} you (?:\w+ )?{CHOOSE}",
    rf"what (?:is|'s) the best {NOUN}",
    f"{AUX} you (?:have a )?(?:prefer|preference|favou?r|favou?rite)(?: any| one| a)? {NOUN}",
    ORDER,
    r"your (?:\w+ )?(?:choices?|decision|pick|favou?rite|preference|select\w*|vote|ranking)",
    r"your (?:\w+ )?verdict",
    "(?:three|all|each|these|the) (?:of the )?(?:three )?proposals",
    "our decision|preferred (?:proposal|option|choice|one)|best (?:course|proposal|option|choice)",
)
ABOUT = any_of(
    rf"{WH} .*(?:like|likes|dislike|love|hate|prefer|appeal\w*|attractive|hesitant|against|"
    r"important|makes|change your mind|aspects?|specific\w*) .*P",
    rf"why (?:{AUX} |has |wo )?(?:not )?(?:you .*)?(?:no )?{NAMED}",
    r"(?:what|which) .*P .*(?:appeal\w*|attractive|prefer|like)",
)
THINK_OF = re.compile(rf"\bthink (?:about|of) {NAMED}\W*\Z")
HOW_ABOUT = re.compile(rf"\b(?:how|what) about {NAMED}\W*\Z")
WEIGHS = any_of(
    r"appeal\w*|important|concern\w*|value|like|prioriti\w+|makes?|despite|considering|why"
)
EFFECT = any_of(
    r"effects?|impacts?|risks?|drawbacks?|affect\w*|(?:in|de)creas\w+|reduction|gain|loss"
)
URGES = any_of(
    r"agree|choos\w+|support\w*|go with|leaning|reconsider|offer|worth|outweigh\w*",
    "best choice|certain|do not you think|because|take",
)
RANKS = any_of(r"better|best|appeal\w*|options?|choices?|prefer\w*|desirable|aligns?")
NEWS = any_of("aware|let you know|did you (?:know|realize)|new information|point out|actually")
POINTS_BACK = any_of(
    r"(?:this|that|it|these)\b.*\b(?:factor|aspect|concerns?|interested|willing|desirable|outcome|"
    "worth|trade off|tradeoff|important|prudent|deal breaker|priority)"
)
THIS_CHANGES = any_of(
    "(?:this|that|these|it|which) .*(?:change|affect|influence|alter|make|impact|sway|help|tip)"
)
AGREE = any_of(
    "agree|shall we|reconsider|resonate|the best",
    "work for you|(?:option|choice|fit) for you|your (?:perspective|view|mind|stance)",
    "(?:final|our|your) (?:decision|choice|answer)",
)


Columns = tuple[int, ...]
Cells = tuple[tuple[int, int], ...]


class Appeals(msgspec.Struct, frozen=True):
    """What one question asks about: attributes (whether the target likes them), effects (whether it
    knows them) and proposals (how it ranks them)."""

    motivational: Columns = ()
    informational: Cells = ()
    inferential: Rows = ()


class Clause(msgspec.Struct, frozen=True):
    """One question: its text with names replaced by P and T (its shape), and the names in it."""

    shape: str
    rows: Rows
    columns: Columns


class Asking(msgspec.Struct, frozen=True):
    """The context of a question: the topic, the last reply and the size of the game."""

    topic: Topic
    reply: Columns  # attributes the last reply said it likes or dislikes
    ranked: bool  # whether the last reply ranked the proposals
    stated: Cells  # what this message has told so far
    news: Cells  # what this sentence tells, in a message that asks for an answer
    everyone: Rows
    everything: Columns


def appeals(sentence: Sentence, asking: Asking) -> Appeals:
    """Return the appeals of a sentence, that is, its questions about the target's likes, knowledge
    and choice; empty if it asks nothing that the target can answer."""
    tokens = group_proposals(sentence.tokens, asking.topic, len(asking.everyone))
    text = shape(tokens)
    if not asks(sentence, text):
        return Appeals(informational=asking.news if NEWS.search(text) else ())
    clause_appeals = [
        _ask(c, asking) for c in clauses(tokens, text) if sentence.asks or asks(sentence, c.shape)
    ]
    return Appeals(
        motivational=tuple(sorted({c for f in clause_appeals for c in f.motivational})),
        informational=tuple(sorted({c for f in clause_appeals for c in f.informational})),
        inferential=tuple(sorted({r for f in clause_appeals for r in f.inferential})),
    )


def shape(tokens: tuple[Token, ...]) -> str:
    """Return the sentence with every proposal replaced by P and every attribute by T."""
    signs = {"proposal": "P", "attribute": "T"}
    text = " ".join(signs.get(t.sort, t.text) for t in tokens)
    return text.replace("the system", "you")


def asks(sentence: Sentence, text: str) -> bool:
    """Return whether a sentence asks something: it has a question mark, opens like a question, or
    contains an embedded question or a demand."""
    if sentence.asks:
        return True
    if OFFER.search(text):
        return False
    return bool(OPENS.match(text) or INNER.search(text) or DEMANDS.search(text))


def clauses(tokens: tuple[Token, ...], text: str) -> Iterator[Clause]:
    """Yield the separate questions of one sentence, each with its names."""
    names = iter([t for t in tokens if t.sort in ("proposal", "attribute")])
    cuts = [0, *(m.end() for m in SPLIT.finditer(text)), len(text)]
    for start, end in itertools.pairwise(cuts):
        main_clause = _main(text[start:end])
        name_tokens = [next(names) for _ in re.findall(r"\b[PT]\b", text[start:end])]
        name_tokens = name_tokens[len(name_tokens) - len(re.findall(r"\b[PT]\b", main_clause)) :]
        if OR_ELSE.match(main_clause) and start:
            continue
        if end < len(text) and ADMITS.match(main_clause):
            continue
        yield Clause(
            shape=main_clause.strip(),
            rows=tuple(sorted({r for t in name_tokens for r in t.rows})),
            columns=tuple(sorted({t.column for t in name_tokens if t.sort == "attribute"})),
        )


def _main(text: str) -> str:
    """Return the question without its introductory clause: `since ..., would you ...?`"""
    starts = [m.start(1) for m in MAIN.finditer(text)]
    if not starts or ABOUT_FIRST.match(text):
        return text
    main = text[starts[-1] :]
    return main if re.search(r"\b[PT]\b", main) or not OPENS.match(text) else text


def _ask(clause: Clause, asking: Asking) -> Appeals:
    text = clause.shape
    if BARE_WHY.match(text):
        return _ask_reasons(asking)
    if _asks_knowledge(text):
        return _knowledge(clause, asking)
    if FACT.match(text) and clause.columns and not YOURS.search(text):
        return Appeals(informational=_cross(clause.rows, clause.columns))
    if IS_IT.match(text) and clause.columns:
        return Appeals(clause.columns, _cross(asking.topic.rows[:1], clause.columns))
    if clause.rows:
        return _about_proposals(clause, asking)
    if clause.columns:
        likes = clause.columns if LIKES.search(text) else ()
        return Appeals(motivational=likes)
    return _general(text, asking)


def _asks_knowledge(text: str) -> bool:
    """Return whether a question asks for knowledge: `what do you know`, but not `let me know`."""
    heard = TO_KNOW.sub("tell", text)
    states_knowledge = ALREADY.search(text) or MATTERS.search(text)
    return bool(KNOWS.search(heard)) and not states_knowledge


def _knowledge(clause: Clause, asking: Asking) -> Appeals:
    """Return what a question about the target's knowledge asks for: the effects of the named
    proposals on the named attributes (all effects if nothing is named), or the effect that `that`
    refers to."""
    if not clause.rows and not clause.columns and JUST_THAT.search(clause.shape):
        return Appeals(informational=_cross(asking.topic.rows, asking.topic.columns[-1:]))
    likes = asking.everything if KNOW_AND_LIKE.search(clause.shape) else ()
    cells = _cross(clause.rows or asking.everyone, clause.columns or asking.everything)
    return Appeals(motivational=likes, informational=cells)


def _cross(rows: Rows, columns: Columns) -> tuple[tuple[int, int], ...]:
    return tuple((r, c) for r in rows for c in columns)


def _ask_reasons(asking: Asking) -> Appeals:
    """Return what a lone `why?` asks about: the reasons for the target's last reply."""
    if asking.ranked:
        return Appeals(
            asking.everything, _cross(asking.everyone, asking.everything), asking.everyone
        )
    return Appeals(motivational=asking.reply)


def _about_proposals(clause: Clause, asking: Asking) -> Appeals:
    """Return the appeals of a question that names proposals.

    Such a question usually asks for the target's ranking of these proposals (inferential); it may
    also, or instead, ask for their effects (informational) or for the target's likes
    (motivational).
    """
    text = clause.shape
    if not clause.columns and LIKE_OF.search(text):
        return Appeals(motivational=asking.everything, inferential=clause.rows)
    if not clause.columns and LIKE_ABOUT.search(text):
        return Appeals(asking.everything, _cross(clause.rows, asking.everything))
    reasons = ABOUT.search(text) or THINK_OF.search(text)
    if reasons and not clause.columns and len(clause.rows) == 1:
        opinion = THINK_OF.search(text)
        return Appeals(
            asking.everything,
            () if opinion else _cross(clause.rows, asking.everything),
            clause.rows,
        )
    if HOW_ABOUT.search(text):
        return Appeals((), _cross(clause.rows, asking.everything), clause.rows)
    weighed = clause.columns if WEIGHS.search(text) else ()
    cells = _cross(clause.rows, clause.columns)
    if not EFFECT.search(text) or URGES.search(text):
        return Appeals(motivational=weighed, inferential=clause.rows)
    stated_cells = tuple(c for c in cells if c in asking.stated) or cells
    ranked = clause.rows if RANKS.search(text) else ()
    return Appeals(motivational=weighed, informational=stated_cells, inferential=ranked)


def _general(text: str, asking: Asking) -> Appeals:
    """Return what a question that names no proposal and no attribute asks the target about."""
    if POINTS_BACK.search(text) and asking.topic.columns:
        return Appeals(motivational=asking.topic.columns)
    if WANTS_ALL.search(text) or (CRITERIA.search(text) and LIKES.search(text)):
        return Appeals(motivational=asking.everything)
    if PRONOUN.search(text):
        return Appeals(motivational=asking.topic.columns[-2:] if not asking.reply else asking.reply)
    if THIS_CHANGES.search(text):
        rows = (
            tuple(sorted({row for row, _ in asking.stated}))
            or asking.topic.pair
            or asking.topic.rows
        )
        return Appeals(informational=asking.stated, inferential=rows)
    if WHICH_ONE.search(text):
        return Appeals(inferential=asking.everyone)
    if AGREE.search(text):
        return Appeals(inferential=asking.topic.pair or asking.topic.rows)
    return Appeals()
