"""What a terminal is shown never steers it."""

from __future__ import annotations

import json

import pytest

from sally.output.tables.console import estimate_cell, fold_text, harmless, print_json, print_table


@pytest.mark.parametrize(
    ("hostile", "seen"),
    [
        ("\x1b]0;title\x07", "␛]0;title␇"),
        ("\x1b[2J", "␛[2J"),
        ("safe\x08\x08\x08\x08evil", "safe␈␈␈␈evil"),
        ("\u202eevil", "<U+202E>evil"),
        ("\x9b31m", "<U+009B>31m"),
        ("over\rwritten", "over␍written"),
        ("two\n\tlines", "two\n\tlines"),
    ],
)
def test_terminal_control_codes_are_shown_as_symbols(hostile: str, seen: str) -> None:
    assert harmless(hostile) == seen
    assert fold_text(hostile) == seen


def test_wide_numbers_do_not_break_neighbouring_text_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    figures = {f"figure {n}": "0.98 [0.90, 1.00]" for n in range(3)}
    print_table([{"game": "toma_po", **figures}], ["game", *figures])
    assert "toma_po" in capsys.readouterr().out


def test_equal_values_have_no_interval_on_the_console_and_in_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    equal, unequal = [80.0, 80.0], [79.0, 81.0]
    rows = [
        {"value": 80.0, "interval": equal, "method": "t over 3 clusters", "bounds": [0.0, 0.0]},
        {"value": 80.0, "interval": unequal, "method": "t over 3 clusters"},
        {"acts": 80.0, "acts_interval": equal},
    ]
    print_json({"rows": rows})
    first, second, third = json.loads(capsys.readouterr().out)["rows"]
    assert (first["interval"], first["bounds"]) == (None, [0.0, 0.0])
    assert first["method"] == "t over 3 clusters; no interval: all values are equal"
    assert second == rows[1]
    reason = "all values are equal"
    assert third == {"acts": 80.0, "acts_interval": None, "acts_interval_missing": reason}
    assert estimate_cell(80.0, equal) == "all 80.0" and "±" in estimate_cell(80.0, unequal)


def test_value_that_rounds_to_zero_has_no_sign_but_an_end_of_its_interval_has() -> None:
    assert estimate_cell(-0.0, None, 2) == estimate_cell(-0.001, None, 2) == "0.00"
    assert estimate_cell(-0.001, [-0.101, 0.099], 2) == "0.00 ±0.10"
    assert estimate_cell(0.05, [-0.001, 0.15], 2) == "0.05 [-0.00, 0.15]"
