"""`sally doctor` about models: which weights are here, and what a faster runtime would gain."""

import json

import pytest
from click.testing import CliRunner

from sally.cli import cli
from sally.cli.doctor import embedded_lines, faster_runtime, weights_here
from sally.models.catalogue import QWEN_05B


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SALLY_CACHE", str(tmp_path))


def test_doctor_lists_weights_in_the_cache():
    assert weights_here() == {"smollm2": False, "qwen-0.5b": False, "qwen-1.5b": False}
    assert "none yet" in embedded_lines()[0]
    QWEN_05B.cached_path.parent.mkdir(parents=True)
    QWEN_05B.cached_path.write_bytes(b"GGUF")
    assert embedded_lines()[:2] == [
        "Embedded weights in the cache: qwen-0.5b.",
        "Not in the cache: qwen-1.5b (1,117 MB to download); the first use of embedded:NAME "
        "downloads them.",
    ]


def test_speedup_is_stated_only_for_measured_platforms():
    assert "7 times" in faster_runtime("aarch64")
    assert "was not measured" in faster_runtime("x86_64")


def test_doctor_json_lists_the_weights():
    done = CliRunner().invoke(cli, ["doctor", "--json"])
    assert json.loads(done.output)["weights"]["qwen-1.5b"] is False
