"""Wheel and sdist, in an environment that has nothing but the base: what works, what is named."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZipFile

import pytest

from sally.core.version import DISTRIBUTION, VERSION

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BUILD = (
    "from setuptools import build_meta as b; print(b.build_wheel('dist'), b.build_sdist('dist'))"
)
NAME = re.compile(r"[A-Za-z0-9._-]+")


def base(names: list[str]) -> set[str]:
    """The distributions that these need, markers aside, they themselves among them."""
    texts: set[str] = set()
    for name in names:
        needs = [n for n in distribution(name).requires or [] if ";" not in n]
        texts |= {name} | base([NAME.match(n)[0] for n in needs])
    return texts


def told(*command: object, folder: Path, well: bool = True) -> str:
    """What a command prints, in an environment that inherits no path of ours."""
    ours = (
        "PYTHONPATH",
        "VIRTUAL_ENV",
        "PYTHONDONTWRITEBYTECODE",
    )  # what is loaded is compiled once
    kept = {k: v for k, v in os.environ.items() if k not in ours}
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, env=kept, text=True, capture_output=True
    )
    assert (done.returncode == 0) == well, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean copy of what is built from, with a wheel and an sdist in `dist`."""
    copy = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    shutil.copytree(ROOT / "sally", copy / "sally", ignore=shutil.ignore_patterns("__pycache__"))
    told(sys.executable, "-c", BUILD, folder=copy)
    return copy


@pytest.fixture(scope="module")
def bare(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel and, linked from ours, only what the base needs."""
    home = tmp_path_factory.mktemp("bare")
    told(sys.executable, "-m", "venv", "--without-pip", home / "env", folder=home)
    python = home / "env/bin/python"
    packages = Path(
        told(
            python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", folder=home
        ).strip()
    )
    for name in base([NAME.match(dependency)[0] for dependency in PROJECT["dependencies"]]):
        held_distribution = distribution(name)
        for top in {
            file.parts[0] for file in held_distribution.files or [] if file.parts[0] != ".."
        }:
            if not (packages / top).exists():
                (packages / top).symlink_to(held_distribution.locate_file(top))
    (wheel,) = source.glob("dist/*.whl")
    pip = (sys.executable, "-m", "pip", "--python", python, "-q", "--disable-pip-version-check")
    told(*pip, "install", "--no-deps", "--no-index", "--no-compile", wheel, folder=home)
    return home


def sally(bare: Path, line: str, well: bool = True) -> str:
    return told(bare / "env/bin/sally", *line.split(), folder=bare, well=well)


def test_wheel_and_sdist_contain_every_file_of_the_package(source: Path) -> None:
    (wheel,) = source.glob("dist/*.whl")
    (sdist,) = source.glob("dist/*.tar.gz")
    assert wheel.name.startswith(f"{DISTRIBUTION.replace('-', '_')}-{VERSION}-py3")
    there = {p.relative_to(source).as_posix() for p in (source / "sally").rglob("*") if p.is_file()}
    assert there - set(ZipFile(wheel).namelist()) == set()
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    assert there - packed == set()


def test_version_is_the_same_everywhere() -> None:
    assert (PROJECT["name"], PROJECT["version"]) == (DISTRIBUTION, VERSION)
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_base_install_lists_plays_runs_scores_replays_and_reports(bare: Path) -> None:
    assert sally(bare, "--version") == f"{DISTRIBUTION}, version {VERSION}\n"
    assert "rps" in sally(bare, "list games")
    sally(bare, "run quickstart --limit 6 --out first")
    assert "payoff" in sally(bare, "score first --metric payoff --seat agent")
    sally(bare, "replay first")
    sally(bare, "report first --no-profile --out first.html")
    assert (bare / "first.html").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("line", "extra"),
    [
        ("serve", "web"),
        ("score first --crossplay --game rps --figure matrix.svg", "figures"),
        ("run quickstart_model --model openai/nobody --out second", "inspect"),
        ("run quickstart --out memory://third", "stores"),
    ],
)
def test_missing_extra_is_named_in_one_line(bare: Path, line: str, extra: str) -> None:
    if not (bare / "first").exists():
        sally(bare, "run quickstart --limit 6 --out first")
    process = sally(bare, line, well=False)
    assert re.search(rf"pip install '.*\.whl\[{extra}\]'", process)
    assert len(process.strip().splitlines()) == 1


@pytest.mark.parametrize("module", ["rl.pettingzoo", "rl.gymnasium", "inspect.tasks"])
def test_adapter_without_its_library_raises_one_message(bare: Path, module: str) -> None:
    python = bare / "env/bin/python"
    text = told(python, "-c", f"import sally.adapters.{module}", folder=bare, well=False)
    last = text.strip().splitlines()[-1]
    assert re.match(r"(sally\.core\.errors\.NotInstalled|ImportError): ", last)
    assert re.search(r"pip install '.*\.whl\[", last)


def test_foreign_package_shadowing_sally_is_named(bare: Path) -> None:
    stranger = bare / "over/sally"
    shutil.copytree(ROOT / "sally/cli", stranger / "cli")
    (stranger / "__init__.py").write_text('__version__ = "1.0.8"\n')
    text = told(bare / "env/bin/python", "-c", "import sally.cli", folder=bare / "over", well=False)
    assert text.startswith("sally: another package called sally is installed over this one")


HINT = re.compile(
    rf"{DISTRIBUTION}\[([a-z,]+)\]|install_command\('([a-z,]+)'\)"
    r"|install (?:-c constraints\.txt )?'\.\[([a-z,]+)\]'"
)


def test_install_hints_name_the_distribution_and_existing_extras() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "sally").rglob("*.py")]
    extras = {*PROJECT["optional-dependencies"]}
    hints = 0
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"(?<!un)install '?sally(?!-lab)\b", text), page
        assert not re.search(r"(?<![\w.-])sally\[", text), page
        for match in HINT.finditer(text):
            hints += 1
            assert set(next(filter(None, match.groups())).split(",")) <= extras, page
    assert hints > 20
