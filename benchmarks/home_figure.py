"""Draw the figure of the home page from the tables of docs/results/qwen.md.

python benchmarks/home_figure.py docs/results/qwen.md docs/pictures/home.svg
"""

from __future__ import annotations

import sys
from pathlib import Path

NAMES = {"qwen-1.5b": "Qwen2.5 1.5B", "qwen-0.5b": "Qwen2.5 0.5B", "smollm2": "SmolLM2 135M"}
BARS = {
    "Knowing, primary cells": "foresees the other's move",
    "Acting, primary cells": "plays what beats it",
    "Habits, primary cells": "repeats its own last move",
}
COLUMNS = dict(zip(BARS, (4, 3, 7), strict=True))
LEGEND = (16, 230, 410)  # left ends of the entries
COLOURS = ("#0072b2", "#d55e00", "#9aa0a6")
WIDTH, LEFT, BAR, GROUP, TOP = 640, 130, 20, 88, 78
GUESS = 100 / 3


def shares(page: str, part: str) -> dict[str, float]:
    """Return a share in percent by model, in rps under lm."""
    found = {}
    for line in page.split(f"{part}:")[1].strip().split("\n\n")[0].splitlines()[2:]:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[1:3] == ["lm", "rps"]:
            found[cells[0]] = float(cells[COLUMNS[part]].split()[0])
    return found


def main() -> None:
    page = Path(sys.argv[1]).read_text(encoding="utf-8")
    values = {part: shares(page, part) for part in BARS}
    height = TOP + GROUP * len(NAMES) + 36
    wide = WIDTH - LEFT - 60

    def x(percent: float) -> float:
        return LEFT + wide * percent / 100

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        'font-family="system-ui, sans-serif" font-size="14">',
        "<title>Small models in rock, paper, scissors: foreseen and played moves</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        '<text x="16" y="28" font-size="16" font-weight="600" fill="#1c1e21">'
        "Rock, paper, scissors: they see it coming and repeat themselves</text>",
    ]
    for n, (name, colour) in enumerate(zip(BARS.values(), COLOURS, strict=True)):
        at = LEGEND[n]
        out.append(f'<rect x="{at}" y="42" width="13" height="13" fill="{colour}"/>')
        out.append(f'<text x="{at + 20}" y="54" fill="#1c1e21">{name}</text>')
    bottom = TOP + GROUP * len(NAMES) - 12
    out.append(
        f'<line x1="{x(GUESS):.1f}" x2="{x(GUESS):.1f}" y1="{TOP - 8}" y2="{bottom}" '
        'stroke="#5d636b" stroke-dasharray="4 4"/>'
    )
    out.append(
        f'<text x="{x(GUESS):.1f}" y="{bottom + 18}" text-anchor="middle" fill="#5d636b">'
        "a guess: 33 %</text>"
    )
    for row, (model, name) in enumerate(NAMES.items()):
        y = TOP + GROUP * row
        out.append(f'<text x="16" y="{y + 38}" fill="#1c1e21">{name}</text>')
        for n, (part, colour) in enumerate(zip(BARS, COLOURS, strict=True)):
            value = values[part][model]
            top = y + n * (BAR + 3)
            out.append(
                f'<rect x="{LEFT}" y="{top}" width="{x(value) - LEFT:.1f}" height="{BAR}" '
                f'fill="{colour}"/>'
                f'<text x="{x(value) + 6:.1f}" y="{top + 15}" fill="#1c1e21">{value:.0f} %</text>'
            )
    out.append("</svg>")
    Path(sys.argv[2]).write_text("\n".join(out) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
