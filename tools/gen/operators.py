#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of operations in docs/operators.md from src/ops/op_list.inc and the claim rules beside it.

usage: operators.py [--root FOLDER] [--check]

Each row of op_list.inc is a row of the table. Its texts stand as comments above the support rules in src/ops/*.cc:

    // Claims ADD, SUB: broadcasting up to rank 6; one operand
    // may be constant
    // On the NPU ADD: equal shapes

"Claims" says what the operation may look like, "On the NPU" which part runs there; rows without a lowering need no second
text. A comment ends at the next line that is no comment, or at an empty comment line. --check compares instead of writing: exit
1 and the command to run if the table is not current.
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEAD = "| operation | NPU | what it may look like |"
ROW = re.compile(r'^NPU_OP\("([A-Z0-9_]+)",\s*(\w+),\s*([\w:]+),', re.M)
START = re.compile(r"^(Claims|On the NPU) ([A-Z0-9_]+(?:, [A-Z0-9_]+)*): (.*)$")


class Stale(Exception):
    """The sources do not make a table."""


def texts(folder):
    """{(kind, operation): text} of every rule."""
    found = {}
    for path in sorted(folder.glob("*.cc")):
        current = []
        for line in path.read_text(encoding="utf-8").splitlines():
            comment = line[2:].strip() if line.startswith("//") else ""
            start = START.match(comment)
            if start:
                current = [(start[1], name) for name in start[2].split(", ")]
                for key in current:
                    if key in found:
                        raise Stale(f"{path.name}: {key[1]} has two texts '{key[0]}'")
                    found[key] = start[3]
            elif comment:
                for key in current:
                    found[key] += " " + comment
            else:
                current = []
    return found


def table(root):
    rows = ROW.findall((root / "src" / "ops" / "op_list.inc").read_text(encoding="utf-8"))
    found = texts(root / "src" / "ops")
    lines = [HEAD, "|---|---|---|"]
    for name, _, lower in rows:
        claims = found.pop(("Claims", name), None)
        npu = found.pop(("On the NPU", name), None)
        if claims is None:
            raise Stale(f"src/ops: no comment '// Claims {name}: ...' beside the support rule of {name}")
        if (npu is None) != (lower == "nullptr"):
            raise Stale(f"src/ops: '// On the NPU {name}: ...' and the lowering in op_list.inc do not agree")
        lines.append(f"| {name} | {npu or 'no'} | {claims} |")
    if found:
        raise Stale(f"src/ops: texts without a row: {sorted(name for _, name in found)}")
    return "\n".join(lines) + "\n"


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args(argv)
    path = args.root / "docs" / "operators.md"
    try:
        document = path.read_text(encoding="utf-8")
        # The table: the head line and all that follow it without a break.
        parts = re.split(rf"^{re.escape(HEAD)}\n(?:\|.*\n)*", document, flags=re.M)
        if len(parts) != 2:
            raise Stale(f"{path}: the line '{HEAD}' stands {len(parts) - 1} times, once expected")
        current = parts[0] + table(args.root) + parts[1]
    except (OSError, Stale) as error:
        print(error, file=sys.stderr)
        return 1
    if current == document:
        return 0
    if args.check:
        print(f"{path} is not current; run: python3 tools/gen/operators.py", file=sys.stderr)
        return 1
    path.write_text(current, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
