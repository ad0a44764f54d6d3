# SPDX-License-Identifier: Apache-2.0
"""The command line: compare, run and detect. Exit codes: 0 fine, 1 beyond a bound, 2 error."""

import argparse
import json
import os
import statistics
import sys

import numpy as np

from rocket_npu import UserError, __version__, compare, detect_command, host, inputs, library

# Far beyond any use; the interpreter and the memory would fail with words of their own.
_MAX_THREADS, _MAX_SAMPLES = 1024, 100000
_EPILOG = """examples:
  python -m rocket_npu run model.tflite --input photo.jpg --option device=sim
  python -m rocket_npu compare model.tflite --random 3 --option device=sim --layers
  python -m rocket_npu detect detector.tflite photo.jpg --option device=sim --draw out.jpg

The options of the delegate are in docs/options.md, the JSON report in python/README.md.
Exit codes: 0 fine, 1 beyond a bound, 2 error."""


class _Parser(argparse.ArgumentParser):
    """Reports a wrong command line in one line."""

    def error(self, message):
        self.exit(2, f"{self.prog}: error: {message}\n")


def _add_common(parser):
    parser.add_argument("model", metavar="MODEL", help="a .tflite file")
    source = parser.add_argument_group("inputs", "one of --input and --random is needed")
    source.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="FILE",
        help="picture, .npz (pictures, or tensors by input name) or .npy (one for each input); "
        "repeatable",
    )
    source.add_argument("--random", type=int, metavar="N", help="N random samples")
    source.add_argument(
        "--seed", type=int, default=1, metavar="N", help="seed of --random (default 1)"
    )
    source.add_argument("--sample", metavar="KEY", help="the one sample of an .npz to use")
    source.add_argument(
        "--preprocess",
        default="auto",
        metavar="RULE",
        help="bytes to tensor: u8, i8 (byte - 128), f:MEAN,STD (default: by the input's type)",
    )
    _add_delegate(parser)


def _add_delegate(parser):
    delegate = parser.add_argument_group("delegate")
    delegate.add_argument(
        "--delegate",
        metavar="PATH",
        help="the library; `none` for the stock interpreter with XNNPACK (default: "
        "$ROCKET_NPU_LIBRARY, build/*/lib, /usr/local/lib, /usr/lib)",
    )
    delegate.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an option of the delegate, e.g. device=sim (repeatable)",
    )
    parser.add_argument(
        "--threads",
        type=int,
        default=1,
        metavar="N",
        help="threads of the interpreter's own kernels (default 1)",
    )
    parser.add_argument("--json", metavar="OUT", help="write the report here (`-`: stdout)")


def build_parser():
    parser = _Parser(
        prog="rocket_npu",
        description="Runs a .tflite model in the stock interpreter with the rocket-npu delegate.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"rocket_npu {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    check = commands.add_parser("compare", help="run with and without the delegate and compare")
    _add_common(check)
    check.add_argument(
        "--reference",
        choices=tuple(host.RESOLVERS),
        default="ref",
        help="kernels to compare with: reference (default), optimised, or optimised with XNNPACK",
    )
    check.add_argument(
        "--layers",
        action="store_true",
        help="also compare each layer alone, on the first sample, with its bound",
    )
    check.add_argument(
        "--cut-postprocess",
        action="store_true",
        help="compare the tensors that enter TFLite_Detection_PostProcess instead of its lists, "
        "whose order one count can change",
    )
    check.add_argument(
        "--max-diff",
        type=float,
        metavar="N",
        help="exit 1 if an output differs by more (counts, or real units for float outputs)",
    )
    run = commands.add_parser("run", help="run, time, and save the outputs")
    _add_common(run)
    run.add_argument(
        "--resolver",
        choices=tuple(host.RESOLVERS),
        default="default",
        help="kernels of the nodes left to the host: reference, optimised, or optimised with "
        "XNNPACK (default)",
    )
    run.add_argument(
        "--iterations", type=int, default=1, metavar="N", help="timed runs a sample (default 1)"
    )
    run.add_argument("--save", metavar="OUT.npz", help="save each sample's outputs")
    detect_command.add_parser(commands, _add_delegate)
    return parser


def main(arguments):
    """Runs a command line; returns the exit code."""
    options = build_parser().parse_args(arguments)
    try:
        if not 1 <= options.threads <= _MAX_THREADS:
            raise UserError(f"--threads must be 1 or more, at most {_MAX_THREADS}")
        return _COMMANDS[options.command](options)
    except UserError as error:
        _progress()("")
        print(f"rocket_npu: error: {error}", file=sys.stderr)
        return 2


def _sampler(options):
    """The function that makes samples for a model's inputs."""
    if options.random is not None and options.input:
        raise UserError("--input and --random exclude each other")
    if options.random is not None and not 1 <= options.random <= _MAX_SAMPLES:
        raise UserError(f"--random needs a count of 1 or more, at most {_MAX_SAMPLES}")
    if options.seed < 0:
        raise UserError("--seed must not be negative")
    if options.random is not None:
        return lambda details: inputs.random_samples(options.random, options.seed, details)
    if not options.input:
        raise UserError("no input: give --input FILE or --random N")
    return lambda details: inputs.load_samples(
        options.input, details, options.preprocess, options.sample
    )


def _keys(options):
    """The delegate's options; the module always asks for an explain file, so keep the user's."""
    keys = library.parse_options(options.option)
    if os.environ.get("ROCKET_EXPLAIN"):
        keys.setdefault("explain", os.environ["ROCKET_EXPLAIN"])
    return keys


def _library(options):
    if options.delegate == "none":
        return None
    return library.find(options.delegate)


def _progress():
    """Shows what is going on in one line of the terminal; silent where stderr is none."""
    if not sys.stderr.isatty():
        return lambda text: None
    return lambda text: print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def _count(number, noun):
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _claims(claimed, offered, explain):
    """ "claimed 55 of 60 nodes in 3 partitions on sim rk3588, NPU time modelled 2.3 ms"."""
    text = f"claimed {claimed} of {offered} nodes"
    if not claimed or explain is None:
        return text
    device = explain.content.get("device", {})
    where = " ".join(filter(None, (device.get("provider"), device.get("chip"))))
    return (
        f"{text} in {_count(len(explain.partitions), 'partition')}"
        f"{f' on {where}' if where else ''}, NPU time modelled "
        f"{explain.modelled_us() / 1000:.2f} ms an inference"
    )


def _write_json(path, content):
    text = json.dumps(content, indent=1, allow_nan=False) + "\n"
    if path == "-":
        sys.stdout.write(text)
        return
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from error


def _compare_command(options):
    keys = _keys(options)
    result = compare.compare(
        options.model,
        _sampler(options),
        _library(options),
        keys,
        options.reference,
        options.layers,
        options.threads,
        _progress(),
        options.cut_postprocess,
    )
    if options.json:
        _write_json(options.json, result.report())
    if options.json != "-":
        _print_comparison(result)
    return _verdict(result, options.max_diff)


def _verdict(result, max_diff):
    code = 0
    if max_diff is not None and result.beyond(max_diff):
        print(f"beyond {max_diff:g}: output {', '.join(result.beyond(max_diff))}", file=sys.stderr)
        code = 1
    first = result.first_layer_beyond()
    if first is not None:
        print(
            f"first layer beyond its bound: node {first['index']} {first['op']} "
            f"{first['shape']} differs by {first['max']}, bound {first['bound']}"
            f"{': ' + first['text'] if first.get('text') else ''}",
            file=sys.stderr,
        )
        code = 1
    return code if _npu_was_used(result.explain) else 1


def _npu_was_used(explain):
    """Whether what was claimed stayed on the NPU; says so when it did not."""
    left = explain.left_npu() if explain else ""
    if left:
        print(f"not the NPU's results: {left}", file=sys.stderr)
    return not left


def _print_comparison(result):
    content = result.content
    claims = "no delegate, the default interpreter"
    if result.delegated:
        claims = _claims(content["claimed"], content["offered"], result.explain)
    cut = ", post-process cut" if content["cut_postprocess"] else ""
    print(f"{claims}; {_count(len(content['inputs']), 'sample')}, "
          f"reference {content['reference']}{cut}")
    for k, tally in enumerate(result.tallies):
        top = tally.top1()
        print(
            f"output {k} {tally.name}: max {tally.max:g} mean {tally.mean:.4g} {tally.unit}, "
            f"{100 * tally.share:.2f} % differ, top-1 equal {top['equal']}/{top['of']}"
        )
    if result.layers is None:
        _print_hint(result)
    else:
        _print_layers(result.layers)


def _print_hint(result):
    """Outputs far from the reference frighten; say what they mean and what to do next."""
    exact = result.content["options"].get("numerics.requant") == "exact"
    if result.content["claimed"] and not exact and result.beyond(1):
        print(
            "note: differences of one count a layer add up over a network; --layers judges each "
            "layer alone, --option numerics.requant=exact removes them"
        )


def _print_layers(rows):
    width = max([len(row["op"]) for row in rows], default=0)
    for row in rows:
        state = {True: "ok", False: "BEYOND", None: "--"}[row["within"]]
        detail = ": ".join(row[key] for key in ("route", "text") if row.get(key))
        figures = f"max {row['max']:g} share {100 * row['share']:.2f} %" if "max" in row else ""
        bound = f"bound {row['bound']}" if "bound" in row else ""
        line = f"{state:6} {row['index']:4} {row['op']:{width}} {figures:24} {bound:8} {detail}"
        print(line.rstrip())
    judged = [row["within"] for row in rows if row["within"] is not None]
    if judged:
        print(f"layers within their bound: {sum(judged)} of {len(judged)} claimed")


def _run_command(options):
    if options.iterations < 1:
        raise UserError("--iterations must be 1 or more")
    keys, sampler, progress = _keys(options), _sampler(options), _progress()
    runner = host.Runner(
        options.model, options.resolver, _library(options), keys, threads=options.threads
    )
    samples = sampler(runner.inputs)
    saved, rows = {}, []
    for number, sample in enumerate(samples):
        progress(f"sample {number + 1} of {len(samples)}")
        outputs, seconds = runner.time(sample.tensors, options.iterations)
        rows.append({"source": sample.source, "milliseconds": [1e3 * s for s in seconds]})
        progress("")
        if options.json != "-":
            _print_run(sample, outputs, seconds, runner.outputs)
        for k, values in enumerate(outputs):
            saved[f"{number}.output{k}" if len(samples) > 1 else f"output{k}"] = values
    explain = runner.finish()
    if explain and options.json != "-":
        print(_claims(explain.claimed, explain.offered, explain))
    _npu_was_used(explain)
    if options.save:
        try:
            np.savez_compressed(options.save, **saved)
        except OSError as error:
            raise UserError(f"cannot write {options.save}: {error.strerror}") from error
    if options.json:
        _write_json(options.json, _run_report(options, keys, runner, rows, explain))
    return 0


def _run_report(options, keys, runner, rows, explain):
    return {
        "format": 1,
        "model": options.model,
        "sha256": compare.sha256_file(options.model),
        "host": host.host_name(),
        "resolver": options.resolver,
        "options": keys,
        "claimed": explain.claimed if explain else 0,
        "offered": explain.offered if explain else 0,
        "modelled_us": explain.modelled_us() if explain else 0.0,
        "run": explain.run if explain else {},
        "load_milliseconds": 1e3 * runner.load_seconds,
        "samples": rows,
    }


def _print_run(sample, outputs, seconds, details):
    times = [1e3 * s for s in seconds]
    print(f"{sample.source}: first {times[0]:.1f} ms, median {statistics.median(times):.1f} ms")
    for item, values in zip(details, outputs):
        print(f"  {item['name']} {values.dtype.name}{list(values.shape)}", end="")
        print(f": min {values.min():g}, max {values.max():g}, top-1 {values.argmax()}")


def _detect_command(options):
    rows, runner = detect_command.detect(options, _library(options), _keys(options), _progress())
    explain = runner.finish()
    _npu_was_used(explain)
    if options.json:
        claimed = {"claimed": explain.claimed, "offered": explain.offered} if explain else {}
        _write_json(options.json, {"format": 1, "model": options.model, **claimed,
                                   "pictures": rows})
    if options.json != "-":
        for row in rows:
            print(detect_command.text_of(row))
        if explain:
            print(_claims(explain.claimed, explain.offered, explain))
    return 0


_COMMANDS = {"compare": _compare_command, "run": _run_command, "detect": _detect_command}
