"""Forms (number formats) of weights: convert a GGUF file for speed, and store the fastest form."""

from __future__ import annotations

import importlib
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import msgspec

from sally.core.errors import install_command
from sally.models.weights import Unavailable, cache_folder, written_whole

Form: TypeAlias = Literal["original", "f32", "q8_0"]
FORMS: Final[tuple[Form, ...]] = ("original", "q8_0", "f32")
TURNS: Final = 3


class Choice(msgspec.Struct, frozen=True):
    """The number format of the weights chosen on this machine, and the processor seconds that each
    format took in the trial."""

    form: Form
    seconds: dict[str, float]


def convert_weights(path: Path, form: Form, name: str, folder: Path | None = None) -> Path:
    """Return the file with the weights in a number format; it is converted once and cached as
    `name`."""
    if form == "original":
        return path
    target = (folder or cache_folder()) / "weights" / f"{name}-{form}.gguf"
    if not target.is_file():
        with written_whole(target) as partial:
            _convert(path, partial, form)
    return target


def _gguf() -> Any:
    try:
        return importlib.import_module("gguf")
    except ImportError as error:
        raise Unavailable(
            "The package gguf, which unpacks weights, is not installed; "
            f"install it with `{install_command('embedded')}`, "
            "or use the weights in their original form."
        ) from error


def _convert(source: Path, target: Path, form: Form) -> None:
    """Write a copy of the file with its packed tensors in another number format."""
    gguf = _gguf()
    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(target, reader.get_field("general.architecture").contents())
    _copy_fields(gguf, reader, writer, form)
    kept_types = {gguf.GGMLQuantizationType.F32, gguf.GGMLQuantizationType.F16}
    target_type = gguf.GGMLQuantizationType[form.upper()]
    for tensor in reader.tensors:
        if tensor.tensor_type in kept_types or tensor.tensor_type == target_type:
            writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
            continue
        plain = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        writer.add_tensor(
            tensor.name, gguf.quants.quantize(plain, target_type), raw_dtype=target_type
        )
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _copy_fields(gguf: Any, reader: Any, writer: Any, form: Form) -> None:
    file_type = {"f32": gguf.LlamaFileType.ALL_F32, "q8_0": gguf.LlamaFileType.MOSTLY_Q8_0}[form]
    # The first two are written by the writer itself or are no longer true.
    ours = {"general.architecture", "general.file_type"}
    for field in reader.fields.values():
        if field.name in ours or field.name.startswith("GGUF."):
            continue
        kind = field.types[0]
        inner = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(field.name, field.contents(), kind, sub_type=inner)
    writer.add_file_type(int(file_type))


# ---------------------------------------------------------------- the fastest form


def fastest(
    name: str,
    circumstances: Mapping[str, str],
    seconds: Callable[[Form], float],
    forms: Sequence[Form] = FORMS,
    folder: Path | None = None,
) -> Choice:
    """Return the number format stored as the fastest for these weights and circumstances (such as
    the processor); if there is none, choose one by a trial."""
    notes = (folder or cache_folder()) / "fastest_form.json"
    key = ", ".join([name, *(f"{k} {v}" for k, v in sorted(circumstances.items()))])
    remembered = _read_choices(notes)
    if (choice := remembered.get(key)) is not None and choice.form in forms:
        return choice
    # Forms alternate and the best run of each counts, so a busy moment does not hit one form.
    turns = [{form: seconds(form) for form in forms} for _ in range(TURNS)]
    times = {form: round(min(turn[form] for turn in turns), 4) for form in forms}
    choice = Choice(min(forms, key=lambda form: times[form]), {str(f): t for f, t in times.items()})
    with written_whole(notes) as partial:
        text = msgspec.json.encode({**_read_choices(notes), key: choice}, order="sorted")
        partial.write_bytes(msgspec.json.format(text, indent=2))
    return choice


def _read_choices(notes: Path) -> dict[str, Choice]:
    """Return the choices of number formats stored so far; none if the file is missing or
    unreadable."""
    try:
        return msgspec.json.decode(notes.read_bytes(), type=dict[str, Choice])
    except (OSError, msgspec.DecodeError):
        return {}


def processor() -> str:
    """Return the processor's name as far as the system reports it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    model_names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    # ARM lists the part number instead of a name.
    parts = [line.split(":", 1)[1].strip() for line in lines if line.startswith("CPU part")]
    return " ".join([platform.machine(), *(model_names or parts)[:1]])


def free_cores() -> int:
    """Return the number of cores that this process may use and that are idle now, at least one.

    The threads of llama.cpp wait for each other in a loop, so a thread that shares its core with
    another process delays all the others.
    """
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return max(1, cores - round(busy))
