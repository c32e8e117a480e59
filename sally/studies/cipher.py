"""The cipher study, with scripted encoders and a language model.

Cells vary what the encoder is told about the interceptor, whether encoder and decoder share word
associations that the interceptor lacks, and whether a mechanism takes the interceptor's place.

Cells named `scripted: ...` need no model: `sally run cipher --cell "scripted:*"`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sally.core.log.events import Instance, PlayerSpec
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.players.language import OPEN

ROWS = 15  # of four games: 60 games per lineup
PROBES = {
    "encoder": ("listener", "their_guess"),
    "interceptor": ("keyword", "keyword_before", "keyword_of_another"),
}
WAYS = {"history": "by_history", "bayes": "by_bayes"}
LINKS = {"kind": "links", "amount": 2.0, "who": 1}
# The chances that 0, 1, 2 and 3 places of the guess of `by_history` are right against `nearest`, in
# the first round and later: counted in 400 games by `benchmarks/cipher.py --confusion`.
CONFUSION = ((0.4425, 0.3725, 0.1575, 0.0275), (0.003, 0.049, 0.159, 0.789))


def _games(label: str, **params: Any) -> tuple[Instance, ...]:
    return tuple(instance("cipher", f"{label} {n:03d}", number=n, **params) for n in range(ROWS))


def _cell(
    name: str,
    encoders: PlayerSpec | tuple[PlayerSpec, ...],
    interceptors: PlayerSpec | tuple[PlayerSpec, ...],
    instances: tuple[Instance, ...],
    decoder: PlayerSpec | None = None,
    probes: Mapping[str, tuple[str, ...]] | None = None,
) -> Cell:
    decoder = decoder or player_spec("by_keywords")
    lineups = grid(encoder=encoders, decoder=decoder, interceptor=interceptors)
    return Cell(name, instances, lineups, dict(probes or {}))


ENCODERS = (
    *(player_spec(name) for name in ("nearest", "same", "top16", "anything", "adapts")),
    *(player_spec("crossing", against=name) for name in WAYS),
)
INTERCEPTORS = tuple(player_spec(name) for name in ("by_history", "by_bayes", "random"))
PLAIN = _games("cipher")
WHICH = _games("which", set="which", rounds=1, tokens=1)
_MODEL = player_spec("language", model=OPEN, strategy="qa")


def _wrong_models(player: PlayerSpec, name: str) -> tuple[Cell, ...]:
    """Return the cells in which a player is told which interceptor it will meet, and then meets
    that interceptor or the other one."""
    return tuple(
        _cell(
            f"{name}: told {announced}, meets {interceptor}",
            player,
            player_spec(WAYS[interceptor]),
            _games(f"which told {announced}", set="which", rounds=1, tokens=1, told=announced),
            probes={"encoder": ("listener",)},
        )
        for announced in WAYS
        for interceptor in WAYS
    )


STUDY = Study(
    name="cipher",
    about="cipher: encoders that are clear, vague, or model both listeners; wrong models, private "
    "links, and a mechanism instead of an interceptor",
    cells=(
        _cell("scripted: encoders and interceptors", ENCODERS, INTERCEPTORS, PLAIN),
        _cell("scripted: certified", ENCODERS, INTERCEPTORS[:2], WHICH),
        _cell(
            "scripted: links shared by encoder and decoder",
            (player_spec("nearest", **LINKS), player_spec("crossing", **LINKS)),
            INTERCEPTORS[:1],
            PLAIN,
            decoder=player_spec("by_keywords", **LINKS),
        ),
        _cell(
            "scripted: mechanism",
            ENCODERS,
            player_spec("channel"),
            _games("channel", channel=[list(row) for row in CONFUSION]),
        ),
        _cell("model encodes", _MODEL, INTERCEPTORS, PLAIN, probes=PROBES),
        *_wrong_models(_MODEL, "model"),
        _cell(
            "model intercepts",
            ENCODERS[:3],
            _MODEL,
            PLAIN,
            probes=PROBES,
        ),
    ),
)
