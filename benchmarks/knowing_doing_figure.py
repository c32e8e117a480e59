"""Draw acting beyond habits against knowing beyond rules from the tables of docs/results/qwen.md.

python benchmarks/knowing_doing_figure.py docs/results/qwen.md docs/pictures/knowing_doing.svg
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

NUMBER = re.compile(r"(-?\d+\.\d+) \[(-?\d+\.\d+), (-?\d+\.\d+)\]")
COLOURS = {"rps": "#0b6e99", "ipd": "#b4541a", "ibs": "#4a7d2f"}
WIDTH, HEIGHT, LEFT, TOP = 640, 420, 70, 30
X, Y = (-1.0, 1.0), (-0.6, 0.6)


def place(value: float, ends: tuple[float, float], size: float) -> float:
    return (value - ends[0]) / (ends[1] - ends[0]) * size


def rows(page: str) -> dict[tuple[str, str, str], list[tuple[float, ...]]]:
    """Return knowing beyond rules and acting beyond habits by model, strategy and game."""
    found: dict[tuple[str, str, str], list[tuple[float, ...]]] = {}
    for part, column in (("Knowing, primary", 7), ("Acting, primary", 7)):
        for line in page.split(f"{part} cells:")[1].strip().split("\n\n")[0].splitlines()[2:]:
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if match := NUMBER.fullmatch(cells[column]):
                key = (cells[0], cells[1], cells[2])
                found.setdefault(key, []).append(tuple(map(float, match.groups())))
    return {key: both for key, both in found.items() if len(both) == 2}


def main() -> None:
    page = Path(sys.argv[1]).read_text(encoding="utf-8")
    wide, high = WIDTH - LEFT - 20, HEIGHT - TOP - 60
    zero_x, zero_y = LEFT + place(0, X, wide), TOP + high - place(0, Y, high)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'font-family="sans-serif" font-size="12">',
        "<title>Acting beyond habits against knowing beyond rules, primary cells</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<path d="M{LEFT} {zero_y:.1f}H{LEFT + wide}M{zero_x:.1f} {TOP}V{TOP + high}" '
        'stroke="#999" fill="none"/>',
        f'<text x="{LEFT + wide / 2:.0f}" y="{HEIGHT - 15}" text-anchor="middle">knowing beyond '
        "rules (0: the best mindless rule, 1: always right)</text>",
        f'<text transform="translate(18 {TOP + high / 2:.0f}) rotate(-90)" text-anchor="middle">'
        "acting beyond habits</text>",
    ]
    for tick in (-1.0, -0.5, 0.0, 0.5, 1.0):
        at = LEFT + place(tick, X, wide)
        out.append(f'<text x="{at:.1f}" y="{TOP + high + 18}" text-anchor="middle">{tick}</text>')
    for tick in (-0.5, 0.0, 0.5):
        at = TOP + high - place(tick, Y, high) + 4
        out.append(f'<text x="{LEFT - 8}" y="{at:.1f}" text-anchor="end">{tick}</text>')
    for (model, strategy, game), (know, act) in rows(page).items():
        x, y = (LEFT + place(know[0], X, wide), TOP + high - place(act[0], Y, high))
        left, right = (LEFT + place(max(X[0], min(X[1], v)), X, wide) for v in know[1:])
        low, top = (TOP + high - place(max(Y[0], min(Y[1], v)), Y, high) for v in act[1:])
        colour = COLOURS[game]
        out += [
            f'<path d="M{left:.1f} {y:.1f}H{right:.1f}M{x:.1f} {low:.1f}V{top:.1f}" '
            f'stroke="{colour}" opacity="0.6" fill="none"/>',
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"><title>{model}, {strategy}, '
            f"{game}</title></circle>",
            f'<text x="{x + 6:.1f}" y="{y - 5:.1f}" font-size="9">{model} {strategy}</text>',
        ]
    for n, (game, colour) in enumerate(COLOURS.items()):
        out.append(f'<text x="{LEFT + 10 + 50 * n}" y="{TOP + 12}" fill="{colour}">{game}</text>')
    Path(sys.argv[2]).write_text("\n".join([*out, "</svg>"]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
