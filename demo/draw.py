# SPDX-License-Identifier: Apache-2.0
"""Draws the answers on the picture."""

import io

from PIL import Image, ImageDraw, ImageFont

_WIDTH = 720
_FACE = (64, 224, 208)
_POINT = (255, 214, 10)
_INK = (16, 24, 32)


def _tag(image, corner, text, fill, size):
    """A filled label whose lower left corner is `corner`, moved into the picture."""
    (left, bottom), draw, font = corner, ImageDraw.Draw(image), ImageFont.load_default(size)
    box = draw.textbbox((0, 0), text, font=font)
    width, height, margin = box[2] - box[0], box[3] - box[1], size // 3
    left = min(left, image.size[0] - width - 2 * margin)
    top = max(0, bottom - height - 2 * margin)
    draw.rounded_rectangle(
        (left, top, left + width + 2 * margin, top + height + 2 * margin), size // 4, fill=fill
    )
    draw.text((left + margin - box[0], top + margin - box[1]), text, font=font, fill=_INK)


def annotate(picture, faces, label):
    """The picture with a box and six points for each face and the class at the bottom left.

    Faces are in fractions of the centre square. Returns a new RGB picture 720 pixels wide.
    """
    factor = _WIDTH / picture.size[0]
    image = picture.resize((_WIDTH, round(picture.size[1] * factor)), Image.LANCZOS)
    draw = ImageDraw.Draw(image)
    side = min(image.size)
    left, top = (image.size[0] - side) / 2, (image.size[1] - side) / 2
    for face in faces:
        x0, y0, x1, y1 = (float(v) * side for v in face.box)
        box = (left + x0, top + y0, left + x1, top + y1)
        draw.rounded_rectangle(box, 10, outline=_FACE, width=4)
        for x, y in face.points:
            cx, cy, radius = left + float(x) * side, top + float(y) * side, 5
            draw.ellipse((cx - radius, cy - radius, cx + radius, cy + radius), fill=_POINT,
                         outline=_INK)
        _tag(image, (box[0], box[1] - 6), f"face {face.score:.2f}", _FACE, 24)
    _tag(image, (16, image.size[1] - 16), label, (255, 255, 255), 28)
    return image


def jpeg(image):
    """Bytes of the picture as JPEG."""
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=88)
    return buffer.getvalue()
