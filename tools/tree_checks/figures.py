# SPDX-License-Identifier: Apache-2.0
"""The figures of the tree: sizes, duplication, comment share, and how they differ from another commit."""
import collections
import io
import re
import subprocess
import tarfile
import tempfile

from tree_checks.rules import HARD_FILE, HARD_FUNCTION
from tree_checks.source import CXX_SUFFIXES, Tree, blank_out, functions

SOFT_FILE, SOFT_FUNCTION = 300, 40
DUPLICATE_LINES, DUPLICATE_CHARACTERS = 6, 80


def split_lines(path, text):
    """(code lines as (number, normalised text), number of lines that hold a comment)."""
    comment_free = blank_out(text, keep_strings=True) if path.suffix in CXX_SUFFIXES else re.sub(
        r"(?m)^\s*#.*$", "", text)
    code, comments = [], 0
    for number, (line, bare) in enumerate(zip(text.splitlines(), comment_free.splitlines()), 1):
        if bare.strip():
            code.append((number, " ".join(bare.split())))
        comments += line.rstrip() != bare.rstrip()
    return code, comments


class Duplication:
    """Runs of DUPLICATE_LINES equal code lines among files given as {path: code lines}."""

    def __init__(self, files):
        seen = collections.defaultdict(list)
        for path, code in files.items():
            for at in range(len(code) - DUPLICATE_LINES + 1):
                run = "\n".join(line for _, line in code[at:at + DUPLICATE_LINES])
                if len(run) >= DUPLICATE_CHARACTERS:
                    seen[run].append((path, at))
        self.files = files
        self.marked = collections.defaultdict(set)
        self.partners = collections.defaultdict(set)
        for where in (w for w in seen.values() if len(w) > 1):
            for path, at in where:
                self.marked[path].update(range(at, at + DUPLICATE_LINES))
                self.partners[path].update(p for p, _ in where if p != path)
        self.copied = sum(len(lines) for lines in self.marked.values())
        self.total = sum(len(code) for code in files.values())

    @property
    def share(self):
        return 100 * self.copied / max(1, self.total)

    def print_places(self, limit=12):
        for path in sorted(self.marked, key=lambda p: -len(self.marked[p]))[:limit]:
            first = self.files[path][min(self.marked[path])][0]
            others = ", ".join(sorted(self.partners[path])[:3])
            print(f"  {path}: {len(self.marked[path])} lines from line {first}, "
                  f"{'shared with ' + others if others else 'within itself'}")


def group_of(path):
    parts = path.parts
    if parts[0] == "src" and len(parts) > 2:
        return f"src/{parts[1]}"
    return parts[0] if len(parts) > 1 else "(root)"


class Figures:
    """What print_all prints, computed from a tree."""

    def __init__(self, tree):
        self.groups = collections.defaultdict(lambda: [0, 0, 0])
        sets = {"product": {}, "tests": {}}
        for path, text in tree.code.items():
            code, comments = split_lines(path, text)
            row = self.groups[group_of(path)]
            row[0] += 1
            row[1] += len(code)
            row[2] += comments
            sets["tests" if path.parts[0] in ("tests", "bench") else "product"][str(path)] = code
        self.files = len(tree.code)
        product = [self.groups[g] for g in self.groups if g.startswith(("src/", "include", "apps"))]
        commented = sum(row[2] for row in product)
        self.comment_share = 100 * commented / max(1, commented + sum(row[1] for row in product))
        self.code = sum(row[1] for row in self.groups.values())
        self.comments = sum(row[2] for row in self.groups.values())
        self.sizes = sorted(((t.count("\n"), str(p)) for p, t in tree.code.items()), reverse=True)
        self.functions = sorted(functions(tree), key=lambda f: -f.lines)
        self.duplication = {name: Duplication(files) for name, files in sets.items()}

    def summary(self):
        """The numbers that can be compared between commits."""
        numbers = {
            "files": self.files, "code lines": self.code, "comment lines": self.comments,
            f"files over {SOFT_FILE} lines": sum(n > SOFT_FILE for n, _ in self.sizes),
            f"files over {HARD_FILE} lines": sum(n > HARD_FILE for n, _ in self.sizes),
            "functions": len(self.functions),
            f"functions over {SOFT_FUNCTION} lines": sum(f.lines > SOFT_FUNCTION for f in self.functions),
            f"functions over {HARD_FUNCTION} lines": sum(f.lines > HARD_FUNCTION for f in self.functions),
        }
        for name, found in self.duplication.items():
            numbers[f"duplicated lines of {name}"] = found.copied
        return numbers


def figures_of_commit(root, commit):
    """The Figures of a commit of the repository at `root`."""
    archive = subprocess.run(["git", "-C", str(root), "archive", commit], capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(folder)
        return Figures(Tree(folder))


def print_all(figures, base, verbose):
    """Prints the table by folder and the summary, beside `base` when that is not None."""
    print(f"{'folder':<18}{'files':>6}{'code':>8}{'comment':>9}")
    for name in sorted(figures.groups):
        files, code, comments = figures.groups[name]
        print(f"{name:<18}{files:>6}{code:>8}{comments:>9}")
    before = base.summary() if base else {}
    for name, value in figures.summary().items():
        print(f"{name:<30}{value:>8}{f'{value - before[name]:>+8}' if base else ''}")
    print(f"comment share of the product {figures.comment_share:.1f} %, " + ", ".join(
        f"duplication of {name} {found.share:.1f} %" for name, found in figures.duplication.items()))
    if verbose:
        for found in figures.duplication.values():
            found.print_places()
        for size, path in figures.sizes:
            if size > SOFT_FILE:
                print(f"  {path}: {size} lines")
        for function in figures.functions:
            if function.lines > SOFT_FUNCTION:
                print(f"  {function.path}:{function.first}: {function.name}: {function.lines} lines")
