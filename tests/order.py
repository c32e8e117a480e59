"""Which tests begin first, and which are run together."""

from __future__ import annotations

# A fork runs whole files, so that what a file sets up is set up once; but the tests of these
# share nothing and are long, and one fork alone would still be at them when the others are done.
WHOLE_STUDIES, DOCS = "tests/adapters/inspect/test_whole_studies.py", "tests/test_docs.py"
ONE_BY_ONE = (WHOLE_STUDIES, DOCS)
# A browser takes a second to start, and is closed before a file that has none.
BROWSERS = (
    ("tests/web/play/test_browser_access.py", "tests/web/play/test_browser_hands.py"),
    (
        "tests/web/play/test_browser_games.py",
        "tests/web/play/test_browser_numbers.py",
        "tests/web/play/test_browser_people.py",
        "tests/web/play/test_browser_words.py",
        "tests/web/study/test_study_browser.py",
    ),
)
BY_GAME = "tests/test_every_game.py"  # its tests of one game share a table
# Long files come first: a short one at the end leaves no core idle for long.
EARLY = (
    WHOLE_STUDIES,
    BY_GAME,
    DOCS,
    "tests/test_notebook.py",
    "tests/analysis/test_adversary.py",
    "tests/analysis/test_recovery.py",
    "tests/adapters/test_ray_cluster.py",
    "tests/models/test_embedded.py",
    "tests/adapters/inspect",
    "tests/web",
    "tests/test_wheel.py",
    "tests/runner",
)


def place(nodeid: str) -> int:
    """How early a test begins; the lower, the earlier."""
    return next((n for n, name in enumerate(EARLY) if nodeid.startswith(name)), len(EARLY))


def group(nodeid: str) -> str:
    """Tests of one group are run one after another by one process."""
    file = nodeid.split("::", 1)[0]
    if file == BY_GAME:  # test_x[ipd], test_y[3-ipd]
        return f"{file}::{nodeid.rpartition('[')[2].rpartition('-')[2]}"
    together = next((files[0] for files in BROWSERS if file in files), file)
    return nodeid if file in ONE_BY_ONE else together
