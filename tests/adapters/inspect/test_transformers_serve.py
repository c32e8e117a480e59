"""`transformers serve` behind an OpenAI-compatible address, with a tiny random model."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from sally import store
from sally.adapters.inspect.run import play_orders
from sally.core.log.events import Censored
from sally.runner.budget import Meter
from sally.runner.config import use_config
from sally.runner.local import manifest, orders
from sally.runner.models import with_model
from tests.adapters.inspect.tables import stored, tiny
from tests.adapters.inspect.test_faults import calls

ROOT = Path(__file__).parents[3]
SERVE = shutil.which("transformers")
pytestmark = [
    pytest.mark.slow,
    # It may live in an environment of its own; CI has none, because torch is heavy.
    pytest.mark.skipif(SERVE is None, reason="needs `transformers serve` on the PATH"),
]
pytest.importorskip("openai", reason="the provider openai-api needs the package openai")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    assert SERVE is not None
    folder = tmp_path_factory.mktemp("tiny", numbered=False)
    python = Path(SERVE).parent / "python"
    make = "import sys; from pathlib import Path; from tests.models.hf import tiny; "
    make += "tiny.make(Path(sys.argv[1]))"
    alone = {**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}
    subprocess.run(
        [python, "-c", make, folder], check=True, env=alone, cwd=ROOT, capture_output=True
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [SERVE, "serve", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    server = subprocess.Popen(
        command, env=alone, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
    )
    try:
        yield _once_it_answers(f"http://127.0.0.1:{port}", server), folder
    finally:
        server.terminate()
        server.wait(30)


def _once_it_answers(address: str, server: subprocess.Popen[bytes]) -> str:
    for _ in range(240):
        assert server.poll() is None, "The server ended by itself."
        try:
            urllib.request.urlopen(f"{address}/health", timeout=5).close()
        except urllib.error.HTTPError:
            return address  # it answers, if only that it knows no such page
        except OSError:
            time.sleep(0.5)
        else:
            return address
    raise AssertionError("The server did not answer within two minutes.")


def test_study_runs_to_its_end_on_transformers_serve(
    served: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_API_KEY", "none")
    address, folder = served
    path = tmp_path / "sally.toml"
    path.write_text(
        f"""
        [models.lab]
        name = "openai-api/lab/{folder}"
        base_url = "{address}/v1"
        api_key_env = "LAB_API_KEY"
        settings = {{temperature = 0.0, max_tokens = 8}}
        """
    )
    config = use_config(path)
    try:
        entry = config.entry("lab")
        study = with_model(tiny(rounds=2, repeats=1), entry.name, entry.settings)
        out, meter = tmp_path / "out", Meter(config=config)
        store.claim(out, manifest(study))
        play_orders("tiny", orders(study), out, meter, display="none")
    finally:
        use_config(None)
    (episode,) = stored(out)
    new_calls = calls([episode])
    assert not [call.failure for call in new_calls if call.failure]
    assert len(new_calls) == meter.calls >= 2
    assert all(1 <= call.usage["output"] <= 8 for call in new_calls)
    assert not (isinstance(episode.end, Censored) and episode.end.cause == "fault")
