"""What a group has left to name, packed into whole numbers: the same as counted one by one."""

import numpy as np
import pytest

from sally.games.toma.mg.draft import DISLIKES, LIKES, Bools, Small
from sally.games.toma.mg.even import _cells, budgets
from sally.games.toma.mg.room import room


def counted(left: Small, agents: int) -> Bools:
    """Whether the agents of the group still to come can name exactly what is left, by counting."""
    once, twice, dislikes = left[:4], left[4:8], left[8:]
    fits: Bools = left.min(axis=0) >= 0
    likes = (once + 2 * twice).sum(axis=0, dtype=np.int8)
    fits &= (likes >= LIKES[0] * agents) & (likes <= LIKES[1] * agents)
    fits &= (once + twice).max(axis=0) <= agents
    fits &= twice.sum(axis=0, dtype=np.int8) <= agents
    named = dislikes.sum(axis=0, dtype=np.int8)
    fits &= (named >= DISLIKES[0] * agents) & (named <= DISLIKES[1] * agents)
    fits &= dislikes.max(axis=0) <= agents
    return fits


@pytest.mark.parametrize("agents", [2, 4, 6, 8])
def test_what_is_packed_leaves_room_where_counting_does(agents: int) -> None:
    rng, cells, many = np.random.default_rng(agents), _cells(), 60
    allowed = np.array(budgets(agents), np.int8)
    left = np.repeat(allowed[rng.integers(len(allowed), size=many)], 4, axis=1)
    rooms = 0
    for still in range(agents - 1, -1, -1):
        about = rng.integers(9, size=len(left))
        fits = room(left, about, still)
        assert (fits == counted(left.T[:, :, None] - cells[:, about], still)).all()
        rooms += int(fits.sum())
        chosen = (rng.random(fits.shape) * fits).argmax(axis=1)
        kept = fits[np.arange(len(left)), chosen]
        left = (left - cells[:, about, chosen].T)[kept]
    assert rooms
    assert not left.any()
