"""The config file: what it says is used, and what is wrong with it is one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from sally.core.errors import BadInput
from sally.core.prompt.model import Usage
from sally.runner.config import Config, Price, find_config, read_config, use_config

WHOLE = """
[models.mini]
name = "openai/gpt-x"
base_url = "http://127.0.0.1:9/v1"
api_key_env = "LAB_KEY"
settings = {temperature = 0, max_tokens = 20}
at_once = 4

[prices]
date = 2026-11-01
per_million."openai/gpt-x" = {input = 2.0, output = 8.0, cached = 0.5}
per_million."openai/other" = {input = 2.0, output = 8.0}

[limits]
episode_tokens = 1000
"""


def write_files(folder: Path, text: str) -> Path:
    path = folder / "sally.toml"
    path.write_text(text)
    return path


def test_model_is_found_by_alias_and_by_its_real_name(tmp_path: Path) -> None:
    config = read_config(write_files(tmp_path, WHOLE))
    for name in ("mini", "openai/gpt-x"):
        assert config.entry(name).base_url == "http://127.0.0.1:9/v1"
    assert config.entry("openai/unheard").name == "openai/unheard"
    assert config.limits.episode_tokens == 1000


def test_key_comes_from_environment_and_missing_key_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = read_config(write_files(tmp_path, WHOLE)).entry("mini")
    monkeypatch.delenv("LAB_KEY", raising=False)
    with pytest.raises(BadInput, match="LAB_KEY, which is not set"):
        entry.key()
    monkeypatch.setenv("LAB_KEY", "abc")
    assert entry.key() == "abc"


def test_prices_count_cached_input_separately(tmp_path: Path) -> None:
    config = read_config(write_files(tmp_path, WHOLE))
    used = Usage(input=1_000_000, output=500_000, cached=400_000)
    known_price, plain = config.price("openai/gpt-x"), config.price("openai/other")
    assert known_price and plain
    assert known_price.of(used) == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 0.5 * 8)
    assert plain.of(used) == pytest.approx(2 + 4)  # no price for cached input: the full one
    assert config.price("openai/unheard") is None
    assert config.price("embedded") == Price(0, 0, 0)


def test_config_in_working_folder_precedes_user_config(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    assert find_config() == Config()
    (tmp_path / "home" / "sally").mkdir(parents=True)
    write_files(tmp_path / "home" / "sally", "[limits]\nepisode_tokens = 1")
    assert find_config().limits.episode_tokens == 1
    write_files(tmp_path, "[limits]\nepisode_tokens = 2")
    assert find_config().limits.episode_tokens == 2
    (tmp_path / "other").mkdir()
    path = write_files(tmp_path / "other", "[limits]\nepisode_tokens = 3")
    try:
        assert use_config(path).limits.episode_tokens == 3
        assert find_config().limits.episode_tokens == 3
    finally:
        assert use_config(None).limits.episode_tokens == 2


BAD = {
    "models = 3": "must be a table",
    "[modles.x]\nname='a/b'": "did you mean models",
    "[models.x]\nbase_url='a'": "models.x: .*name",
    "[models.x]\nname='a/b'\napi_key='sk-123456'": "a key does not belong in a file",
    "[models.x]\nname='a/b'\napi_key_env='sk-123456'": "must be the name of an envir",
    "[models.x]\nname='a/b'\nsettings={temprature=1}": "did you mean temperature",
    "[models.x]\nname='a/b'\nsettings={temperature=-1}": "temperature must be",
    "[models.x]\nname='a/b'\nat_once=0": "at_once must be at least 1",
    "[models.x]\nname='server/b'\nbase_url='localhost:80/v1'": "base_url must look like http://",
    "[models.x]\nname='a/b'\n[models.y]\nname='a/b'\nbase_url='http://c'": "in two ways",
    "[prices]\nper_million={}": "date",
    "[prices]\ndate=2026-01-01\nper_million.a={input=-1,output=1}": "at least 0",
    "[limits]\nepisode_tokens=0": "above 0",
    "[limits]\ntokens=5": "no field of .*limits, named 'tokens'",
    "[models.a]\nmodel='openai/a'": "no field of .*models.a, named 'model'; .*name",
    "[limits": "is not TOML",
}


@pytest.mark.parametrize("text", BAD)
def test_bad_file_gives_one_clear_message_without_the_key(text: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=BAD[text]) as error:
        read_config(write_files(tmp_path, text))
    sentence = str(error.value)
    assert "sally.toml" in sentence
    assert "\n" not in sentence
    assert "sk-123456" not in sentence


def test_explicitly_named_config_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        use_config(tmp_path / "nowhere.toml")
