"""The vocabulary of the rule-based reader: words for directions of effects, and words that
introduce questions."""

import re

# What a direction word allows, most likely reading first: the true one among them is taken
# when the reader knows the facts, the first when it does not.
Allowed = tuple[int, ...]
UP: Allowed = (1,)
DOWN: Allowed = (-1,)
SAME: Allowed = (0,)
NOT_DOWN: Allowed = (0, 1)
NOT_UP: Allowed = (0, -1)


def _words(stems: str) -> re.Pattern[str]:
    """Compile a pattern of words that begin with a stem; a stem ending in `!` must be the full
    word."""
    parts = [re.escape(s[:-1]) if s.endswith("!") else s + "[a-z]*" for s in stems.split()]
    return re.compile("(?:" + "|".join(parts) + r")\Z")


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(words.split())


RISES = _words(
    "increas boost enhanc improv raise raising! strengthen accelerat promot grow gain maximiz "
    "maximis expand elevat higher! more! greater! faster! stronger! quicker! safer! leap! "
    "leaps! foster rise! rises! rising! rose! risen! spike spiking surg bolster advance! "
    "advances! advancing! up! upward enrich uplift uptick amplif benefit help support drive! "
    "drives! driving! positive heighten escalat augment multipl skyrocket ups! upping! turbo "
    "lift! lifts! lifting! ramp ramps! speeding! hike! hikes! hiking! better! adds! adding! "
    "add! generat facilitat encourag further! furthers! furthering! stimulat propel highest! "
    "achieves! delivers! greatest! fastest! optimiz optimis"
)
FALLS = _words(
    "decreas reduc lower! lowers! lowered! lowering! lessen diminish cut! cuts! cutting! harm "
    "hurt damag weaken slow! slows! slowed! slowing! slower! slowdown! hinder sacrific limit "
    "compromis undermin erod erosion! drop! drops! dropping! declin less! worse! worsen "
    "negative curb drain deplet slash minimiz minimis sabotag degrad jeopardiz jeopardis "
    "threaten stifl hamper detriment loss! losses! lose! loses! losing! lost! shrink restrict "
    "imped impair down! downward endanger suppress cripple destroy fall! falls! falling! "
    "deteriorat save! saves! saving! savings! cheaper! fewer! risk! risks! risking! obstruct "
    "discourag delay sink! sinks! plummet disrupt downside drawback detract crater dent! "
    "dents! knock trim! trims! trimming! dip! dips! constrain lowest! least! stall stalls! "
    "regress crash collaps inhibit ease! eases! easing! mitigat alleviat"
)
STAYS = _words(
    "unaffect unchang neutral! neutrality! stable! stabilit stabiliz stabilis steady! stagnat "
    "constant! unalter untouch unimpact ignor neglect neglects! flat! intact!"
)
KEEPS = _words(
    "maintain preserv keep! keeps! keeping! sustain safeguard protect retain uphold holds! "
    "holding! secures! securing! conserv remain stays! staying! ensur"
)
TOUCHES = _words("affect effect impact influenc chang alter touch interfer address differ")
DENIES = _words(
    "not! no! never! without! neither! nor! none! avoid prevent fail fails! failing! lack "
    "cannot! zero! minimal! little! nothing! refrain"
)
CONTINUERS = word_set(
    "it this that and also will has with plus they have these which additionally moreover "
    "furthermore - does no"
)
DESIRES = word_set(
    "want wants wanting like likes dislike dislikes prefer prefers value values wish aim goal "
    "goals desire desires priority prioritize prioritise if should need needs interest "
    "interested important importance hate love hope aiming seek seeking preference "
    "preferences care lets let's must"
)
OPENERS = word_set("since because by with to through given in besides beyond")
ASIDES = word_set("unlike compared versus vs than")
ASKERS = word_set("is are does do will would can could has have")
ECHOES = word_set("do does will would")
NOUNS = word_set("proposal proposals option options choice choices prop props plan plans")
JOINS = word_set(", and or & / nor + both") | NOUNS
BEFORE_IT = word_set(
    ", ; : - ( and but because since as that does will would though although while whereas so "
    "also think believe if when then is not unlike plus can could may might where"
)
WEAK = word_set("better more less best help helps helping support supports supporting most least")
SEEMS = word_set("seems seem looks look sounds sound feels feel would you i we 'd")
PLACES = word_set("in with under from by")
SIDES = word_set("aspect aspects area areas regard respect front")
ARTICLES = word_set("the a an its this slight")
MOVERS = _words(
    "increas decreas reduc limit restrict boost enhanc expand improv lower! lowers! lowering! "
    "rais cut! cuts! cutting! more! less! fewer! promot slow accelerat delay hinder faster! speed"
)
OTHERS = word_set("others alternatives other alternative remaining")
MODALS = word_set("can could might may")
STEPS = word_set("on in to of for the upon at all")
LINKS = word_set(
    "which that who whose where because since as while whereas but although though so "
    "therefore thus however if when yet until whenever"
)
CONTRASTS = word_set(
    "unlike than versus vs compared over against except besides beats like as superior "
    "inferior preferable"
)
THROUGH = word_set("with under by from through via in of for choosing selecting picking")
AUXILIARY = word_set(
    "go goes going will would could can may might is are be been being has have had does do "
    "did also even level levels further significantly slightly greatly only just not"
)
SUPPOSES = word_set("if unless whether suppose supposing assuming imagine")
NO_SLIPS = word_set("propose proposes proposed proposing")  # words, not slips of `proposal`
# Words that plainly state a direction: a false statement with them is a lie.
PLAIN = _words(
    "increas decreas reduc rais rise! rises! rising! lower! lowers! lowering! improv boost enhanc "
    "strengthen weaken diminish lessen drop! drops! fall! falls! harm! harms! harming! hurt! "
    "hurts! hurting! more! less! higher! cut! cuts! cutting! grow! grows! declin unaffected! "
    "unchanged! affect! affects! affecting! effect! effects! impact! impacts! impacting! slow! "
    "slows! slowing! slower! faster! worsen damag"
)
DENIALS = word_set("not no never neither nor")
# Words allowed between a proposal and a plain statement about it.
BETWEEN = word_set(
    ", and or nor & - : ( ) / 's the a an its our your any on in of both will would does do did "
    "has have had is are be being been also even only just actually really significantly slightly "
    "greatly directly further overall level levels while which that"
)
ENDS_DENIAL = word_set(
    "because since as while whereas although though which who however if when yet until where"
)
FILLERS = word_set(
    "the a an in on of to for any our their your its my this that these those both also even "
    "significantly greatly slightly substantially directly overall will would could can may "
    "might is are be been being has have had having does do did really actually only just all "
    "some such potential level levels rate rates s very much drastically strongly strong big "
    "huge major additional actively negatively positively as at between either out what "
    "further terms regarding respect toward towards about significant you we dislike like "
    "important key critical crucial current existing present same status quo clear notable"
)
