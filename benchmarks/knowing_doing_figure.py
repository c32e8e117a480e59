"""Draw acting beyond habits against knowing beyond rules, from tables of the registered study.

PAGE=docs/results/appendix/qwen.md
python benchmarks/knowing_doing_figure.py $PAGE docs/pictures/knowing_doing.svg
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import product
from math import copysign, hypot
from pathlib import Path
from xml.sax.saxutils import escape

NUMBER = re.compile(r"(-?\d+\.\d+) \[(-?\d+\.\d+), (-?\d+\.\d+)\]")
GAMES = {"rps": "rock, paper, scissors", "ipd": "dilemma", "ibs": "battle of the sexes"}
COLOURS = {"lm": "#0b6e99", "social_lm": "#b4541a"}
SHORT = {"qwen-0.5b": "0.5B", "qwen-1.5b": "1.5B", "smollm2": "SmolLM2"}
SIDE, LEFT, TOP, GAP = 250, 62, 40, 26  # of a panel, in pixels
WIDTH, HEIGHT = LEFT + 3 * SIDE + 2 * GAP + 12, TOP + SIDE + 112
X, Y = (-1.0, 1.2), (-0.5, 0.5)
Row = list[str]
Box = tuple[float, float, float, float]  # left, top, right, bottom


def lines(page: str, title: str) -> Iterator[Row]:
    """Yield the rows of a table of the page."""
    for line in page.split(f"{title}:")[1].strip().split("\n\n")[0].splitlines()[2:]:
        yield [cell.strip() for cell in line.strip("|").split("|")]


def numbers(cell: str) -> tuple[float, ...] | None:
    match = NUMBER.fullmatch(cell)
    return tuple(map(float, match.groups())) if match else None


class Panel:
    """One game: a dot for each model and strategy, a ring for the cycler alone."""

    def __init__(self, page: str, game: str, left_edge: float) -> None:
        self.game, self.left = game, left_edge
        self.known = {(r[0], r[1]): numbers(r[7])
                      for r in lines(page, "Knowing, primary cells") if r[2] == game}  # fmt: skip
        self.acted = {(r[0], r[1]): (numbers(r[7]), r[8])
                      for r in lines(page, "Acting, primary cells") if r[2] == game}  # fmt: skip
        self.cycler = {(r[0], r[1]): (numbers(r[4]), numbers(r[6]))
                       for r in lines(page, "Primary cells by partner")
                       if r[2:4] == [game, "cycler"]}  # fmt: skip

    def x(self, value: float) -> float:
        return self.left + (min(max(value, X[0]), X[1]) - X[0]) / (X[1] - X[0]) * SIDE

    def y(self, value: float) -> float:
        return TOP + SIDE - (min(max(value, Y[0]), Y[1]) - Y[0]) / (Y[1] - Y[0]) * SIDE

    def frame(self, first: bool) -> Iterator[str]:
        zero_x, zero_y = self.x(0), self.y(0)
        yield (
            f'<rect x="{self.left}" y="{TOP}" width="{SIDE}" height="{SIDE}" fill="none" '
            'stroke="#bbb"/>'
            f'<path d="M{self.left} {zero_y:.1f}h{SIDE}M{zero_x:.1f} {TOP}v{SIDE}" '
            'stroke="#bbb" stroke-dasharray="3 3" fill="none"/>'
        )
        yield (
            f'<text x="{self.left + SIDE / 2}" y="{TOP - 10}" text-anchor="middle" '
            f'font-weight="bold">{GAMES[self.game]} ({self.game})</text>'
        )
        for tick in (-1.0, -0.5, 0.0, 0.5, 1.0):
            yield (
                f'<text x="{self.x(tick):.1f}" y="{TOP + SIDE + 15}" text-anchor="middle">'
                f"{tick:g}</text>"
            )
        for tick in (-0.4, -0.2, 0.0, 0.2, 0.4) if first else ():
            yield (
                f'<text x="{self.left - 6}" y="{self.y(tick) + 4:.1f}" text-anchor="end">'
                f"{tick:g}</text>"
            )

    def dots(self) -> Iterator[str]:
        marks: list[Box] = []
        thin: list[Box] = [(self.left, self.y(0) - 1, self.left + SIDE, self.y(0) + 1)]
        labels = []
        for model_strategy, know in self.known.items():
            act, p = self.acted[model_strategy]
            if know is None or act is None:
                continue
            x, y, colour = self.x(know[0]), self.y(act[0]), COLOURS[model_strategy[1]]
            left_end, right_end, low, high = (
                self.x(know[1]), self.x(know[2]), self.y(act[1]), self.y(act[2])
            )  # fmt: skip
            yield (
                f'<path d="M{left_end:.1f} {y:.1f}H{right_end:.1f}M{x:.1f} {low:.1f}V{high:.1f}" '
                f'stroke="{colour}" opacity="0.5" fill="none"/>'
            )
            # a lower bound that rounds to 0 keeps its sign
            passed = copysign(1, know[1]) > 0 and act[0] > 0 and (p == "<.001" or float(p) < 0.05)
            tooltip = (
                f"<title>{model_strategy[0]}, {model_strategy[1]}: {act[0]:.2f}, "
                f"p {escape(p)}</title>"
            )
            if passed:
                yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}">{tooltip}</circle>'
            else:
                yield (
                    f'<path d="M{x - 4:.1f} {y - 4:.1f}l8 8m0 -8l-8 8" stroke="{colour}" '
                    f'stroke-width="2" fill="none">{tooltip}</path>'
                )
            marks.append(around(x, y, 6))
            thin += [(left_end, y - 1, right_end, y + 1), (x - 1, high, x + 1, low)]
            labels.append((x, y, SHORT[model_strategy[0]], colour))
            alone = self.cycler[model_strategy]
            if alone[0] is not None and alone[1] is not None:
                a, b = self.x(alone[0][0]), self.y(alone[1][0])
                yield (
                    f'<path d="M{x:.1f} {y:.1f}L{a:.1f} {b:.1f}" stroke="{colour}" '
                    'stroke-dasharray="2 2" opacity="0.6"/>'
                    f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4" fill="white" stroke="{colour}"/>'
                )
                marks.append(around(a, b, 6))
                thin += [around(x + (a - x) * n / 20, y + (b - y) * n / 20, 1) for n in range(20)]
        for x, y, name, colour in labels:
            box = self._free(x, y, 7.0 * len(name), marks, thin)
            marks.append(box)
            yield f'<text x="{box[0]:.1f}" y="{box[3] - 2:.1f}" fill="{colour}">{name}</text>'

    def _free(self, x: float, y: float, wide: float, marks: list[Box], thin: list[Box]) -> Box:
        """Return the place for a label: near its mark, on no other mark, on few lines."""

        def cost(box: Box) -> float:
            outside = box[0] < self.left + 2 or box[2] > self.left + SIDE - 2
            hidden = sum(overlap(box, other_box) for other_box in marks)
            crossed = sum(overlap(box, other_box) for other_box in thin)
            away = hypot((box[0] + box[2]) / 2 - x, (box[1] + box[3]) / 2 - y)
            return 100 * (outside + hidden) + 8 * crossed + away

        corners = product(range(-60, 41, 2), range(-36, 30, 2))
        return min(((x + dx, y + dy, x + dx + wide, y + dy + 12) for dx, dy in corners), key=cost)


def around(x: float, y: float, reach: float) -> Box:
    return x - reach, y - reach, x + reach, y + reach


def overlap(first: Box, second: Box) -> bool:
    return (
        first[0] < second[2]
        and second[0] < first[2]
        and first[1] < second[3]
        and second[1] < first[3]
    )


def main() -> None:
    page = Path(sys.argv[1]).read_text(encoding="utf-8")
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'font-family="sans-serif" font-size="11">',
        "<title>Acting beyond habits against knowing beyond rules, by game</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for n, game in enumerate(GAMES):
        panel = Panel(page, game, LEFT + n * (SIDE + GAP))
        out += [*panel.frame(n == 0), *panel.dots()]
    centre = LEFT + (3 * SIDE + 2 * GAP) / 2
    out += [
        f'<text x="{centre}" y="{TOP + SIDE + 36}" text-anchor="middle" font-size="12">knowing '
        "beyond rules (0: the best of three simple rules, 1: always right)</text>",
        f'<text transform="translate(16 {TOP + SIDE / 2}) rotate(-90)" text-anchor="middle" '
        'font-size="12">acting beyond habits (0: best habit, 1: always)</text>',
        f'<text x="{LEFT}" y="{TOP + SIDE + 60}">Dot: passes the registered test (knowing above 0, '
        "acting above 0, Holm p below .05). Cross: does not. n = 144 episodes, 36 instances "
        "each.</text>",
        f'<text x="{LEFT}" y="{TOP + SIDE + 77}">Ring: the cycler alone, the one partner that does '
        "not respond to the model. Bars: 95% intervals, not corrected. "
        "Blue: lm, orange: social_lm.</text>",
        f'<text x="{LEFT}" y="{TOP + SIDE + 94}">Not drawn: SmolLM2 under social_lm, which '
        "forfeits nearly every move.</text>",
    ]
    Path(sys.argv[2]).write_text("\n".join([*out, "</svg>"]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
