"""Every link of the built site leads somewhere: `python -m tests.site FOLDER`; no network."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What a page links to, and what in it can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = {"", "__top"}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is not None and name in ("href", "src"):
                self.targets.append(value)
            elif value is not None and name in ("id", "name"):
                self.anchors.add(value)


def broken(site: Path) -> Iterator[str]:
    """Every link within the site that leads nowhere, and every part fetched from elsewhere."""
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in site.rglob("*.html")}
    for file, page in sorted(pages.items()):
        if file.name == "404.html":
            continue  # its links are absolute: it may be shown at any depth
        for target in page.targets:
            link = urlsplit(target)
            if link.scheme or link.netloc:
                continue
            there = (file.parent / unquote(link.path)).resolve() if link.path else file
            there = there / "index.html" if there.is_dir() else there
            if not there.exists():
                yield f"{file.relative_to(site)}: {target} is not there"
            elif there in pages and unquote(link.fragment) not in pages[there].anchors:
                yield f"{file.relative_to(site)}: {target} has no such place"


def main(folder: str) -> int:
    site = Path(folder).resolve()
    texts = list(broken(site))
    count = len(list(site.rglob("*.html")))
    print("\n".join([*texts, f"{count} pages, {len(texts)} broken links"]))
    return bool(texts) or not count


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
