# SPDX-License-Identifier: Apache-2.0
"""The files of a tree and, roughly, the structure of their C++: enough for rules and figures, not a compiler."""
import ast
import dataclasses
import pathlib
import re
import subprocess

CODE_SUFFIXES = {".cc", ".h", ".inc", ".py", ".sh", ".cmake"}
CXX_SUFFIXES = {".cc", ".h", ".inc"}


@dataclasses.dataclass
class Function:
    """A function's place; `name` is as far as it could be read."""

    path: str
    name: str
    first: int
    last: int

    @property
    def lines(self):
        return self.last - self.first + 1


def blank_out(text, keep_strings=False):
    """C++ source with comments (and the insides of literals) replaced by blanks, same length and line breaks."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)

    def replace(match):
        piece = match.group(0)
        if piece[0] in "\"R'":
            if keep_strings or (piece[0] == "'" and match.start() and text[match.start() - 1].isalnum()):
                return piece
            return piece[0] + re.sub(r"[^\n]", "_", piece[1:-1]) + piece[-1]
        return re.sub(r"[^\n]", " ", piece)

    return pattern.sub(replace, text)


def is_shell(path, text):
    return path.suffix == ".sh" or (not path.suffix and re.match(r"#!.*\bbash", text) is not None)


def is_python(path, text):
    return path.suffix == ".py" or (not path.suffix and re.match(r"#!.*\bpython", text) is not None)


class Tree:
    """The files of a tree, by path relative to its root."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        listing = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others",
                                  "--exclude-standard"], capture_output=True, check=False)
        if listing.returncode == 0:
            names = [n for n in listing.stdout.decode().split("\0") if n]
        else:
            names = [str(p.relative_to(root)) for p in self.root.rglob("*") if p.is_file()]
        self.names = sorted(n for n in set(names) if (self.root / n).is_file())
        self.text = {}
        for name in self.names:
            data = (self.root / name).read_bytes()
            if b"\0" not in data:
                try:
                    self.text[pathlib.PurePosixPath(name)] = data.decode()
                except UnicodeDecodeError:
                    pass
        self.code = {p: t for p, t in self.text.items()
                     if p.suffix in CODE_SUFFIXES or p.name in ("CMakeLists.txt", "Makefile")
                     or is_shell(p, t) or is_python(p, t)}
        self.cxx = {p: t for p, t in self.code.items() if p.suffix in CXX_SUFFIXES}
        self.blanked = {p: blank_out(t) for p, t in self.cxx.items()}


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


@dataclasses.dataclass
class Scope:
    """An open brace: "namespace", "class", "enum", "function", "block" or "init"."""

    kind: str
    name: str = ""
    first: int = 0


def classify(statement, outer):
    """What the brace after `statement` opens inside the scope kind `outer`."""
    if outer in ("function", "block", "init", "enum"):
        return "block" if outer != "init" else "init"
    head = re.sub(r"\btemplate\s*<[^{};]*?>\s*(?=\w|\[)", "", statement).strip()
    if re.search(r'\bnamespace\b[^()]*$|^extern\s*"[^"]*"$', head):
        return "namespace"
    if re.match(r"(typedef\s+)?enum\b", head):
        return "enum"
    if re.match(r"(typedef\s+)?(class|struct|union)\b", head) and not re.search(r"\)\s*(const\s*)?$", head):
        return "class"
    depth_free = re.sub(r"\([^()]*\)", "()", re.sub(r"\([^()]*\)", "", head))
    if re.search(r"(?<![=!<>])=(?!=)", depth_free) and "operator" not in depth_free:
        return "init"
    if "(" not in head:
        return "init"
    if re.search(r"\)\s*(noexcept\s*)?:[^:]", depth_free.replace("()", ")")) and re.search(r"[\w>]$", head):
        return "init"  # a member initializer in braces: the body comes later
    return "function"


def scan(text):
    """Yields ("open"|"close"|"end", scope, statement, offset) over blanked C++ text without preprocessor lines."""
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.M)
    stack = [Scope("namespace")]
    start, parentheses = 0, 0
    for match in re.finditer(r"[{}();]", text):
        character, at = match.group(0), match.start()
        if character in "()":
            parentheses = max(0, parentheses + (1 if character == "(" else -1))
            continue
        if parentheses and stack[-1].kind in ("namespace", "class") and character != "}":
            if character == "{":
                stack.append(Scope("init-nested"))
            continue
        statement = text[start:at]
        if character == "{":
            kind = classify(statement.strip(), stack[-1].kind) if stack[-1].kind != "init-nested" else "init-nested"
            first = line_of(text, start + len(statement) - len(statement.lstrip()))
            scope = Scope(kind, statement.strip(), first)
            yield "open", stack, scope, statement, at
            stack.append(scope)
            start = at + 1 if kind != "init" else start
        elif character == "}":
            scope = stack.pop() if len(stack) > 1 else stack[0]
            yield "close", stack, scope, statement, at
            if scope.kind not in ("init", "init-nested"):
                start = at + 1
        else:
            yield "end", stack, None, statement, at
            start = at + 1


def cxx_functions(path, text):
    """The functions defined in blanked C++ text."""
    for event, _, scope, _, at in scan(text):
        if event == "close" and scope.kind == "function":
            head = re.sub(r"\s+", " ", scope.name)
            name = re.search(r"([\w:~]+|operator\S+)\s*\(([^()]*)", re.sub(r"^(\[\[\w+\]\]\s*)+", "", head))
            label = name.group(1) if name else "?"
            if name and re.match(r"(TYPED_)?TEST(_[FP])?$", label):
                label = ".".join(p.strip() for p in name.group(2).split(","))
            yield Function(str(path), label, scope.first, line_of(text, at))


def python_functions(path, text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield Function(str(path), node.name, node.lineno, node.end_lineno)


def functions(tree):
    found = []
    for path, text in tree.blanked.items():
        found += cxx_functions(path, text)
    for path, text in tree.code.items():
        if is_python(path, text):
            found += python_functions(path, text)
    return found
