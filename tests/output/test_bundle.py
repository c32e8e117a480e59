"""A bundle carries its hashes: what was changed after packing is one clear sentence."""

from __future__ import annotations

import shutil
import struct
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

import sally
from sally import store
from sally.core.errors import BadInput
from sally.core.log.events import Censored
from sally.core.registry import packs, registry
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.output.files import bundle as packing
from sally.output.files.bundle import Bundle, pack
from sally.output.files.privacy import private_part
from sally.runner.check import check
from sally.store import bundles
from sally.store.bundles import open_store, unpack
from tests.output.hostile import hostile_model


def study() -> Study:
    players = grid(agent=player_spec("random"), partner=player_spec("tit_for_tat"))
    return Study(
        "mine", "for tests", (Cell("only", (instance("ipd", rounds=3),), players, repeats=3),)
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("bundle") / "store"
    sally.run(study(), out)
    return out


@pytest.fixture
def packed(folder: Path, tmp_path: Path) -> Path:
    out = tmp_path / "mine.sally.zip"
    pack(folder, out)
    return out


def test_packed_episodes_are_read_back(folder: Path, packed: Path) -> None:
    with open_store(packed) as (place, result):
        assert isinstance(place, Path) and result is not None
        contents, back = store.load(folder), store.load(place)
        assert back.episodes == contents.episodes
        assert store.studies(place) == {store.manifest_of(place).asks: study()}  # type: ignore[union-attr]
        assert check(back.episodes.values()).replayed == 3
        assert result.sha256 == sha256(packed.read_bytes()).hexdigest()
        assert result.bundle.episodes == 3 and result.bundle.games == {"ipd": [1]}
    assert not place.exists()


def test_bundle_is_loaded_by_a_path_and_by_its_text(folder: Path, packed: Path) -> None:
    assert len(sally.load(str(packed))) == len(sally.load(packed)) == 3


def test_small_bundle_has_same_episodes_and_damage_is_detected(
    folder: Path, packed: Path, tmp_path: Path
) -> None:
    small = tmp_path / "small.sally.zip"
    assert pack(folder, small, small=True).bundle == unpack(packed, tmp_path / "a").bundle
    with open_store(small) as (place, _):
        assert store.load(place).episodes == store.load(folder).episodes
    data = bytearray(small.read_bytes())
    index = data.index(b"episodes.jsonl") + 60  # inside what LZMA made of the episodes
    data[index : index + 40] = bytes(40)
    small.write_bytes(data)
    with pytest.raises(BadInput, match="changed after packing"):
        unpack(small, tmp_path / "b")


def test_folder_is_opened_without_unpacking(folder: Path) -> None:
    with open_store(folder) as result:
        assert result == (folder, None)


def test_same_records_give_the_same_bytes(folder: Path, packed: Path, tmp_path: Path) -> None:
    """Whoever wrote them, in however many files, in whatever order."""
    sally.run(study(), tmp_path / "again", limit=1)
    sally.run(study(), tmp_path / "again")
    assert len(list((tmp_path / "again").glob("*.jsonl"))) == 2
    pack(tmp_path / "again", tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == packed.read_bytes()


def test_words_packs_are_bundled_with_the_episodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.add("models", "hostile", hostile_model())
    agent = player_spec("language", model="hostile", strategy="qa", pack="repeated_games_terse")
    cell = Cell(
        "worded", (instance("ipd", rounds=2),), grid(agent=agent, partner=player_spec("random"))
    )
    sally.run(Study("worded", "in other words", (cell,)), tmp_path / "w")
    bundle = pack(tmp_path / "w", tmp_path / "w.zip").bundle
    assert [name.partition("@")[0] for name in bundle.packs] == ["repeated_games_terse"]
    monkeypatch.setattr(packs, "_packs", {})  # as on a machine that never saw them
    with open_store(tmp_path / "w.zip") as (place, _):
        checked = check(store.load(place).episodes.values())
    assert (checked.replayed, checked.mismatches, checked.unchecked) == (1, [], [])


def test_omitted_episodes_are_counted(folder: Path, tmp_path: Path) -> None:
    other_folder = tmp_path / "other"
    shutil.copytree(folder, other_folder)
    episode = sally.load(folder)[0]
    cut = msgspec.structs.replace(episode, events=[Censored(0, "budget")])
    lines = [store_line(e) for e in (cut, episode, episode)]
    for file in other_folder.glob("*.jsonl"):
        file.unlink()
    (other_folder / "1-a.jsonl").write_bytes(b"".join(lines) + b"no record\n")
    bundle = pack(other_folder, tmp_path / "o.zip").bundle
    assert bundle.left_out == {"cut and run again": 1, "doubled": 1, "unreadable": 1}
    assert bundle.episodes == 1


def store_line(episode: object) -> bytes:
    return msgspec.json.encode(episode) + b"\n"


# --- tampering ------------------------------------------------------------------------------------


def refuse(path: Path, tmp_path: Path) -> str:
    out = tmp_path / "unpacked"
    out.mkdir(exist_ok=True)
    with pytest.raises(BadInput) as error:
        unpack(path, out)
    text = str(error.value)
    assert "\n" not in text and text.endswith(".") and str(path) in text
    return text


def test_changed_byte_is_detected(packed: Path, tmp_path: Path) -> None:
    full_data = packed.read_bytes()
    ends = range(200), range(len(full_data) - 200, len(full_data))
    for index in (*ends[0], *range(200, ends[1].start, 7), *ends[1]):
        flipped = full_data[index] ^ (1 << index % 8)
        packed.write_bytes(full_data[:index] + bytes([flipped]) + full_data[index + 1 :])
        refuse(packed, tmp_path)


def test_truncated_or_extended_bundle_is_refused(packed: Path, tmp_path: Path) -> None:
    full_data = packed.read_bytes()
    for data in (
        full_data[:-1],
        full_data[: len(full_data) // 2],
        full_data[:4],
        b"",
        full_data + b"x",
        b"x" + full_data,
    ):
        packed.write_bytes(data)
        refuse(packed, tmp_path)


Change = Callable[[dict[str, bytes]], object]


def packed_anew(path: Path, change: Change, seal: bool = True) -> None:
    """Somebody opens a bundle, changes its files and closes it again with a seal of their own."""
    with zipfile.ZipFile(path) as old:
        files = {name: old.read(name) for name in old.namelist()}
    change(files)
    with path.open("w+b") as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
            for name, data in files.items():
                new.writestr(zipfile.ZipInfo(name), data)
            if seal:
                new.comment = bundles.seal_of("0" * 64)
        if seal:
            packing._seal(file)


def manifest(read: dict[str, bytes], /, **changed: object) -> None:
    data = msgspec.json.decode(read["bundle.json"], type=Bundle)
    read["bundle.json"] = msgspec.json.encode(msgspec.structs.replace(data, **changed))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: f.update({"episodes.jsonl": f["episodes.jsonl"].replace(b"random", b"rendom")}),
         "episodes.jsonl was changed after packing: its SHA-256 is"),
        (lambda f: f.update({"episodes.jsonl": f["episodes.jsonl"][:-10]}),
         "episodes.jsonl was changed after packing: it has"),
        (lambda f: f.pop("study.json"), "lacks study.json"),
        (lambda f: f.pop("episodes.jsonl"), "lacks episodes.jsonl"),
        (lambda f: f.update({"notes.txt": b"x"}), "contains notes.txt, which bundle.json does not"),
        (lambda f: f.update({"../evil.py": b"x"}), "'../evil.py', a path outside the bundle"),
        (lambda f: f.update({"/etc/passwd": b"x"}), "'/etc/passwd', a path outside the bundle"),
        (lambda f: f.update({"a/../../b": b"x"}), "a path outside the bundle"),
        (lambda f: f.update({"..\\evil": b"x"}), "a path outside the bundle"),
        (lambda f: f.update({"C:\\evil": b"x"}), "a path outside the bundle"),
        (lambda f: f.pop("bundle.json"), "is not a bundle of Sally: it has no bundle.json"),
        (lambda f: f.update({"bundle.json": b"{"}), "bundle.json of the bundle"),
        (lambda f: manifest(f, bundle=2), "has format 2; this Sally reads format 1"),
        (lambda f: manifest(f, files={"x/y": bundles.File("", 0)}), "cannot be part of a bundle"),
        (lambda f: manifest(f, files={}), "does not list episodes.jsonl"),
    ],
)  # fmt: skip
def test_each_kind_of_tampering_is_named(
    packed: Path, tmp_path: Path, change: Change, said: str
) -> None:
    packed_anew(packed, change)
    assert said in refuse(packed, tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == {"mine.sally.zip", "unpacked"}


@pytest.mark.parametrize(
    ("lines", "episodes", "said"),
    [
        (b"\n" * 200_000, 3, "has more lines than that"),
        (b"\n" * 200_000, 200_000, "which is impossible"),
        (b"\n" * 200_000, -1, "which is impossible"),
        (b"x" * 999 + b"\n", 3, "has 2 fewer lines"),
    ],
)
def test_bundle_with_wrong_line_count_is_refused(
    packed: Path, tmp_path: Path, lines: bytes, episodes: int, said: str
) -> None:
    def fill(files: dict[str, bytes]) -> None:
        old = msgspec.json.decode(files["bundle.json"], type=Bundle)
        filled = bundles.File(sha256(lines).hexdigest(), len(lines))
        files["episodes.jsonl"] = lines
        manifest(files, episodes=episodes, files={**old.files, "episodes.jsonl": filled})

    packed_anew(packed, fill)
    assert said in refuse(packed, tmp_path)


def test_invalid_words_pack_in_a_store_is_refused(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "store"
    shutil.copytree(folder, out)
    words = (
        'name = "mine"\ngame = "repeated_games"\n[texts]\n"question" = "{no_such_slot.__class__}"\n'
    )
    (out / "packs").mkdir()
    (out / "packs" / "0123abcd.toml").write_text(words)
    with pytest.raises(BadInput, match="mine"):
        store.load(out)


def test_bundle_repacked_by_another_program_is_refused(packed: Path, tmp_path: Path) -> None:
    packed_anew(packed, lambda files: None, seal=False)
    assert "repacked by another program" in refuse(packed, tmp_path)


def test_duplicate_file_name_is_refused(packed: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(packed, "a") as more_archive, pytest.warns(UserWarning, match="Duplicate"):
        more_archive.writestr("study.json", b"{}")
    assert "contains study.json twice" in refuse(packed, tmp_path)


def test_zip_bomb_is_refused_before_unpacking(packed: Path, tmp_path: Path) -> None:
    huge = bundles.SMALL + 1

    def announce(files: dict[str, bytes]) -> None:
        old = msgspec.json.decode(files["bundle.json"], type=Bundle)
        manifest(files, files={**old.files, "episodes.jsonl": bundles.File("", huge)})

    packed_anew(packed, announce)
    assert "was changed after packing: it has" in refuse(packed, tmp_path)
    lied = packed.read_bytes()
    index = lied.index(b"PK\x01\x02", lied.rindex(b"episodes.jsonl") - 60)
    packed.write_bytes(lied[: index + 24] + struct.pack("<I", huge) + lied[index + 28 :])
    assert "would unpack to" in refuse(packed, tmp_path)


def test_file_larger_than_its_stated_size_is_refused(packed: Path, tmp_path: Path) -> None:
    """A central directory that lies about a size does not make us unpack more than it says."""
    with zipfile.ZipFile(packed) as zipped:
        short = zipped.getinfo("episodes.jsonl").file_size - 100

    def lie(read: dict[str, bytes]) -> None:
        old = msgspec.json.decode(read["bundle.json"], type=Bundle)
        short_digest = sha256(read["episodes.jsonl"][:short]).hexdigest()
        manifest(read, files={**old.files, "episodes.jsonl": bundles.File(short_digest, short)})

    packed_anew(packed, lie)
    lied = packed.read_bytes()
    index = lied.index(b"PK\x01\x02", lied.rindex(b"episodes.jsonl") - 60)
    packed.write_bytes(lied[: index + 24] + struct.pack("<I", short) + lied[index + 28 :])
    assert "episodes.jsonl was changed" in refuse(packed, tmp_path)


def test_packed_bundle_is_not_mistaken_for_a_zip_bomb(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundles, "SMALL", 10)
    monkeypatch.setattr(bundles, "MOST_RATIO", 1)
    pack(folder, tmp_path / "b.zip")
    with open_store(tmp_path / "b.zip") as (place, _):
        assert len(store.load(place).episodes) == 3


# --- what must not leave the machine --------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"used": {"a": {"api_key": "x"}}}, "/used/a/api_key looks like a key"),
        ({"reply": "my key is sk-abcdefghijklmnop1234"}, "/reply looks like a key"),
        ({"address": "https://me:pass@host/v1"}, "/address looks like a key"),
        ({"model": "embedded:/home/me/x.gguf"}, "a local path, '/home/me/x.gguf'"),
        ({"model": "C:\\Users\\me\\x"}, "a local path"),
        ({"a": [{"b": "see ~/notes"}]}, "/a/0/b contains a local path"),
        ({"reply": "it is in /home/me/x"}, None),  # a player's words are no path of ours
        ({"address": "http://localhost:8000/v1", "password": "swordfish"}, None),
        ({"story": "the and/or case, 1/2 and ../x"}, None),
    ],
)
def test_private_keys_and_paths_are_detected(record: object, said: str | None) -> None:
    actual_private_part = private_part(msgspec.json.encode(record))
    assert (
        actual_private_part is None
        if said is None
        else actual_private_part is not None and said in actual_private_part
    )


def test_private_data_in_an_episode_is_packed_only_on_request(folder: Path, tmp_path: Path) -> None:
    other_folder = tmp_path / "other"
    episode = sally.load(folder)[0]
    store.claim(other_folder, store.Manifest("mine", "x"))
    with store.Writer(other_folder) as writer:
        writer.add(msgspec.structs.replace(episode, used={"agent": {"weights": "/home/me/w.gguf"}}))
    with pytest.raises(BadInput, match=rf"In episode {episode.id}, /used/agent/weights contains a"):
        pack(other_folder, tmp_path / "o.zip")
    assert not (tmp_path / "o.zip").exists()
    assert pack(other_folder, tmp_path / "o.zip", anyway=True).bundle.episodes == 1


def test_empty_store_is_refused_with_one_message(tmp_path: Path) -> None:
    store.claim(tmp_path / "none", store.Manifest("none", "x"))
    with pytest.raises(BadInput, match="contains no episode to pack"):
        pack(tmp_path / "none", tmp_path / "x.zip")
