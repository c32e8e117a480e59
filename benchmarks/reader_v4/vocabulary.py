"""The words by which a reply is told to choose, deny, doubt, quote or take back; plain texts only.

Lists are written as `any_of` takes them: `_` is a space, `*` any ending, `(s)` may be missing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cached_property


class Pattern:
    """A pattern that is compiled when it is first used, so that starting takes no time for it."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._text)

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        return self._compiled.search(text, start, end)

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        return self._compiled.match(text, start)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self._compiled.finditer(text)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        return self._compiled.fullmatch(text)

    def split(self, text: str) -> list[str]:
        return self._compiled.split(text)

    def sub(self, new: str, text: str, most: int = 0) -> str:
        return self._compiled.sub(new, text, most)

    def findall(self, text: str) -> list[str]:
        return self._compiled.findall(text)


def any_of(*lists: str) -> str:
    """The alternatives of some lists of words, as a part of a pattern."""
    words = " ".join(lists).replace("*", r"\w*").replace("(", "(?:").replace(")", ")?")
    return "|".join(word.replace("_", " ") for word in words.split())


def words(*lists: str) -> frozenset[str]:
    """The words of some lists."""
    return frozenset(" ".join(lists).split())


# --- what takes the clearness from a choice -------------------------------------------------------

DENIED = any_of(
    "no not nope nah never neither nor none nothing non except excluding avoid* without",
    "other_than instead rather against cannot dont doesnt didnt wont cant isnt arent wasnt",
    "werent hasnt havent hadnt wouldnt shouldnt couldnt mustnt neednt aint ain refus* reject*",
    "declin* opposite wrong false mistake* untrue opposed skip pass lie lying least minus",
)
REVOKED = any_of(
    "actually wait scratch strike correction correct_that i_mean i_meant sorry oops whoops",
    "hold_on second_thought(s) on_reflection never_mind nevermind kidding joking joke jk",
    "sarcas* change changed changing switch* reconsider* revis* retract* withdraw* take_it_back",
    "take_that_back took_it_back took_that_back ignore* disregard* forget cancel* undo replac*",
    "edit",
)
DOUBTED = any_of(
    "or but however although though yet maybe perhaps possibly probably might may could either",
    "unsure uncertain doubt* hesita* depend* tempt* lean* inclin* consider* wonder* if unless",
    "until otherwise else whether when whenever provided assuming suppos* alternatively",
    "hypothetical* pretend* almost nearly guess random* toss* coin",
)
QUOTED = any_of(
    r"say says said saying tell tells told ask asks asked write writes wrote written replied",
    r"quot* instruct* prompt* example* e\.g eg instance such_as format* template* claim*",
    r"suggest* recommend* wants_me wanted according placeholder",
)
UNCLEAR = Pattern(rf"\b(?:{DENIED}|{REVOKED}|{DOUBTED}|{QUOTED})\b|[?❌✗✘🚫👎⛔🤔🤷]")
REVOKES = Pattern(rf"\b(?:{REVOKED})\b")
_SECOND = any_of(
    "or actually wait instead rather unless but however maybe perhaps no otherwise else",
)
SECOND_THOUGHT = Pattern(rf"\b(?:{_SECOND})\b")

# How a sentence begins that takes back what stands before it.
_TAKES_BACK = any_of(
    "nah wait actually correction a_correction sorry oops whoops hold_on scratch strike or",
    "rather make_that make_it never_mind nevermind kidding just_kidding joking jk unless except",
    "edit ignore disregard forget_that forget_it forget_what cancel undo instead only_if",
    "then_again second_thought second_thoughts on_second upon_second on_reflection",
    "upon_reflection i_mean i_meant i_take i_took i_change i_changed i_withdraw i_retract",
    "i_reconsider i_was_wrong i_was_kidding i_made_a i_refuse i_am_not i_am_unsure i_lied",
    "im_not im_unsure im_kidding im_joking im_lying",
)
_MINDS = "expect think believe trust know see need lose risk mind care fear worry"
STEADY = any_of(_MINDS, "assume predict change regret hesitate doubt")  # what `I do not` may deny
TAKES_BACK = Pattern(
    rf"(?:{_TAKES_BACK})\b|hm+\b|"
    r"no(?:pe)?(?: *[,.!;:—–-]|$| (?:i|we|that|it|make|let|use|option|not)\b)|"
    r"not(?! only| \w+ing .*\b(?:would|will|costs?|loses?|risks?|leaves?)\b)\b|"
    r"(?:that|this|it|the above) (?:is|was) (?:wrong|a mistake|not|incorrect|an error|a joke)|"
    r"i (?:do not|dont|wont|will not|cannot|cant|would not|wouldnt)"
    rf"(?! (?:{STEADY})\b)\b"
)

# --- what speaks for a choice ---------------------------------------------------------------------

GOOD = any_of(
    "best better safe safer safest good great right correct optimal dominant rational logical",
    "fair* strong* wise* sensible reasonable smart* most more only highest higher lowest least",
    "less_risky nash equilibrium choice option move answer strategy reply response one reason",
    "same simplest natural obvious sure likely expected balanced cooperative maximin solid",
    "profitable consistent final clear clearly cautious generous kind nice closest nearest",
    "shortest fastest largest smallest maximum minimum beneficial advantageous favorable",
    "favourable preferable worth enough fine perfect ideal promising robust stable steady true",
    "known usual pattern payoff reward plan result outcome goal way key point average level",
    "number word clue place box card",
)
GIVES = any_of(
    "give(s) pay(s) yield(s) earn(s) win(s) beat(s) bring(s) get(s) gain(s) maximise(s)",
    "maximize(s) minimise(s) minimize(s) keep(s) protect(s) secure(s) guarantee(s) ensure(s)",
    "let(s) make(s) allow(s) lead(s) avoid(s) reduce(s) increase(s) improve(s) follow(s) fit(s)",
    "match(es) reward(s) punish(es) build(s) encourage(s) continue(s) offer(s) provide(s)",
    "balance(s) help(s) work(s) dominate(s) leave(s) show(s) signal(s) respond(s) reflect(s)",
    "serve(s) save(s) score(s) align(s) aim(s) cover(s) connect(s) link(s) relate(s) point(s)",
    "describe(s) suit(s) combine(s) exploit(s) support(s) take(s)_advantage",
)
MINDS = any_of(_MINDS, "assume predict anticipate hope gain understand remember")
DOES = rf"{MINDS}|give(?! up)|" + any_of(
    "thought expected believed want prefer win earn get receive keep kept stay stick follow",
    "copy cooperate cooperating defect repeat maximise maximize minimise minimize avoid protect",
    "chose choose chosen choosing pick picked picking select selected play played playing take",
    "taking go going decided based used use considered looked noticed saw confident sure",
    "certain happy look rely build aim aiming try trying started continue respond reciprocate",
    "reward punish make let show like reasoned offer propose trade request accept agree craft",
    "send hold tell hint connect place plan weighed compared counted hoping expecting following",
    "staying sticking trusting assuming answer reply weigh",
)
TO_GAIN = any_of(
    "maximise maximize minimise minimize be_safe be_fair be_kind be_nice gain win get earn keep",
    "make protect secure ensure build encourage reward punish help match beat stay show signal",
    "continue",
)

# --- what may stand before a name in a choice -----------------------------------------------------

MINE = words(
    "i ill id im we my you the so then therefore thus hence final finally best is am will would",
    "should choose choosing pick picking picked select selecting selected play playing take go",
    "with going choice answer option decision move action number letter for this round turn in",
    "it be let me lets of on to and ok okay sure well a an yes definitely certainly clearly",
    "absolutely simply just confidently want its gonna shall must right correct",
)
THEIRS = words(
    "i we my the so then therefore thus hence final finally is that will would should most",
    "likely probably again think expect predict guess believe assume prediction answer option",
    "choice number letter move action for this round turn in it be of to and ok okay sure well",
    "a an other player players they their opponent partner pick picks picked choose chooses",
    "chose select selects play plays take takes go goes with yes definitely certainly clearly",
)

# --- how sentences begin, and whom they speak of --------------------------------------------------

# A subject, a conjunction, a preposition, an adverb of place.
OPENS = any_of(
    "the they theyre we us their there he she his her both each every everyone all most many",
    "some one two other others another because since as given while although though even so",
    "thus therefore hence also and besides moreover furthermore additionally overall ultimately",
    "finally however no_matter if in at by with from for to on after before during until over",
    "against among between through within compared based considering looking knowing assuming",
    "expecting my our your you what whatever when where whoever who how here now again always",
    "otherwise then first second third next last previously so_far same like best highest high",
    "certainly clearly definitely obviously simply naturally absolutely surely firmly",
    "confidently consistently not_only nothing_else no_other player players opponent(s)",
    "partner(s) bob alice ann cooperation mutual user users agent agents",
)
# No statement without a verb, unless it praises.
FRAGMENTS = any_of(
    "the as a an depending another other in on by at to for with from before during until over",
    "against among between through within",
)
CONDITIONS = any_of(
    "if when whenever unless until once as_long so_long as_far in_case on_condition provided",
    "providing assuming supposing only given_the_chance for_all_i with_a_grain",
)
OTHERS = any_of(
    "they them their he she him her other(s) opponent(s) partner(s) player(s) if even because",
    "since expect predict would than less worse lose(s) lost beat(s) against avoid(s) unlike",
    "over after when round last so_far give(s) pay(s) whether considered risk* user bob alice",
    "ann",
)
LEADS = any_of(
    "after given based_on considering taking looking_at to with from overall ultimately",
    "all_in_all in_this_round in_this_turn in_this_end in_this_light in_the_round in_the_turn",
    "in_the_end in_the_light in_light in_view in_order in_conclusion in_short in_sum",
    "for_this_round for_this_turn for_the_round for_the_turn as since because my the they their",
    "he she both everyone i we it this",
)

# --- words on what was said -----------------------------------------------------------------------

SPEECH = any_of(
    "say says said answer reply response write output type sentence line word(s) phrase text",
    "string format template pattern",
)
# Words on what was said, not on the game: whoever uses them shortly after a choice corrects it.
SLIPS = any_of(
    "wrong* mistak* error errors erroneous* typo(s) slip slips slipped misspoke* misspok*",
    "mistyp* misread* misclicked misstated miswrote miswritten backward(s) swapped mixed",
    "garbled amend* correction corrected correcting redo* void* invalid discard* delet* crossed",
    "struck eras* meant bad kidding jok* lie lied lies lying bluff* fake false untrue pretend*",
    "test testing placeholder not_count after_all take_it_back take_that_back instead rather",
    "apolog* sorry oops whoops scratch ignore* disregard* forget cancel* retract* withdr*",
    "revis* reconsider* changed changing switch switched switching give_up made_up made_it_up",
    "made_that_up refus* declin* abstain* take_part stupid foolish silly terrible awful",
    "opposite reverse contrary not_mine the_other_one the_other_way quoting as_if depend* wish",
    "jest* the_line line_above the_above read_it_as read_that_as read_this_as let_me psych",
    "dream(s) overrul* myself my_mind obsolete outdated supersed*",
)
HEADINGS = any_of(
    "reason reasons reasoning explanation(s) why thought(s) thinking rationale justification",
    "analysis note(s) confidence confidence_level plan(s) insight(s) belief(s) strategy summary",
    "conclusion logic evidence observation(s) because",
)
