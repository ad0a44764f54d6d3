# SPDX-License-Identifier: Apache-2.0
"""Writes the demonstration's report: one HTML file with everything in it."""

import base64
import pathlib
import statistics
from html import escape

import measure
import timeline

_COUNTS = ("A count is one step of an output's 8-bit scale. Each layer is at most one from the "
           "reference kernels; over a network these add up, as XNNPACK's in the CPU interpreter do.")
_HERE = pathlib.Path(__file__).resolve().parent


class Html(str):
    """Text that is HTML already; everything else is escaped."""


class Number(str):
    """Text that stands to the right, like a number."""


def cell(value):
    """A table cell: numbers to the right, text escaped."""
    kind = ' class="n"' if isinstance(value, (int, float, Number)) else ""
    text = value if isinstance(value, Html) else escape(f"{value:,}" if isinstance(value, int)
                                                        else str(value))
    return f"<td{kind}>{text}</td>"


def table(heads, rows, wide=False):
    """Rows of values; a head starting with `#` stands over numbers. Wide ones scroll on a phone."""
    titles = "".join(
        f'<th class="n">{escape(head[1:])}</th>' if head.startswith("#")
        else f"<th>{escape(head)}</th>"
        for head in heads
    )
    body = "".join(f"<tr>{''.join(cell(value) for value in row)}</tr>" for row in rows)
    kind = "scroll wide" if wide else "scroll"
    return (f'<div class="{kind}"><table><thead><tr>{titles}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>")


def _tile(value, text):
    return f'<div class="tile"><b>{escape(value)}</b><span>{escape(text)}</span></div>'


def _meter(share):
    return f'<span class="meter"><i style="width:{100 * min(max(share, 0), 1):.0f}%"></i></span>'


def _classes(demo):
    rows = []
    for name, index, npu, cpu in demo.classes:
        rows.append((Html(f"{escape(name)} <span class=\"soft\">{index}</span>"),
                     Html(f"{_meter(npu)} {100 * npu:.1f} %"),
                     Html(f"{_meter(cpu)} {100 * cpu:.1f} %")))
    return table(("class", "NPU", "CPU interpreter"), rows)


def _faces(demo):
    rows = []
    for number in range(max(len(demo.npu_faces), len(demo.cpu_faces))):
        row = [f"face {number + 1}"]
        for found in (demo.npu_faces, demo.cpu_faces):
            row.append(f"score {found[number].score:.2f}, anchor {found[number].anchor}, "
                       f"width {found[number].width:.2f}" if number < len(found) else "none")
        rows.append(row)
    return table(("", "NPU", "CPU interpreter"), rows)


def _differences(result):
    rows = []
    for against, tallies in result.tallies.items():
        for tally in tallies:
            ranked = tally.name == result.network.ranked
            rows.append((against, tally.name, tally.max, Number(f"{tally.mean:.3f}"),
                         Number(f"{100 * tally.share:.1f} %"), _best(tally) if ranked else ""))
    return table(("comparison", "output", "#largest, counts", "#mean", "#elements that differ",
                  "best answer"), rows, wide=True)


def _best(tally):
    top = tally.top1()
    same = top["equal"] == top["of"]
    return Html(f'<span class="{"good" if same else "bad"}">'
                f'{"the same" if same else "another"}</span> ({top["delegate"][0]})')


def _routes(result):
    rows = []
    for name, nodes, operators, tasks, macs, microseconds in measure.routes(result.explain):
        kinds = ", ".join(f"{op} {count}" for op, count in operators.items())
        route = Html(f'{escape(name)}<br><span class="soft">'
                     f'{escape(measure.ROUTES.get(name, ""))}</span>')
        rows.append((route, nodes, kinds, tasks, Number(f"{macs / 1e6:.1f}" if tasks else ""),
                     Number(f"{microseconds / 1000:.2f}" if tasks else "")))
    return table(("route", "#nodes", "operators", "#NPU tasks", "#MMAC", "#modelled ms"), rows, wide=True)


def _nodes(result):
    rows = []
    for node in result.explain.nodes:
        claimed = node.get("claimed")
        place = node.get("route", "") if claimed else measure.NOT_CLAIMED
        bound = str(node.get("bound_counts", ""))
        note = "; ".join(filter(None, (bound, node.get("host_reason"), node.get("text"))))
        tasks = int(node.get("tasks", 0))
        microseconds = f"{float(node.get('modelled_us', 0.0)):.1f}" if tasks else ""
        rows.append((node["index"], node["op"], _shapes(node["shapes"]), place, tasks,
                     Number(f"{int(node.get('macs', 0)) / 1e6:.2f}" if tasks else ""),
                     Number(microseconds), note))
    return table(("#node", "operator", "shapes", "route", "#tasks", "#MMAC", "#modelled µs",
                  "bound in counts, or why not"), rows, wide=True)


def _shapes(shapes):
    """ "1x56x56x24 -> 1x56x56x144": the first input and the outputs."""
    names = ["x".join(map(str, shape)) for shape in shapes["inputs"][:1] + shapes["outputs"]]
    return " \u2192 ".join(names)


def _network(result, cost):
    summary = result.explain.summary
    times, shared_out = measure.layer_times(result.explain)
    note = "The total is shared out by MACs. " if shared_out else ""
    parts = sum(part.get("arena_bytes", 0) for part in result.explain.partitions)
    weights = sum(part.get("weight_bytes", 0) for part in result.explain.partitions)
    milliseconds = result.explain.modelled_us() / 1000
    rest = milliseconds - sum(length for _, length in times) / 1000
    return f"""<section class="card"><h2>{escape(result.network.title)}</h2>
<p class="soft">{result.explain.claimed} of {result.explain.offered} nodes claimed in
{measure.count(len(result.explain.partitions), 'partition')}, {measure.on_npu(result.explain)}
computed by the NPU in {measure.count(summary['kicks'], 'kick')} and
{measure.count(summary['submits'], 'submit')}; {parts / 1e6:.1f} MB of intermediate tensors,
{weights / 1e6:.1f} MB of weights. NPU time modelled {milliseconds:.2f} ms an inference, host steps
not included ({escape(cost['version'])}, ±{cost['band']:g} %). Wall time here: {1e3 * statistics.median(result.npu_seconds):.0f} ms on the
{escape(cost['engine'])}, {1e3 * statistics.median(result.cpu_seconds):.1f} ms in the CPU
interpreter.</p>
<h3>Timeline</h3><div class="scroll">{timeline.svg(times)}</div>
<p class="soft">{note}The NPU's tasks. The submits add {rest:.2f} ms; the steps of the host have no
modelled time. Point at a bar for its layer.</p>
<h3>Where the nodes run</h3>{_routes(result)}
<h3>Differences</h3>{_differences(result)}
<p class="soft">{_COUNTS}</p>
<details><summary>All {len(result.explain.nodes)} nodes</summary>
<div class="nodes">{_nodes(result)}</div></details>
</section>"""


def _page(demo, body):
    style = (_HERE / "report.css").read_text(encoding="utf-8")
    return (f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>rocket-npu: {escape(demo.label)}</title><style>{style}</style></head>"
            f"<body><main>{body}</main></body></html>\n")


def write(path, demo, jpeg):
    """Writes the report. `demo` is run_demo.Demo, `jpeg` the bytes of the annotated picture."""
    picture = base64.b64encode(jpeg).decode()
    total = sum(result.explain.modelled_us() for result in demo.results) / 1000
    claimed = sum(result.explain.claimed for result in demo.results)
    offered = sum(result.explain.offered for result in demo.results)
    computed = sum(measure.on_npu(result.explain) for result in demo.results)
    tiles = "".join((
        _tile(demo.label, "what the classifier says"),
        _tile(measure.count(len(demo.npu_faces), "face"), "what the face detector finds"),
        _tile(f"{claimed} of {offered}", f"nodes claimed, {computed} computed by the NPU"),
        _tile(f"{total:.2f} ms", f"NPU time modelled for both, ±{demo.cost['band']:g} %"),
    ))
    versions = table(("part", "version"), demo.versions)
    networks = "".join(_network(result, demo.cost) for result in demo.results)
    options = table(("option", "value"), [(k, v or "none") for k, v in demo.options.items()])
    body = f"""<h1>rocket-npu</h1>
<p class="soft">Two int8 networks, unchanged, through the TFLite delegate on the
{escape(demo.cost['engine'])}.</p><div class="tiles">{tiles}</div>
<section class="card"><div class="answers"><img alt="the annotated picture"
src="data:image/jpeg;base64,{picture}"><div><h2>Answers</h2>
<h3>EfficientNet-Lite0</h3>{_classes(demo)}<h3>BlazeFace</h3>{_faces(demo)}
<p class="soft">CPU interpreter: the same files without the delegate, default kernels.
Picture: public domain, see demo/pictures.</p></div></div></section>{networks}
<section class="card"><h2>Options and versions</h2>{options}<h3>Versions</h3>{versions}
<p class="soft">{escape(demo.cost['note'])}</p></section>"""
    pathlib.Path(path).write_text(_page(demo, body), encoding="utf-8")
