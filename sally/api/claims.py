"""Results of control arms and certified pairs, for the checklist of claims."""

from __future__ import annotations

from collections.abc import Sequence

import sally.store as store
from sally.analysis.design.claims import ORDER, Controls, arm_reasons, arm_results
from sally.analysis.evaluation import certified_order
from sally.api.pair_evaluation import evaluation_of_episodes
from sally.core.errors import BadInput
from sally.frames.frame import as_frame
from sally.store import Where
from sally.studies import sally_2


def claim_controls(folders: Sequence[Where], pairs: Where | None) -> dict[str, Controls]:
    """Return what the control arms of stores and a store of certified pairs say, by game.

    Raises:
        BadInput: If the store of pairs holds no finished position of the suite Sally-2.
    """
    evaluation = None
    if pairs is not None:
        positions = [
            episode
            for episode in store.load(pairs).episodes.values()
            if episode.setup.instance.position is not None and not store.to_run_again(episode)
        ]
        if not positions:
            raise BadInput(f"The store {pairs} holds no finished position of certified pairs.")
        evaluation = evaluation_of_episodes(positions, sally_2.suite("L"), len(positions))
    certifying_orders = sally_2.certifying_orders(ORDER)
    frames = [as_frame(folder) for folder in folders]
    results = [result for frame in frames for result in arm_results(frame)]
    games = {game for frame in frames for game in frame.episodes["game"].unique()}
    return {
        game: Controls(
            arm_reasons(results, game),
            certified_order(evaluation, game, certifying_orders.get(game, ())),
            game in certifying_orders,
        )
        for game in games
    }
