"""What a run calls a model stays with its episodes, wherever they are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from sally import store
from sally.core.errors import BadInput
from sally.core.registry import model_names as names


@pytest.fixture(autouse=True)
def nobody_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "_known", {})
    monkeypatch.setattr(names, "_aliases", {})


def test_an_alias_is_kept_once_and_names_the_model_in_tables(tmp_path: Path) -> None:
    for _ in range(2):
        store.keep_alias(tmp_path, "weak", "lab/some/model-7b")
    assert len(list((tmp_path / "aliases").iterdir())) == 1
    names.remember(["lab/some/model-7b"], store.aliases(tmp_path))
    assert names.called("lab/some/model-7b") == "weak"


def test_nobody_else_is_called_by_a_models_alias() -> None:
    names.remember(["lab/big", "shop/weak"], {"lab/big": "weak"})
    assert (names.called("lab/big"), names.called("shop/weak")) == ("weak", "shop/weak")
    names.remember(["other/one"], {"other/one": "weak"})
    assert names.called("other/one") == "one"


def test_a_file_that_holds_no_alias_is_named(tmp_path: Path) -> None:
    (tmp_path / "aliases").mkdir()
    (tmp_path / "aliases" / "0a.json").write_text("{}")
    with pytest.raises(BadInput, match=r"aliases/0a\.json is not a valid alias"):
        store.aliases(tmp_path)
