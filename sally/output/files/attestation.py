"""Signatures of bundles by a key of their author, made and checked by OpenSSH.

`ssh-keygen -Y sign -n sally -f KEY BUNDLE` writes the signature to `BUNDLE.sig`. It attests that
the owner of the key signed these bytes, and nothing about how the episodes came about.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from sally.core.errors import BadInput

NAMESPACE = "sally"  # of signatures, so that one of another file type cannot be used
SUFFIX = ".sig"
_GOOD = re.compile(r'Good "sally" signature with (\S+ key SHA256:[A-Za-z0-9+/=]{20,100})')


def read_attestation(bundle: Path) -> str:
    """Return the type and the fingerprint of the key that signed a bundle; "" without a signature.

    Raises:
        BadInput: If the signature does not fit the bundle, or cannot be checked here.
    """
    signature = bundle.with_name(bundle.name + SUFFIX)
    if not signature.is_file():
        return ""
    check = ["ssh-keygen", "-Y", "check-novalidate", "-n", NAMESPACE, "-s", str(signature)]
    try:
        with bundle.open("rb") as signed:
            result = subprocess.run(check, stdin=signed, capture_output=True, timeout=60)
    except FileNotFoundError:
        raise BadInput(
            f"The signature {signature} cannot be checked: ssh-keygen (OpenSSH) is not installed; "
            "install it, or remove the signature."
        ) from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BadInput(f"The signature {signature} cannot be checked: {error}.") from None
    key = _GOOD.search(result.stdout.decode("utf-8", "replace"))
    if result.returncode or key is None:
        raise BadInput(
            f"The signature {signature} is not one of {bundle.name}, made with "
            f"`ssh-keygen -Y sign -n {NAMESPACE} -f KEY {bundle.name}`."
        )
    return key[1]
