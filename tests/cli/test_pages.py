"""`sally report` and `sally pack` as a user meets them, and a bundle in the place of a store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_commands import TINY, sally


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    (folder / "tiny.toml").write_text(TINY)
    assert sally("run", "tiny.toml", cwd=folder).returncode == 0
    assert sally("pack", "out/tiny", cwd=folder).returncode == 0
    return folder


def test_report_writes_one_page_and_prints_its_contents(place: Path) -> None:
    done = sally("report", "out/tiny", cwd=place)
    assert done.returncode == 0, done.stderr
    page = (place / "tiny.html").read_text("utf-8")
    assert done.stdout.startswith("tiny.html: 2 episodes, 2 transcripts, ")
    assert "Knowing and doing" in page and "best simple rule" in page


def test_report_supports_json_and_transcript_limit(place: Path) -> None:
    done = sally(
        "report", "out/tiny", "--out", "sub/p.html", "--transcripts", "1", "--no-profile", "--json",
        cwd=place,
    )  # fmt: skip
    data = json.loads(done.stdout)
    page = place / "sub" / "p.html"
    assert data == {"page": "sub/p.html", "bytes": page.stat().st_size, "episodes": 2,
                    "transcripts": 1}  # fmt: skip
    assert "Knowing and doing" not in page.read_text("utf-8")


def test_pack_prints_the_hash_to_publish(place: Path) -> None:
    done = sally("pack", "out/tiny", "--out", "b.zip", "--json", cwd=place)
    data = json.loads(done.stdout)
    assert data["episodes"] == 2 and data["study"] == "tiny"
    repeated_run = sally("replay", "b.zip", "--json", cwd=place)
    actual_data = json.loads(repeated_run.stdout)
    assert (actual_data["replayed"], actual_data["mismatches"]) == (2, [])
    assert actual_data["sha256"] == data["sha256"]


def test_every_reading_command_accepts_a_bundle(place: Path) -> None:
    store, bundle = "out/tiny", "tiny.sally.zip"
    assert sally("score", bundle, cwd=place).stdout == sally("score", store, cwd=place).stdout
    assert sally("show", bundle, cwd=place).returncode == 0
    id = json.loads(sally("show", bundle, "--json", cwd=place).stdout)["episode"]
    ways = [
        sally("show", f"{actual_place}/{id[:9]}", cwd=place) for actual_place in (store, bundle)
    ]
    assert ways[0].stdout == ways[1].stdout and ways[1].returncode == 0
    assert sally("report", bundle, "--out", "from_bundle.html", cwd=place).returncode == 0
    assert "hashes match" in sally("replay", bundle, cwd=place).stdout


def test_changed_bundle_is_refused_with_one_message_by_every_command(place: Path) -> None:
    data = bytearray((place / "tiny.sally.zip").read_bytes())
    data[len(data) // 2] ^= 1
    (place / "changed.zip").write_bytes(data)
    for command in ("replay", "score", "show", "report"):
        done = sally(command, "changed.zip", cwd=place)
        assert done.returncode == 2 and done.stdout == ""
        assert done.stderr.count("\n") == 1 and "changed.zip" in done.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("report", "nowhere"), "There is no store at nowhere."),
        (("report", "out/tiny", "--transcripts", "few"), "takes all or a whole number"),
        (("report", "tiny.toml"), "There is no store at tiny.toml."),
        (("pack", "nowhere"), "There is no store at nowhere."),
        (("show", "tiny.sally.zip/nope"), "has no episode 'nope'"),
    ],
)
def test_bad_input_gives_one_message(place: Path, args: tuple[str, ...], said: str) -> None:
    done = sally(*args, cwd=place)
    assert done.returncode == 2 and said in done.stderr
