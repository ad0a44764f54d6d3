# SPDX-License-Identifier: Apache-2.0
"""The rules of the tree, one function each; each yields Findings."""
import collections
import dataclasses
import pathlib
import re

from tree_checks.source import blank_out, line_of, scan

HARD_FILE, HARD_FUNCTION = 600, 80

# What each folder of src/ may include (architecture section 3, docs/decisions/0001). "gen" stands for the
# generated register headers, "npu" for include/npu.
LOW = {"base", "npu"}
HARDWARE = LOW | {"layout", "regs", "chip", "arith", "cost", "gen"}
INCLUDES = {
    "npu": {"npu"},
    "base": LOW,
    "arith": LOW,
    "regs": LOW | {"gen"},
    "chip": LOW | {"regs", "gen"},
    "layout": LOW | {"chip"},
    "cost": LOW | {"chip"},
    "encode": HARDWARE,
    "sim": LOW | {"regs", "chip", "arith", "cost", "gen"},
    "uapi": LOW,
    "doctor": LOW | {"uapi"},
    "kmodel": LOW | {"uapi", "sim", "regs", "chip", "cost", "gen"},
    "shim": LOW | {"uapi", "kmodel", "sim", "chip"},
    "device": LOW | {"uapi", "regs", "chip", "cost", "gen"},
    "ir": LOW,
    "host": LOW | {"ir", "layout", "arith", "chip"},
    "ops": HARDWARE - {"gen"} | {"ir", "host", "encode"},
    "plan": HARDWARE - {"gen"} | {"ir", "host", "encode", "ops"},
    "runtime": HARDWARE - {"gen"} | {"ir", "host", "encode", "ops", "plan", "device"},
    "selftest": LOW | {"uapi", "chip", "regs", "layout", "encode", "device", "gen"},
    "frontends": LOW | {"ir", "ops", "plan", "runtime", "device", "chip", "cost"},
}
# The oracle is a second opinion: it may not share a line with what it judges.
ORACLE_FORBIDDEN = {"arith", "layout", "sim", "encode"}


@dataclasses.dataclass(frozen=True, order=True)
class Finding:
    """One broken rule: where, and what is wrong."""

    rule: str
    path: str
    line: int
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.rule}: {self.text}"


def layer_of(path):
    """The row of INCLUDES a path belongs to, or None."""
    parts = path.parts
    if parts[:2] == ("include", "npu"):
        return "npu"
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    return None


def check_includes(tree):
    for path, text in tree.cxx.items():
        for number, line in enumerate(text.splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+(["<])([^">]+)[">]', line)
            if not match:
                continue
            target = match.group(2)
            if match.group(1) == "<":
                if path.suffix == ".h" and path.parts[0] in ("src", "include") and re.match(
                        r"(fmt|nlohmann|CLI|regex$)", target):
                    yield Finding("include", str(path), number, f"<{target}> in a header; include it in a .cc file")
                continue
            if target.startswith("hwy/"):
                continue
            if ".." in target or "/" not in target:
                yield Finding("include", str(path), number, f'"{target}": include by path from the root')
                continue
            parts = pathlib.PurePosixPath(target).parts
            to = parts[1] if parts[0] == "src" and len(parts) > 2 else parts[0]
            to = "base" if target == "gen/version.h" else to
            if path.parts[:2] == ("tests", "oracle") and to in ORACLE_FORBIDDEN:
                yield Finding("include", str(path), number, f"the oracle must not include {to}")
            layer = layer_of(path)
            if layer is None or to == layer:
                continue
            allowed = INCLUDES.get(layer)
            if allowed is None:
                yield Finding("include", str(path), number, f"folder {layer} has no row in the include table")
            elif to not in allowed and not (to == "sim" and layer == "device" and path.name.startswith("sim_")):
                yield Finding("include", str(path), number, f"{layer} must not include {to}")


def check_sizes(tree, found):
    for path, text in tree.code.items():
        lines = text.count("\n") + (not text.endswith("\n") and bool(text))
        if lines > HARD_FILE:
            yield Finding("file-size", str(path), 1, f"{lines} lines, the limit is {HARD_FILE}")
    for function in found:
        if function.lines > HARD_FUNCTION:
            yield Finding("function-size", function.path, function.first,
                          f"{function.name} has {function.lines} lines, the limit is {HARD_FUNCTION}")


def product(tree):
    """Blanked C++ of what ships: include/, src/ and apps/."""
    return ((p, t) for p, t in tree.blanked.items() if p.parts[0] in ("include", "src", "apps"))


def check_environment(tree):
    for path, text in product(tree):
        # The shim is a program of its own inside somebody else's process: it has one file for this.
        if path.parts[:3] == ("src", "frontends", "common") or str(path) == "src/shim/environment.cc":
            continue
        for match in re.finditer(r"\b(secure_getenv|getenv|putenv|setenv|environ)\b", text):
            yield Finding("environment", str(path), line_of(text, match.start()),
                          f"{match.group(1)} outside src/frontends/common")


NOT_A_VARIABLE = re.compile(
    r"^(using|typedef|template|friend|class|struct|union|enum|extern|static_assert|namespace|return|public|private"
    r"|protected|constexpr|consteval|constinit\s+const|concept|NPU_\w+|asm|goto|break|continue|default)\b|^$|^\[\[")


def is_mutable_variable(declaration, local):
    """Whether `declaration` (static and thread_local taken off) declares a variable that can change."""
    head = re.split(r"(?<![=!<>])=(?!=)", declaration, maxsplit=1)[0].strip()
    if re.match(r"(inline\s+)?(static\s+)?(constexpr|constinit const)\b", head) or "operator" in head:
        return False
    if "(" in head and not local:
        return False
    if re.search(r"\*\s*$|\*(?!\s*const)[^*]*$", head):
        return True
    return not re.search(r"\bconst(expr)?\b", head)


def check_mutable_statics(tree):
    for path, text in product(tree):
        for event, stack, scope, statement, at in scan(text):
            if event == "close" or (event == "open" and scope.kind != "init"):
                continue
            clean = " ".join(statement.split())
            clean = re.sub(r"^((public|private|protected)\s*:\s*)+", "", clean)
            where = stack[-1].kind
            local = where in ("function", "block")
            static = re.match(r"((inline|static|thread_local)\s+)+", clean)
            has_static = bool(static and re.search(r"static|thread_local", static.group(0)))
            if where not in ("namespace",) and not has_static:
                continue
            body = clean[static.end():] if static else clean
            if NOT_A_VARIABLE.match(body) or NOT_A_VARIABLE.match(clean):
                continue
            if where == "namespace" and not re.match(r"[\w:<>,&*\s\[\]]+?[\s*&>]\w+(\s*\[[^\]]*\])*\s*(=|$)", body):
                continue
            if is_mutable_variable(body, local):
                yield Finding("mutable-static", str(path), line_of(text, at), body[:80])


def check_hex(tree):
    for path, text in tree.blanked.items():
        if path.parts[:2] != ("src", "encode"):
            continue
        for match in re.finditer(r"\b0[xX][0-9a-fA-F']+", text):
            if int(match.group(0).replace("'", ""), 16) > 0xFFF:
                yield Finding("hex-literal", str(path), line_of(text, match.start()),
                              f"{match.group(0)}: registers and words come from generated types")


def check_chip_names(tree):
    name = r'("rk3\d{3}\w*"|(?:\w+::)*kRk3\d{3}\w*)'
    pattern = re.compile(rf"[=!]=\s*{name}|{name}\s*[=!]=|\bcase\s+{name}|str\w*cmp\([^;]*{name}", re.I)
    for path, text in tree.cxx.items():
        if path.parts[0] not in ("src", "apps", "include") or path.parts[:2] == ("src", "chip"):
            continue
        text = blank_out(text, keep_strings=True)
        for match in pattern.finditer(text):
            yield Finding("chip-name", str(path), line_of(text, match.start()),
                          f"{match.group(0).strip()}: ask the chip profile for a capability instead")


def has_comment_above(lines, number):
    """Whether the declaration that starts at line `number` has a comment above, or above its unbroken group."""
    if "//" in lines[number - 1]:
        return True
    for index in range(number - 2, -1, -1):
        line = lines[index].strip()
        if "SPDX-License-Identifier" in line:
            return False
        if line.startswith(("//", "/*", "*")) or "//" in line or line.endswith("*/"):
            return True
        if not line or line.startswith("namespace"):
            return False
    return False


def check_header_comments(tree):
    """Functions and classes of headers need a comment above; plain structs and enums speak for themselves.

    The comment at the head of a file may stand for the only class in it.
    """
    for path, text in tree.blanked.items():
        if path.suffix != ".h" or path.parts[0] not in ("include", "src"):
            continue
        lines = tree.cxx[path].splitlines()
        headed = len(lines) > 1 and lines[1].startswith("//") and len(re.findall(r"(?m)^class [^;]*\{", text)) == 1
        for event, stack, scope, statement, at in scan(text):
            clean = re.sub(r"^template\s*<.*?>\s*(?=[\w\[])", "", " ".join(statement.split()))
            if event == "close" or stack[-1].kind != "namespace":
                continue
            is_class = event == "open" and scope.kind == "class" and clean.startswith("class") and not headed
            is_function = re.match(r"[^=]*\(", clean) and (event == "end" or scope.kind == "function")
            if not is_class and (not is_function or re.match(
                    r"(using|typedef|friend|static_assert|extern|namespace|class|struct|enum)\b|.*\boperator\b", clean)):
                continue
            first = line_of(text, at - len(statement.lstrip()))
            if not has_comment_above(lines, first):
                yield Finding("header-comment", str(path), first, f"no comment: {clean[:70]}")


def check_op_list(tree):
    path = pathlib.PurePosixPath("src/ops/op_list.inc")
    if path not in tree.text:
        return
    tests = "\n".join(t for p, t in tree.text.items() if p.parts[:3] == ("tests", "unit", "ops"))
    documents = tree.text.get(pathlib.PurePosixPath("docs/operators.md"), "")
    for match in re.finditer(r'^\s*NPU_\w+\((.*)\)', blank_out(tree.text[path], keep_strings=True), re.M):
        name = re.search(r'"(\w+)"', match.group(1))
        names = [name.group(1)] if name else re.findall(r"\b[A-Z][A-Z0-9_]+\b", match.group(1))[:1]
        for operation in names or [match.group(1).split(",")[0].strip()]:
            line = line_of(tree.text[path], match.start(1))
            short = operation.replace("_", "").lower()
            if short not in tests.replace("_", "").lower():
                yield Finding("op-list", str(path), line, f"{operation} has no test in tests/unit/ops")
            if not re.search(rf"^\|\s*`?{operation}`?\s*\|", documents, re.M):
                yield Finding("op-list", str(path), line, f"{operation} has no row in docs/operators.md")


def check_golden(tree):
    folders = collections.defaultdict(set)
    for name in tree.names:
        path = pathlib.PurePosixPath(name)
        if path.parts[:2] == ("tests", "golden") and path.suffix not in (".cc", ".h", ".md", ".txt", ".py"):
            folders[path.parent].add(path.name)
    for folder, names in folders.items():
        sidecars = [n for n in names if n.endswith(".json")]
        for name in sorted(names - set(sidecars)):
            if not sidecars:
                yield Finding("golden", f"{folder}/{name}", 1, "no JSON sidecar beside it")


MARKER = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK")) + r")\b(?!\(#\d+\))")
MACHINE_PATH = re.compile("(?<![\\w.~])/(" + "|".join(("wo" + "rk", "fa" + "rm", "tmp/" + "ref")) + ")/")


def check_text(tree):
    for path, text in tree.text.items():
        if path.suffix == ".json":
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if path in tree.code and (match := MARKER.search(line)):
                yield Finding("marker", str(path), number, f"{match.group(1)} without an issue number, as in (#12)")
            if MACHINE_PATH.search(line):
                yield Finding("machine-path", str(path), number, line.strip()[:80])


def check_licence_lines(tree):
    for path, text in tree.code.items():
        lines = text.splitlines()[:2]
        if text.strip() and not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines):
            yield Finding("licence-line", str(path), 1, "the first line must be the SPDX line")


def all_findings(tree, found):
    for rule in (check_includes, check_environment, check_mutable_statics, check_hex, check_chip_names,
                 check_header_comments, check_op_list, check_golden, check_text, check_licence_lines):
        yield from rule(tree)
    yield from check_sizes(tree, found)
