"""A real model behind a real server: the embedded weights over loopback HTTP, through Inspect."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sally.core.log.events import Censored, Forfeited, Moved
from sally.core.registry.study import Study
from sally.models.embedded import Embedded
from sally.runner.budget import Meter
from sally.runner.check import check
from sally.runner.config import Config, use_config
from sally.runner.models import with_model
from sally.runner.routing import order_servers
from tests.adapters.inspect.tables import stored, tiny
from tests.adapters.inspect.test_faults import calls, no_key_anywhere
from tests.adapters.inspect.test_routing import play_games

pytestmark = pytest.mark.slow

pytest.importorskip("xllamacpp", reason="the embedded model needs the wheel xllamacpp")
pytest.importorskip("openai", reason="the provider openai-api needs the package openai")


@pytest.fixture(scope="module")
def model() -> Iterator[Embedded]:
    # One thread: two are slower than one where tests share the machine.
    embedded = Embedded(context=1024, threads=1)
    yield embedded
    embedded.close()


@pytest.fixture()
def config(model: Embedded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Config]:
    monkeypatch.setenv("SERVED_KEY", model.key)
    path = tmp_path / "sally.toml"
    path.write_text(
        f"""
        [models.smol]
        name = "openai-api/served/smol"
        base_url = "{model.address}/v1"
        api_key_env = "SERVED_KEY"
        settings = {{temperature = 0, max_tokens = 8}}
        at_once = 1
        [limits]
        call_seconds = 60
        """
    )
    yield use_config(path)
    use_config(None)


def fill(config: Config) -> Study:
    entry = config.entry("smol")
    return with_model(tiny(rounds=1, repeats=1, retries=0), entry.name, entry.settings)


def test_study_runs_on_a_served_model_by_alias(
    model: Embedded, config: Config, tmp_path: Path
) -> None:
    from sally import store
    from sally.adapters.inspect.run import play_orders
    from sally.runner.local import manifest, orders

    study, out, meter = fill(config), tmp_path / "out", Meter(config=config)
    store.claim(out, manifest(study))
    play_orders("tiny", orders(study), out, meter, display="none")
    (episode,) = stored(out)
    assert not isinstance(episode.end, Censored)
    new_calls = calls([episode])
    assert len(new_calls) == meter.calls >= 1
    assert not [call for call in new_calls if call.failure]
    assert all(call.usage["input"] > 100 for call in new_calls)  # the page, in tokens
    assert all(1 <= call.usage["output"] <= 8 for call in new_calls)
    assert all(call.settings["temperature"] == 0 for call in new_calls)
    acts = [e for e in episode.events if isinstance(e, Moved | Forfeited) and e.seat == "agent"]
    assert len(acts) == 1  # the round was played or forfeited by the model, nothing else
    assert episode.used["agent"]["address"] == f"{model.address}/v1"
    replay_check = check([episode])
    assert (replay_check.replayed, replay_check.mismatches) == (1, [])
    assert model.key not in (tmp_path / "sally.toml").read_text()
    no_key_anywhere(tmp_path, model.key)


def test_two_servers_of_the_embedded_model_share_a_study(
    model: Embedded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROUTED_KEY", model.key)
    alternative = Embedded(context=1024, threads=1)
    servers = [f"{item.address}/v1" for item in (model, alternative)]
    try:
        episodes = play_games(servers, tmp_path, repeats=2, at_once=1)
    finally:
        alternative.close()
        use_config(None)
    for episode in episodes:
        assert episode.used["agent"]["address"] == order_servers(servers, episode.id)[0]
        first, *later = calls([episode])
        assert not [call.failure for call in (first, *later) if call.failure]
        assert all(call.usage.get("cached", 0) > 50 for call in later)  # it had the page already
