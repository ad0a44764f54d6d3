# SPDX-License-Identifier: Apache-2.0
"""`python -m rocket_npu`."""

import sys


def _main():
    try:
        from rocket_npu.cli import main  # pylint: disable=import-outside-toplevel
    except ModuleNotFoundError as error:
        print(
            f"rocket_npu: error: {sys.executable} has no module '{error.name}': use "
            "build/venv/bin/python (made by `make setup`), or "
            "`pip install ai-edge-litert numpy pillow`",
            file=sys.stderr,
        )
        return 2
    return main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(_main())
