"""What a terminal is shown never steers it."""

from __future__ import annotations

import pytest

from sally.output.tables.console import fold_text, harmless, print_table


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
