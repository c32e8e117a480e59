"""Shards: where a study is cut, and that it travels as names and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sally.core.log.events import (
    Call,
    Censored,
    Ended,
    Episode,
    Instance,
    Moved,
    PlayerSpec,
    Setup,
    episode_id,
)
from sally.runner import sharding
from sally.runner.budget import Meter
from sally.runner.local import orders
from sally.runner.orders import Order, Orders, PackedEpisodes
from sally.runner.sharding import LEAST, MOST, cuts_of
from sally.runner.shards import Job, ProgressCounter, Shard
from sally.store import Folder
from sally.studies.quickstart import STUDY


def shards_of(
    expected: Orders, together: bool = False, there: Sequence[bool] | None = None
) -> Iterator[Shard]:
    cuts = cuts_of(expected, together, there)
    return (Shard(cut.name, expected.pack(cut.numbers)) for cut in cuts)


def order(number: int, game: str, agent: str, model: str = "") -> Order:
    player = PlayerSpec("language", {"model": model}) if model else PlayerSpec(agent)
    setup = Setup(
        Instance(game, game), number, {"agent": player, "partner": PlayerSpec("tit_for_tat")}
    )
    return f"{number:024x}", "cell", setup


def list_entries(made: Iterable[Order]) -> Orders:
    actual_orders = Orders()
    kinds: dict[bytes, int] = {}
    for _, cell, setup in made:
        alike = msgspec.json.encode((setup.instance, setup.lineup))
        if alike not in kinds:
            kinds[alike] = actual_orders.kind((cell, setup))
        actual_orders.add(kinds[alike], setup.seed, setup.repeat)
    return actual_orders.end()


GROUPS = st.lists(
    st.tuples(
        st.sampled_from(["rps", "ipd", "ibs"]),
        st.sampled_from(["random", "constant"]),
        st.sampled_from(["", "", "embedded", "openai/gpt-4o"]),
        st.integers(1, 700),
    ),
    max_size=6,
)


@given(GROUPS, st.booleans())
def test_every_episode_is_in_one_shard_and_no_shard_is_small(
    groups: list[tuple[str, str, str, int]], together: bool
) -> None:
    wanted_orders = list_entries(
        order(1000 * g + i, game, agent, model)
        for g, (game, agent, model, n) in enumerate(groups)
        for i in range(n)
    )
    cut = list(shards_of(wanted_orders, together))
    assert sorted(id for shard in cut for id, _, _ in shard.orders) == sorted(
        w[0] for w in wanted_orders
    )
    assert len({shard.name for shard in cut}) == len(cut)
    kinds = {"": "bots", "embedded": "models", "openai/gpt-4o": "providers"}
    for model, kind in kinds.items():
        own_cuts = [
            s for s in cut if s.orders[0][2].lineup["agent"].params.get("model", "") == model
        ]
        total = sum(len(shard.orders) for shard in own_cuts)
        for shard in own_cuts:
            assert len(shard.orders) >= min(LEAST[kind], total)
            assert len({o[2].lineup["agent"].params.get("model", "") for o in shard.orders}) == 1
        if together and kind != "bots":
            assert len(own_cuts) <= 1


def test_large_studies_are_sharded_by_game() -> None:
    wanted_orders = list_entries(order(i, ("rps", "ipd")[i % 2], "random") for i in range(2000))
    cut = list(shards_of(wanted_orders))
    assert len(cut) == 2000 // LEAST["bots"]
    assert all(len({o[2].instance.game for o in shard.orders}) == 1 for shard in cut)


def test_shard_size_of_a_very_large_study_is_limited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sharding.CUTS, "bots", 2)
    wanted_orders = list_entries(order(i, "rps", "random") for i in range(5500))
    sizes = [len(shard.orders) for shard in shards_of(wanted_orders)]
    assert sizes == [MOST] * 4 + [MOST + 500]  # a rest joins the last


def test_sharding_is_deterministic() -> None:
    assert list(shards_of(orders(STUDY))) == list(shards_of(orders(STUDY)))


def test_shard_name_does_not_depend_on_stored_episodes() -> None:
    wanted_orders = list_entries(order(i, "rps", "random") for i in range(170))
    full_shards = list(shards_of(wanted_orders))
    done = {id for id, _, _ in (*full_shards[0].orders[1:], *full_shards[2].orders)}
    source = wanted_orders.found_in(done)
    assert source == wanted_orders.found_in(set(done)) and wanted_orders.found_in(set()) is None
    other_shards = list(shards_of(wanted_orders, there=source))
    assert [shard.name for shard in other_shards] == [full_shards[0].name, full_shards[1].name]
    assert (
        other_shards[0].orders == full_shards[0].orders[:1]
        and other_shards[1].orders == full_shards[1].orders
    )


def test_orders_are_combined_in_order_without_duplicates() -> None:
    new_orders = [order(i % 7, "rps", "random") for i in range(20)]
    wanted_orders = list_entries(new_orders)
    assert (
        [o[1:] for o in wanted_orders]
        == [o[1:] for o in new_orders[:7]]
        == [o[1:] for o in wanted_orders[:]]
    )
    assert [o[0] for o in wanted_orders] == [episode_id(setup) for _, _, setup in new_orders[:7]]
    assert wanted_orders[-1] == wanted_orders[6] and len(wanted_orders) == 7


def test_bulk_orders_equal_orders_checked_one_by_one() -> None:
    """Packed and unpacked, too; the same twice in a study is one order."""
    one_by_one = orders(STUDY, limit=10**6)
    bulk = orders(STUDY)
    assert bulk[:] == one_by_one[:] and len(bulk) > 10
    assert [bulk.id(n) for n in range(len(bulk))] == [id for id, _, _ in one_by_one]
    some = [3, 1, 8]
    for expected in (bulk, one_by_one):
        packed = msgspec.json.decode(msgspec.json.encode(expected.pack(some)), type=PackedEpisodes)
        assert packed.orders() == [bulk[n] for n in some]
        assert expected.found_in({bulk.id(1)}) == [n == 1 for n in range(len(bulk))]
    repeated_cells = [
        msgspec.structs.replace(cell, name=f"{cell.name} again") for cell in STUDY.cells
    ]
    twice = msgspec.structs.replace(STUDY, cells=(*STUDY.cells, *repeated_cells))
    assert [id for id, _, _ in orders(twice)] == [id for id, _, _ in bulk]


def test_shard_and_job_round_trip_through_json() -> None:
    for value in (*shards_of(orders(STUDY)), Job("s", "out", files=("a.py",), tables=True)):
        kind: type[Shard] | type[Job] = type(value)
        assert msgspec.json.decode(msgspec.json.encode(value), type=kind) == value


@pytest.mark.parametrize("limit", [1, 3])
def test_checking_similar_setups_once_does_not_change_the_orders(limit: int) -> None:
    """The ids are those of setups that were each resolved by themselves."""
    from sally.runner.local import limit_trials
    from sally.runner.seating import resolve_setup

    alone = [(c, resolve_setup(s)) for c, s in limit_trials(STUDY.trials(), limit)]
    assert [(id, c, s) for id, c, s in orders(STUDY, limit)] == [
        (episode_id(s), c, s) for c, s in alone
    ]


def test_calls_of_censored_episodes_do_not_reduce_the_remaining_work(tmp_path) -> None:
    waiting = [order(n, "ipd", "language", "stub") for n in range(4)]
    job, shard = Job("a_run", "local"), Shard("00000", list_entries(waiting).pack(range(4)))
    meter = Meter()
    notes = ProgressCounter(Folder(tmp_path), job, shard, meter, lambda tally: None, waiting)

    def ended(number: int, calls: int, end: Ended | Censored) -> None:
        id, cell, setup = waiting[number]
        said = Moved(turn=0, seat="agent", action=0, calls=(Call("move", "x"),) * calls)
        meter.calls += calls
        notes.add(Episode(id, setup, [said, end], cell))

    ended(0, 30, Censored(turn=1, cause="forfeits", detail="void"))
    assert notes.tally.calls_left == 0  # nothing has ended with a result
    ended(1, 10, Ended(turn=1, payoffs={}))
    assert notes.tally.calls_left == 20  # two more like it, whatever the first one took
    meter.calls += 5  # by one of them
    assert notes.tally.calls_left == 15
    meter.calls += 40
    assert notes.tally.calls_left == 0  # they take longer: nothing can be said
