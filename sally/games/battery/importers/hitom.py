"""Importer of Hi-ToM: both published copies of each question, with answers recomputed by a belief
rule.

The two copies (MC, called VP in the data, and CoT, called CoTP) have the same stories, but their
answer keys differ at orders 2 to 4. The rule follows the note that the authors print under each
story and the semantics of their generator; `answer` is the rule's answer if it equals a published
key; otherwise the item is flagged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from sally.core.errors import BadInput
from sally.games.battery.hitom_beliefs import events_about, people_asked, place_believed
from sally.games.battery.items import DIFFER, Item, read_utf8

CONDITIONS = {"No_Tell": ("quiet", "no_deception"), "Tell": ("tell", "deception")}
ASIDE = "set aside: the rule gives neither key"


def read_items(checkout: Path) -> list[Item]:
    """Return the 600 questions of a checkout of Hi-ToM_dataset."""
    root = next((p for p in (checkout / "Hi-ToM_data", checkout) if (p / "Tell").is_dir()), None)
    if root is None:
        raise BadInput(f"{checkout} has no Hi-ToM_data/Tell; give a checkout of Hi-ToM_dataset.")
    return list(_items(root))


def _items(root: Path) -> Iterator[Item]:
    for arm, (short, condition) in CONDITIONS.items():
        for file in sorted(root.glob(f"{arm}/MC/length_*/sample_*/order_*.txt"), key=_place):
            chapters, sample, order = _place(file)
            story, question, options, printed = _read(file)
            second_file = Path(str(file).replace("/MC/", "/CoT/"))
            second_copy = _read(second_file)
            if second_copy[:3] != (story, question, options):
                raise BadInput(f"{second_file} does not contain the same question as {file}.")
            vp, cotp = options.index(printed), options.index(second_copy[3])
            thing, chain = people_asked(question)
            facts, place = events_about(story, thing)
            believed_option = place_believed(facts, place, chain)
            by_rule = options.index(believed_option) if believed_option in options else None
            flags = [DIFFER] if vp != cotp else []
            sound = by_rule in (vp, cotp)
            if not sound:
                flags.append(ASIDE)
            pair = f"{short}-{chapters}-{sample:02d}"
            yield Item(
                id=f"hitom-{pair}-{order}",
                story=story,
                question=question,
                options=options,
                answer=by_rule if sound and by_rule is not None else cotp,
                task="hitom",
                order=order,
                condition=condition,
                pair=pair,
                flags=tuple(flags),
                by_rule=None if sound else by_rule,
                chapters=chapters,
                published_vp=vp,
                published_cotp=cotp,
            )


def _place(file: Path) -> tuple[int, int, int]:
    """Return the number of chapters, the sample number and the order, which a file's path
    contains."""
    path_match = re.search(r"length_(\d+)/sample_(\d+)/order_(\d+)", file.as_posix())
    assert path_match is not None  # the glob matched
    return int(path_match[1]), int(path_match[2]), int(path_match[3])


def _read(file: Path) -> tuple[str, str, tuple[str, ...], str]:
    """Return story, question, choices and published answer of a file."""
    text = read_utf8(file)
    story = [line.strip() for line in text.split("\n") if re.match(r"\d+ \S", line)]
    fields = {
        name: hit[1].strip()
        for name in ("Question", "Answer", "Choices")
        if (hit := re.search(rf"^{name}: (.+)$", text, re.MULTILINE))
    }
    if not story or len(fields) < 3:
        raise BadInput(
            f"{file} must contain a story, and lines that start with Question, Answer and Choices."
        )
    options = tuple(re.sub(r"^[A-O]\. ", "", c.strip()) for c in fields["Choices"].split(","))
    if fields["Answer"] not in options:
        raise BadInput(f"{file}: Answer must be one of the Choices, not {fields['Answer']!r}.")
    return "\n".join(story), fields["Question"], options, fields["Answer"]
