"""A store in which everything that can be said is hostile: replies, names, the study itself."""

from __future__ import annotations

from pathlib import Path

from sally.api.studies import run
from sally.core.prompt.model import ModelKind, Reply, Usage
from sally.core.registry import registry
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.models.stub import Scripted, even

REPLIES = (
    "<script>document.title = 'ran'</script>",
    "</script><img src=x onerror=\"document.title='ran'\">",
    "javascript:document.title='ran'",
    "]]> --> </textarea></pre></details></main><style>*{display:none}</style>",
    "\u202eright to left\u202c and a\x00zero, half a character \ud800",
    '" onmouseover="document.title=1" x="',
    "<a href=https://example.org/leak>here</a><meta http-equiv=refresh content=0>",
    "{{7*7}} ${7*7} <svg onload=alert(1)>",
)
NAME = "<b>bold</b> & \"quoted\" </title><script>document.title='ran'</script>"


def hostile_model() -> ModelKind:
    """Says one hostile thing after another, and a legal option after every third."""
    count = 0

    def script(messages: object, settings: object) -> Reply:
        nonlocal count
        count += 1
        text = REPLIES[count % len(REPLIES)]
        legal = f"{text}\nOption: {'JF'[count % 2]}" if count % 3 else text
        return Reply(legal, usage=Usage(input=7, output=3, seconds=0.5, cost=0.25))

    return ModelKind("hostile", "hostile", lambda name: Scripted(script, even, name=name))


def hostile_study() -> Study:
    """Two short games, one with a model that is nasty."""
    probed = {"agent": ("their_move_given_mine",)}
    agents = (player_spec("language", model="hostile", strategy="qa"), player_spec("random"))
    cell = Cell(
        NAME,
        (instance("ipd", f"{NAME}-3", rounds=3, void_limit=3),),
        grid(agent=agents, partner=player_spec("tit_for_tat")),
        arms=probed,
        repeats=3,
    )
    return Study("hostile", f"about {NAME}", (cell,))


def hostile_store(folder: Path) -> Path:
    """The study, played into a store."""
    registry.add("models", "hostile", hostile_model())
    run(hostile_study(), folder)
    return folder
