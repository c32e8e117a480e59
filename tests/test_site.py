"""The link checker of the site finds what is broken; `make docs` runs it on the built one."""

from __future__ import annotations

from pathlib import Path

from tests.site import broken


def test_broken_links_and_missing_anchors_are_found(tmp_path: Path) -> None:
    (tmp_path / "games").mkdir()
    (tmp_path / "index.html").write_text(
        '<h1 id="top">x</h1><a href="games/">y</a><a href="games/#cups">z</a>'
        '<a href="https://example.org">elsewhere</a><img src="none.png">'
        '<a href="games/#mugs">w</a>'
    )
    (tmp_path / "games/index.html").write_text('<h2 id="cups">c</h2><a href="..">home</a>')
    assert list(broken(tmp_path)) == [
        "index.html: none.png is not there",
        "index.html: games/#mugs has no such place",
    ]
