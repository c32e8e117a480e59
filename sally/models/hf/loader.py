"""Loading a model from a folder, or from a GGUF file that is unpacked once into the cache."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from sally.core.errors import BadInput
from sally.models import catalogue
from sally.models.forms import processor
from sally.models.hf.net import ATTENTION, register, torch, transformers
from sally.models.weights import Unavailable, cache_folder, local, sha256_of

CONTROL, OWN = 3, 4  # token types in a GGUF file: control, user-defined
FULL, WINDOW = "full_attention", "sliding_attention"
DTYPES: Final = ("float32", "bfloat16", "float16")
UNPACKED: Final = "unpacked.sha256"  # written last: a folder without it is incomplete


def find_model(path: str) -> Path:
    """Return the path of a model folder, a GGUF file or named weights, or raise Unavailable."""
    if path in catalogue.NAMES:
        return catalogue.have(path)
    local_path = Path(path).expanduser()
    if local_path.is_dir():
        if not (local_path / "config.json").is_file():
            raise Unavailable(
                f"The folder {local_path} has no config.json, so it is not a model folder."
            )
        return local_path
    return local(local_path)


def device_here() -> str:
    """Return the accelerator of this machine, else its processor."""
    if torch().cuda.is_available():
        return "cuda"
    return "mps" if torch().backends.mps.is_available() else "cpu"


class Opened(NamedTuple):
    """A loaded model with its tokeniser, and where and how it was loaded."""

    path: Path  # of the folder or GGUF file
    device: str
    dtype: str
    model: Any
    tokenizer: Any


def load_model(path: str, dtype: str | None = None, device: str | None = None) -> Opened:
    """Load a model folder, a GGUF file or named weights.

    Args:
        path: The folder, the file or the name.
        dtype: The number format; by default 32 bits on a processor, 16 bits on an accelerator.
        device: The device; by default the accelerator of this machine, else its processor.

    Raises:
        BadInput: The number format is unknown.
        Unavailable: The model cannot be loaded.
    """
    source, device = find_model(path), device or device_here()
    dtype = dtype or ("float32" if device == "cpu" else "bfloat16")
    if dtype not in DTYPES:
        raise BadInput(f"dtype must be one of {', '.join(DTYPES)}, not {dtype!r}.")
    folder = unpack_gguf(source, dtype) if source.is_file() else source
    return Opened(source, device, dtype, *load(folder, device, dtype))


def load(folder: Path, device: str, dtype: str) -> tuple[Any, Any]:
    """Return the model and its tokeniser; the model uses Sally's own attention function, which
    Sally's key-value cache requires."""
    register()
    with _quiet():
        try:
            tokenizer = transformers().AutoTokenizer.from_pretrained(folder, local_files_only=True)
            model = transformers().AutoModelForCausalLM.from_pretrained(
                folder,
                dtype=getattr(torch(), dtype),
                attn_implementation=ATTENTION,
                local_files_only=True,
            )
        except (OSError, ValueError, ImportError) as error:
            raise Unavailable(
                f"transformers cannot load {folder} ({str(error).splitlines()[0]})."
            ) from error
    return model.to(device).eval(), tokenizer


def window(config: Any) -> int | None:
    """Return the attention window if it is limited; raises Unavailable for other kinds of
    layers."""
    text_config = config.get_text_config()
    kinds = set(getattr(text_config, "layer_types", None) or [FULL])
    if kinds - {FULL, WINDOW}:
        raise Unavailable(
            f"The model has layers of the kind {', '.join(sorted(kinds - {FULL, WINDOW}))}, which "
            "hf does not support; serve it with vllm instead."
        )
    limited = WINDOW in kinds or not hasattr(text_config, "layer_types")
    size = getattr(text_config, "sliding_window", None)
    return int(size) if limited and size else None


def unpack_gguf(path: Path, dtype: str) -> Path:
    """Return the folder to which a GGUF file is unpacked, once, because reading it takes minutes.

    Control and user-defined tokens, which transformers leaves out, are added to the tokeniser, so
    that texts have the same tokens as in llama.cpp.
    """
    checksum = sha256_of(path)
    target = cache_folder() / "hf" / f"{path.stem}-{checksum[:12]}-{dtype}"
    if (target / UNPACKED).is_file():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        _unpack(path, scratch, dtype)
        (scratch / UNPACKED).write_text(checksum + "\n")
        with contextlib.suppress(OSError):  # another process was faster
            os.rename(scratch, target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return target


def _unpack(path: Path, folder: Path, dtype: str) -> None:
    file_options = {"gguf_file": path.name, "local_files_only": True}
    with _quiet():
        try:
            tokenizer = transformers().AutoTokenizer.from_pretrained(path.parent, **file_options)
            model = transformers().AutoModelForCausalLM.from_pretrained(
                path.parent, dtype=getattr(torch(), dtype), **file_options
            )
        except (OSError, ValueError, ImportError, KeyError) as error:
            raise Unavailable(
                f"transformers cannot read {path} ({str(error).splitlines()[0]})."
            ) from error
        _add_tokens(path, tokenizer)
        # The weights are unpacked by now; their quantisation mark would prevent saving.
        model.hf_quantizer = None
        if hasattr(model.config, "quantization_config"):
            del model.config.quantization_config
        tokenizer.save_pretrained(folder)
        model.save_pretrained(folder)


def _add_tokens(path: Path, tokenizer: Any) -> None:
    import gguf

    fields = gguf.GGUFReader(path).fields
    texts = fields["tokenizer.ggml.tokens"].contents()
    kinds = fields["tokenizer.ggml.token_type"].contents()
    new = transformers().AddedToken
    marked = [
        (text, kind) for text, kind in zip(texts, kinds, strict=True) if kind in (CONTROL, OWN)
    ]
    tokenizer.add_tokens(
        [new(text, special=kind == CONTROL, normalized=False) for text, kind in marked]
    )


def checksum(path: Path) -> str:
    """Return the checksum of a GGUF file, or of all weight files in a folder, in order of name."""
    if path.is_file():
        return sha256_of(path)
    if (path / UNPACKED).is_file():
        return (path / UNPACKED).read_text().strip()
    files = sorted([*path.glob("*.safetensors"), *path.glob("*.bin")])
    return hashlib.sha256("".join(sha256_of(file) for file in files).encode()).hexdigest()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence the progress bars and hints of transformers."""
    logging = transformers().utils.logging
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        logging.enable_progress_bar()


def device_name(device: str) -> str:
    """Return the name of the device."""
    if torch().device(device).type == "cuda":
        return str(torch().cuda.get_device_name(device))
    return device if device != "cpu" else processor()
