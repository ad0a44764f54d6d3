#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs unittest modules of this folder with the Python that has the stock interpreter.

usage: run_python_tests.py LIBRARY MODULE...

That Python is $NPU_PYTHON, or build/venv/bin/python of this tree. LIBRARY reaches the tests as NPU_DELEGATE.
$NPU_SANITIZER_PRELOAD is loaded into it first, for a LIBRARY built with the address sanitizer.
"""
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent


def main():
    python = os.environ.get("NPU_PYTHON") or str(HERE.parents[1] / "build" / "venv" / "bin" / "python")
    if not os.access(python, os.X_OK):
        print(f"no Python with ai-edge-litert at {python}: run tools/setup or set NPU_PYTHON", file=sys.stderr)
        return 1
    os.environ["NPU_DELEGATE"] = str(pathlib.Path(sys.argv[1]).resolve())
    if preload := os.environ.get("NPU_SANITIZER_PRELOAD"):
        os.environ["LD_PRELOAD"] = preload
        os.environ["ASAN_OPTIONS"] = "detect_leaks=0"  # CPython itself keeps memory until it ends
    os.chdir(HERE)
    os.execv(python, [python, "-m", "unittest", "-v", *sys.argv[2:]])


if __name__ == "__main__":
    sys.exit(main())
