# SPDX-License-Identifier: Apache-2.0
"""Where the delegate library is, and its key=value options."""

import os
import pathlib

from rocket_npu import UserError

LIBRARY_NAME = "libtflite_rocket.so"
LIBRARY_VARIABLE = "ROCKET_NPU_LIBRARY"


def candidates():
    """Places to look in, best first."""
    package = pathlib.Path(__file__).resolve().parent
    tree = package.parent.parent
    places = [package / "lib", tree / "build" / "release" / "lib"]
    places += sorted(path for path in tree.glob("build/*/lib") if path.parent.name != "release")
    places += [pathlib.Path(path) for path in ("/usr/local/lib", "/usr/lib")]
    return [place / LIBRARY_NAME for place in places]


def find(explicit=None):
    """The delegate library as a path: the given one, $ROCKET_NPU_LIBRARY, or the first found."""
    named = explicit or os.environ.get(LIBRARY_VARIABLE)
    if named:
        path = pathlib.Path(named)
        if path.is_file():
            return path.resolve()
        origin = "--delegate" if explicit else f"${LIBRARY_VARIABLE}"
        raise UserError(f"no delegate library at {named} (from {origin})")
    for path in candidates():
        if path.is_file():
            return path
    raise UserError(
        f"{LIBRARY_NAME} not found: build it with `make`, or name it with --delegate PATH "
        f"or ${LIBRARY_VARIABLE}"
    )


def parse_options(texts):
    """["device=sim", ...] -> {"device": "sim"}; a repeated key is an error."""
    options = {}
    for text in texts:
        key, separator, value = text.partition("=")
        if not separator or not key.strip():
            raise UserError(f"option '{text}' is not KEY=VALUE")
        key = key.strip()
        if key in options:
            raise UserError(f"option '{key}' is given twice")
        options[key] = value
    return options
