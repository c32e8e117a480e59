"""Packs are compared with published texts by hash; the texts themselves are not here."""

from __future__ import annotations

from types import SimpleNamespace

import msgspec
import pytest

from sally.core.registry import packs, registry, wording
from sally.core.rules.words import Pack
from sally.runner.local import used_by


def test_pack_is_verbatim_if_its_page_has_the_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    pack = Pack("mine", "repeated_games", {"intro.same": "A game of {rounds} rounds."})
    (printed_text,) = wording.printed_texts("riemer2025")
    assert [item.verbatim for item in wording.compare_with_printed(pack)["riemer2025"]] == [False]
    # whitespace does not count
    page = wording.render_rules(printed_text, pack).replace("\n", "   \n")
    same_printed_text = msgspec.structs.replace(printed_text, sha256=wording.folded_hash(page))
    monkeypatch.setattr(
        wording, "printed_texts", lambda paper: (same_printed_text,) if paper == "pact" else ()
    )
    assert [item.verbatim for item in wording.compare_with_printed(pack)["pact"]] == [True]
    assert "pact" not in wording.compare_with_printed(Pack("other", "hanabi", {}))


def test_record_lists_the_passages_that_a_pack_has_word_for_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "You meet for {rounds} rounds. Nothing else is said."
    pack = Pack("mine", "repeated_games", {"intro.same": text})
    (printed_text,) = wording.printed_texts("riemer2025")
    printed = "**You meet** for 100 rounds."
    passage = msgspec.structs.replace(
        printed_text, part="passage", words=5, sha256=wording.folded_hash(printed)
    )
    monkeypatch.setattr(wording, "printed_texts", lambda paper: (passage,) * (paper == "pact"))
    wording.verbatim_texts.cache_clear()
    players = {
        "agent": SimpleNamespace(pack=packs.remember(pack), model=None),
        "partner": SimpleNamespace(pack=packs.remember(Pack("other", "repeated_games", {}))),
    }
    assert used_by(players) == {"agent": {"verbatim": [f"pact: {printed_text.what}"]}}  # type: ignore[arg-type]
    wording.verbatim_texts.cache_clear()


@pytest.mark.parametrize("paper", ["kang2026", "moore2025", "riemer2025"])
def test_default_wording_reproduces_no_published_text(paper: str) -> None:
    texts = wording.printed_texts(paper)
    assert texts
    for text in texts:
        pack_match = wording.compare_with_printed(
            Pack("ours", registry.family(text.game).name, {})
        )[paper]
        assert not any(item.verbatim for item in pack_match)
