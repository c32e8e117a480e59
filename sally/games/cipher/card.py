"""Baseline players of Cipher (its card), which ignore how each listener interprets a hint."""

from __future__ import annotations

from sally.core.registry.study import instance, player_spec
from sally.core.rules.card import Card, Condition
from sally.games.association.conditions import opposite

ROWS = 60
INSTANCES = tuple(instance("cipher", f"cipher {n:03d}", number=n, games=1) for n in range(ROWS))
WHICH = tuple(
    instance("cipher", f"which {n:03d}", set="which", number=n, rounds=1, tokens=1)
    for n in range(50)
)
ENCODERS = opposite("nearest decoy", "same anything", "hub loner", "top16 decoy")
GUESSERS = opposite("first_left last_left", "like_last_code unlike_last_code")
METRICS = ("cipher_won", "cipher_intercepted", "cipher_miscommunicated", "cipher_hint_regret")


def _encoder(name: str, interceptor: str, uses_which_set: bool = False) -> Condition:
    return Condition(
        name=name,
        instances=WHICH if uses_which_set else INSTANCES,
        seat="encoder",
        others={"decoder": player_spec("by_keywords"), "interceptor": player_spec(interceptor)},
        shortcuts=ENCODERS,
        metrics=METRICS,
    )


CARD = Card(
    family="cipher",
    about="scores of hints and guesses that ignore what a hint means to each listener",
    unattacked="no option is right in itself: hints are as good as what both listeners make of "
    "them, which the conditions measure",
    episodes=25,  # 42 s of processor time; 50 take 76 s
    conditions=(
        _encoder("encoder, interceptor by history", "by_history"),
        _encoder("encoder, interceptor by Bayes", "by_bayes"),
        _encoder("encoder, set which, interceptor by history", "by_history", uses_which_set=True),
        _encoder("encoder, set which, interceptor by Bayes", "by_bayes", uses_which_set=True),
        Condition(
            name="decoder, clear hints",
            instances=INSTANCES,
            seat="decoder",
            others={"encoder": player_spec("nearest"), "interceptor": player_spec("random")},
            shortcuts=(*GUESSERS, *opposite("greedy_first greedy_last")),
            metrics=("cipher_won", "cipher_miscommunicated", "cipher_guess_regret"),
        ),
        Condition(  # hints that the decoder's mind reads right in all but a few rounds
            name="interceptor, clear hints",
            instances=INSTANCES,
            seat="interceptor",
            others={"encoder": player_spec("nearest"), "decoder": player_spec("by_keywords")},
            shortcuts=GUESSERS,
            metrics=("cipher_won", "cipher_intercepted", "cipher_guess_regret"),
        ),
    ),
)
