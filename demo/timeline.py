# SPDX-License-Identifier: Apache-2.0
"""Draws the modelled time of a network's layers as an SVG."""

from html import escape

_WIDTH, _LEFT, _RIGHT = 1080, 130, 16
_LANE, _BAR = 34, 24
_LANES = ("CONV_2D", "DEPTHWISE_CONV_2D", "other NPU work")
_LABELS = {"CONV_2D": "convolution", "DEPTHWISE_CONV_2D": "depthwise"}
_CLASSES = ("conv", "depthwise", "other")


def _step(total):
    """A round distance between ticks that gives five to twelve of them."""
    step = 1.0
    for factor in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000):
        step = float(factor)
        if total / step <= 10:
            break
    return step


def _text(x, y, text, kind):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{escape(text)}</text>'


def _axis(total, scale, height):
    parts, step, value = [], _step(total), 0.0
    while value <= total + 1e-9:
        x = _LEFT + value * scale
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="8" y2="{height - 28}" class="grid"/>')
        parts.append(_text(x, height - 12, f"{value:g}", "tick"))
        value += step
    parts.append(_text(_LEFT, height + 5, "modelled microseconds, layers one after another", "axis"))
    return parts


def _bar(node, start, length, scale):
    lane = _LANES.index(node["op"]) if node["op"] in _LANES else len(_LANES) - 1
    x, y = _LEFT + start * scale, 12 + lane * _LANE
    width = max(length * scale, 0.8)
    macs = int(node.get("macs", 0)) / 1e6
    title = (f"node {node['index']} {node['op']}: {length:.1f} us modelled, {macs:.2f} MMAC, "
             f"{node.get('tasks', 0)} task(s), route {node.get('route', '')}")
    parts = [f'<g><title>{escape(title)}</title><rect x="{x:.2f}" y="{y}" '
             f'width="{max(width - 0.6, 0.6):.2f}" height="{_BAR}" rx="1.5" '
             f'class="{_CLASSES[lane]}"/>']
    if width > 22:
        parts.append(_text(x + width / 2, y + _BAR / 2 + 4, str(node["index"]), "bar"))
    return "".join(parts) + "</g>"


def svg(times):
    """[(explain node, microseconds)] in order -> SVG text; each bar's title tells its layer."""
    total = sum(length for _, length in times)
    if total <= 0:
        return ""
    scale = (_WIDTH - _LEFT - _RIGHT) / total
    height = 12 + _LANE * len(_LANES) + 32
    parts = [f'<svg class="timeline" viewBox="0 0 {_WIDTH} {height + 10}" role="img" '
             f'aria-label="modelled time of each layer">']
    parts += _axis(total, scale, height)
    for lane, name in enumerate(_LANES):
        y = 12 + lane * _LANE + _BAR / 2 + 4
        parts.append(_text(_LEFT - 12, y, _LABELS.get(name, name), "lane"))
    start = 0.0
    for node, length in times:
        parts.append(_bar(node, start, length, scale))
        start += length
    return "".join(parts) + "</svg>"
