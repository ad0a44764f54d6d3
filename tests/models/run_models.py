#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every int8 and uint8 single-operator model of the model set through the delegate.

usage: run_models.py [--option KEY=VALUE]... [--requant exact,chip] [--only PATTERN] [--json FILE]

Each model runs with claim=all on the given device (default: --option device=sim; for the kernel's interface:
LD_PRELOAD=.../librocket_node.so run_models.py --option device=rocket) and is compared with the stored outputs of TensorFlow
Lite's reference kernels: exact must be equal; chip must stay within the bound the delegate states for the node (0 on the host,
at most one count on the NPU). Prints totals for each operation, one line for each declined model with the reason, one for each
failure. Exit: 0 when every claimed model passed, 1 when one failed, 2 when it cannot run.
"""

import argparse
import collections
import fnmatch
import json
import os
import pathlib
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BYTES = ("int8", "uint8")
LIBRARY = os.environ.get("NPU_DELEGATE") or str(ROOT / "build" / "release" / "lib" / "libtflite_rocket.so")
MODELS = pathlib.Path(os.environ.get("NPU_SHARED_DIR") or ROOT.parent / "shared") / "models" / "tflite"


def all_cases(models=MODELS):
    """The index's entries that have an int8 or uint8 input or output."""
    with open(models / "ops" / "index.json", encoding="utf-8") as file:
        cases = json.load(file)["cases"]
    return [c for c in cases if c["inputs"][0]["type"] in BYTES or c["outputs"][0]["type"] in BYTES]


def kind_of(case):
    """int8 or uint8: the type of the operation, of a conversion the byte side."""
    first = case["inputs"][0]["type"]
    return first if first in BYTES else case["outputs"][0]["type"]


def _arrays(folder, name, kind):
    import numpy as np
    return [np.load(path) for path in sorted(folder.glob(f"{name}.{kind}*.npy"))]


def _counts_apart(got, expected):
    """The largest difference; None when shapes or types differ."""
    import numpy as np
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return None
    wide = np.float64 if got.dtype.kind == "f" else np.int64
    return max(0, *np.abs(got.astype(wide) - expected.astype(wide)).ravel().tolist()) if got.size else 0


def _invoke(litert, library, path, options, inputs, resolver):
    """(explain file, outputs or None when the node was declined)."""
    with tempfile.TemporaryDirectory(prefix="npu_models_") as folder:
        explain = os.path.join(folder, "explain.json")
        delegate = litert.load_delegate(library, {**options, "explain": explain})
        interpreter = litert.Interpreter(str(path), experimental_delegates=[delegate], num_threads=1,
                                         experimental_op_resolver_type=resolver)
        interpreter.allocate_tensors()
        outputs = None
        with open(explain, encoding="utf-8") as file:
            claimed = json.load(file)["nodes"][0]["claimed"]
        if claimed:
            for detail, value in zip(interpreter.get_input_details(), inputs, strict=True):
                interpreter.set_tensor(detail["index"], value)
            interpreter.invoke()
            outputs = [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]
        del interpreter, delegate  # completes the explain file
        with open(explain, encoding="utf-8") as file:
            return json.load(file), outputs


def _judge(result, node, run, outputs, expected):
    """Fills in whether the outputs are what they must be."""
    apart = [_counts_apart(g, e) for g, e in zip(outputs, expected, strict=True)]
    result["route"], result["bound"] = node["route"], node["bound_counts"]
    if None in apart:
        return {**result, "outcome": "failed", "text": "an output has another shape or type"}
    result["counts"] = max(apart)
    if run["verify_mismatches"] or run["device_failures"] or run["host_runs"]:
        return {**result, "outcome": "failed", "text": f"the device failed: {run}"}
    if result["counts"] > node["bound_counts"]:
        return {**result, "outcome": "failed",
                "text": f"{result['counts']} from the reference, at most {node['bound_counts']} allowed"}
    return {**result, "outcome": "passed"}


def _interpreter_module():
    """The stock interpreter of this Python environment; the older host has one of its own."""
    try:
        import ai_edge_litert.interpreter as litert
    except ModuleNotFoundError:
        import tflite_runtime.interpreter as litert
    return litert


def run_case(case, options, library=LIBRARY, models=MODELS):
    """One model once; `options` are the delegate's. A dict of name, op, type, outcome and particulars."""
    litert = _interpreter_module()
    folder = models / "ops"
    result = {"name": case["name"], "op": case["op"], "type": kind_of(case)}
    # BUILTIN_REF lacks some operations; the index says so by naming the kernels of the stored outputs.
    resolvers = litert.OpResolverType
    resolver = resolvers.BUILTIN_WITHOUT_DEFAULT_DELEGATES if case.get("kernels") else resolvers.BUILTIN_REF
    try:
        explain, outputs = _invoke(litert, library, folder / f"{case['name']}.tflite", options,
                                   _arrays(folder, case["name"], "in"), resolver)
    except (RuntimeError, ValueError, OSError) as error:
        return {**result, "outcome": "failed", "text": str(error).strip()}
    node = explain["nodes"][0]
    if outputs is None:
        return {**result, "outcome": "declined", "reason": node["reason"], "text": node["text"]}
    return _judge(result, node, explain["run"], outputs, _arrays(folder, case["name"], "out"))


def run_all(cases, options, requant, **where):
    options = {"claim": "all", "quiet": "1", **options, "numerics.requant": requant}
    return [{**run_case(case, options, **where), "requant": requant} for case in cases]


def tally(results):
    outcomes = collections.Counter(r["outcome"] for r in results)
    return {"total": len(results), **{o: outcomes[o] for o in ("passed", "failed", "declined")}}


def text_of(results, requant):
    """The report of one setting."""
    total = tally(results)
    lines = [f"{requant}: {total['passed']} of {total['total']} passed, {total['failed']} failed, "
             f"{total['declined']} declined"]
    groups = collections.defaultdict(list)
    for r in results:
        groups[r["op"]].append(r)
    for op, rows in sorted(groups.items()):
        counts = [f"{kind} {sum(r['outcome'] == 'passed' for r in of)}/{len(of)}"
                  for kind in BYTES if (of := [r for r in rows if r["type"] == kind])]
        routes = " ".join(sorted({r["route"] for r in rows if "route" in r}))
        apart = max((r.get("counts", 0) for r in rows), default=0)
        lines.append(f"  {op:24} {'  '.join(counts):24} {routes}" + (f", at most {apart} apart" if apart else ""))
    for outcome in ("declined", "failed"):
        for r in results:
            if r["outcome"] == outcome:
                reason = f"{r['reason']}: " if "reason" in r else ""
                lines.append(f"  {outcome} {r['name']}: {reason}{r['text']}")
    return "\n".join(lines)


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--option", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--requant", default="exact,chip")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="names of models, as a shell pattern")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--library", default=LIBRARY)
    parser.add_argument("--models", type=pathlib.Path, default=MODELS, metavar="FOLDER")
    args = parser.parse_args(argv)
    for option in args.option:
        if "=" not in option:
            parser.error(f"--option {option}: KEY=VALUE expected")
    return args


def main(argv=None):
    args = parse(argv)
    options = {"device": "sim", **dict(option.split("=", 1) for option in args.option)}
    try:
        cases = [c for c in all_cases(args.models) if fnmatch.fnmatch(c["name"], args.only)]
    except OSError as error:
        print(f"no model set: {error}", file=sys.stderr)
        return 2
    report = {"library": args.library, "options": options, "settings": {}}
    failed = 0
    for requant in args.requant.split(","):
        start = time.monotonic()
        results = run_all(cases, options, requant, library=args.library, models=args.models)
        print(text_of(results, requant))
        print(f"  {time.monotonic() - start:.1f} s", flush=True)
        report["settings"][requant] = {**tally(results), "models": results}
        failed += tally(results)["failed"]
    if args.json:
        args.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
