"""The shapes of questions: proposals are written P and attributes T before these are tried."""

import re


def any_of(*shapes: str) -> re.Pattern[str]:
    """Any of the shapes, each as whole words."""
    return re.compile("|".join(rf"\b(?:{shape})\b" for shape in shapes))


def starts(*shapes: str) -> re.Pattern[str]:
    """The same at the very start."""
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

# Is it a question at all?
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

# Where does one question end and the next begin, and where does the asking start?
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

# What does it ask for?
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
