"""Draw docstrings, error messages and pages at random for an editorial review.

    python -m benchmarks.draw_prose --seed 1
    python -m benchmarks.draw_prose --seed 1 --markdown    # a table to fill in
    python -m benchmarks.draw_prose --seed 1 --pages 15 --under results papers    # pages only
    python -m benchmarks.draw_prose --seed 1 --peers httpx polars --peer-pages DIR --blind OUT

The population is every docstring and every error message in `sally/`, and every page under `docs/`;
with `--under` it is every page of these folders of `docs/`.
The draw depends on the seed and the repository only.

With `--blind`, as many docstrings and messages of installed peer packages and as many pages of
`--peer-pages` are drawn, and both draws are written in random order, without file names, to
`OUT/texts.txt` and `OUT/pages/`; `OUT/key.csv`, which judges must not see, gives their origin.
"""

from __future__ import annotations

import argparse
import ast
import csv
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
DOCSTRINGS, ERRORS, PAGES = 100, 30, 10
SHORTEST = 3  # words of an error message; shorter ones hold no sentence


class Text(NamedTuple):
    """A text with its file and line."""

    file: str
    line: int
    text: str


def docstrings(tree: ast.AST, file: str) -> Iterator[Text]:
    """Yield the docstrings of a module, without their examples."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, kinds) and (docstring := ast.get_docstring(node)):
            yield Text(file, node.body[0].lineno, on_one_line(docstring.partition(">>>")[0]))


def errors(tree: ast.AST, file: str) -> Iterator[Text]:
    """Yield the messages of raised exceptions; placeholders are shown as {}."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
            continue
        for argument in node.exc.args:
            message = on_one_line("".join(literals(argument)))
            if len(re.findall(r"[A-Za-z]{2,}", message)) >= SHORTEST:
                yield Text(file, node.lineno, message)


def literals(node: ast.AST) -> Iterator[str]:
    """Yield the literal parts of a string expression."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        for part in node.values:
            yield "{}" if isinstance(part, ast.FormattedValue) else "".join(literals(part))


def on_one_line(text: str) -> str:
    """Return a text with all whitespace collapsed."""
    return " ".join(text.split())


def of_folder(folder: Path, root: Path) -> tuple[list[Text], list[Text]]:
    """Return the docstrings and the error messages of all modules in a folder or file."""
    doc_texts, raised = list[Text](), list[Text]()
    for path in [folder] if folder.is_file() else sorted(folder.rglob("*.py")):
        file, tree = str(path.relative_to(root)), ast.parse(path.read_text(encoding="utf-8"))
        doc_texts += docstrings(tree, file)
        raised += errors(tree, file)
    return doc_texts, raised


def of_package(name: str) -> tuple[list[Text], list[Text]]:
    """Return the docstrings and the error messages of an installed package or module."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise SystemExit(f"--peers: no package {name} is installed")
    path = Path(spec.origin)
    folder = path.parent if path.name == "__init__.py" else path
    return of_folder(folder, folder.parent)


def peer_draw(draws: Random, packages: list[str], pages: Path, n: int) -> list[list[Text]]:
    """Return docstrings, messages and pages of peers: equal shares of the packages."""
    package_texts = [of_package(name) for name in packages]
    shares = [
        [text for part in parts for text in draws.sample(part, min(len(part), total))]
        for parts, total in (
            ([doc_texts for doc_texts, _ in package_texts], DOCSTRINGS // len(package_texts)),
            ([raised for _, raised in package_texts], -(-ERRORS // len(package_texts))),
        )
    ]
    files = [page for page in sorted(pages.rglob("*")) if page.is_file()]
    return [*shares, [Text(str(page), 1, page.read_text()) for page in draws.sample(files, n)]]


def write_blind(draws: Random, ours: list[list[Text]], peers: list[list[Text]], out: Path) -> None:
    """Write both draws in random order without their origin, and the key to a separate file."""
    (out / "pages").mkdir(parents=True, exist_ok=True)
    key, lines = list[tuple[str, str, str, int]](), list[str]()
    for kind, own_texts, peer_texts in zip(
        ("docstring", "message", "page"), ours, peers, strict=True
    ):
        mixed = [("ours", text) for text in own_texts] + [("peer", text) for text in peer_texts]
        for number, (origin, text) in enumerate(draws.sample(mixed, len(mixed)), 1):
            key.append((f"{kind} {number}", origin, text.file, text.line))
            if kind == "page":
                (out / "pages" / f"{number:02}.txt").write_text(text.text, encoding="utf-8")
            else:
                lines.append(f"{kind} {number}: {text.text}")
    (out / "texts.txt").write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    with (out / "key.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("text", "origin", "file", "line"), *key])


def main() -> None:
    """Print the draw, or write a blind one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--markdown", action="store_true", help="print Markdown tables")
    parser.add_argument("--pages", type=int, default=PAGES, help="number of pages")
    parser.add_argument("--under", nargs="+", help="draw only pages, from these folders of docs/")
    parser.add_argument("--peers", nargs="+", help="installed packages, for a blind draw")
    parser.add_argument("--peer-pages", type=Path, help="folder with pages, for a blind draw")
    parser.add_argument("--blind", type=Path, metavar="OUT", help="write a blind draw to OUT")
    options = parser.parse_args()
    doc_texts, raised = of_folder(ROOT / "sally", ROOT)
    homes = [ROOT / "docs" / folder for folder in options.under or [""]]
    page_files = sorted(page for home in homes for page in home.rglob("*.md"))
    pages = [Text(str(page.relative_to(ROOT)), 1, page.read_text()) for page in page_files]
    draws = Random(f"prose {options.seed}")
    kinds = [
        *([] if options.under else [("docstrings", doc_texts, DOCSTRINGS)]),
        *([] if options.under else [("error messages", raised, ERRORS)]),
        ("pages", pages, options.pages),
    ]
    samples = [draws.sample(pool, n) for _, pool, n in kinds]
    if options.blind:
        if not options.peers or not options.peer_pages or options.under:
            parser.error("--blind needs --peers and --peer-pages, and excludes --under")
        peers = peer_draw(draws, options.peers, options.peer_pages, options.pages)
        write_blind(draws, samples, peers, options.blind)
        return
    for (title, pool, n), texts in zip(kinds, samples, strict=True):
        print(f"\n{title}: {n} of {len(pool)}\n")
        for number, (file, line, text) in enumerate(texts, 1):
            shown_text = "" if title == "pages" else text
            if options.markdown:
                print(f"| {number} | `{file}:{line}` | {shown_text.replace('|', '¦')} |  |")
            else:
                print(f"{number:3} {file}:{line} {shown_text}")


if __name__ == "__main__":
    main()
