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
from sally.games.battery.hitom_beliefs import asked, believed, happened
from sally.games.battery.items import DIFFER, Item, read_utf8

CONDITIONS = {"No_Tell": ("quiet", "no_deception"), "Tell": ("tell", "deception")}
ASIDE = "set aside: the rule gives neither key"


def imported(checkout: Path) -> list[Item]:
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
            other = Path(str(file).replace("/MC/", "/CoT/"))
            again = _read(other)
            if again[:3] != (story, question, options):
                raise BadInput(f"{other} does not contain the same question as {file}.")
            vp, cotp = options.index(printed), options.index(again[3])
            thing, chain = asked(question)
            facts, place = happened(story, thing)
            said = believed(facts, place, chain)
            by_rule = options.index(said) if said in options else None
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
    found = re.search(r"length_(\d+)/sample_(\d+)/order_(\d+)", file.as_posix())
    assert found is not None  # the glob matched
    return int(found[1]), int(found[2]), int(found[3])


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
