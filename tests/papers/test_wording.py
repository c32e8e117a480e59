"""Packs are compared with published texts by hash; the texts themselves are not here."""

from __future__ import annotations

import msgspec
import pytest

from sally.core.prompt.words import Pack
from sally.papers import wording


def test_a_pack_is_verbatim_if_its_page_has_the_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    pack = Pack("mine", "repeated_games", {"intro.same": "A game of {rounds} rounds."})
    (known,) = wording.printed_texts("riemer2025")
    assert [each.verbatim for each in wording.compared(pack)["riemer2025"]] == [False]
    page = wording.rendered(known, pack).replace("\n", "   \n")  # whitespace does not count
    same = msgspec.structs.replace(known, sha256=wording.folded_hash(page))
    monkeypatch.setattr(wording, "printed_texts", lambda paper: (same,) if paper == "pact" else ())
    assert [each.verbatim for each in wording.compared(pack)["pact"]] == [True]
    assert "pact" not in wording.compared(Pack("other", "hanabi", {}))
