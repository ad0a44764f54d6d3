# SPDX-License-Identifier: Apache-2.0
"""Draws detections on a picture."""

import colorsys
import io

from PIL import Image, ImageDraw, ImageFont

_WIDTH = 720
_POINT = (255, 214, 10)
_INK = (16, 24, 32)
_GOLDEN = 0.618034  # neighbouring classes get hues far apart


def colour_of(index):
    """A bright colour for a class, the same at every call."""
    red, green, blue = colorsys.hsv_to_rgb((0.482 + index * _GOLDEN) % 1.0, 0.71, 0.88)
    return round(255 * red), round(255 * green), round(255 * blue)


def tag(image, corner, text, fill, size):
    """A filled label whose lower left corner is `corner`, moved into the picture."""
    (left, bottom), draw, font = corner, ImageDraw.Draw(image), ImageFont.load_default(size)
    box = draw.textbbox((0, 0), text, font=font)
    width, height, margin = box[2] - box[0], box[3] - box[1], size // 3
    left = max(0, min(left, image.size[0] - width - 2 * margin))
    top = max(0, bottom - height - 2 * margin)
    draw.rounded_rectangle(
        (left, top, left + width + 2 * margin, top + height + 2 * margin), size // 4, fill=fill
    )
    draw.text((left + margin - box[0], top + margin - box[1]), text, font=font, fill=_INK)


def annotate(picture, detections, caption=None):
    """The picture with a box, a label and the points of each detection, `caption` at the bottom.

    Detections are in fractions of the centre square. Returns a new RGB picture 720 pixels wide.
    """
    factor = _WIDTH / picture.size[0]
    image = picture.resize((_WIDTH, max(1, round(picture.size[1] * factor))), Image.LANCZOS)
    draw = ImageDraw.Draw(image)
    side = min(image.size)
    left, top = (image.size[0] - side) / 2, (image.size[1] - side) / 2
    for item in reversed(detections):  # the best on top
        x0, y0, x1, y1 = (float(v) * side for v in item.box)
        box = (left + min(x0, x1), top + min(y0, y1), left + max(x0, x1), top + max(y0, y1))
        draw.rounded_rectangle(box, 10, outline=colour_of(item.index), width=4)
        for x, y in item.points:
            cx, cy, radius = left + float(x) * side, top + float(y) * side, 5
            draw.ellipse((cx - radius, cy - radius, cx + radius, cy + radius), fill=_POINT,
                         outline=_INK)
        tag(image, (box[0], box[1] - 6), f"{item.name} {item.score:.2f}", colour_of(item.index), 24)
    if caption:
        tag(image, (16, image.size[1] - 16), caption, (255, 255, 255), 28)
    return image


def jpeg(image):
    """Bytes of the picture as JPEG."""
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=88)
    return buffer.getvalue()
