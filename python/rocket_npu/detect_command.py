# SPDX-License-Identifier: Apache-2.0
"""`detect`: finds objects in pictures and draws them."""

import pathlib
import time

from rocket_npu import UserError, detection, host, inputs, labels


def add_parser(commands, add_delegate):
    """Adds the subcommand; `add_delegate(parser)` adds the options of every command."""
    parser = commands.add_parser("detect", help="find objects in pictures and draw them")
    parser.add_argument("model", metavar="MODEL", help="a .tflite detector")
    parser.add_argument("pictures", nargs="+", metavar="PICTURE", help="the centre square is used")
    parser.add_argument("--draw", metavar="OUT", help="write the picture with its boxes: a file "
                        "for one picture, a folder for several")
    parser.add_argument("--threshold", type=float, default=0.4, metavar="P",
                        help="lowest score to report (default 0.4)")
    parser.add_argument("--labels", metavar="FILE", help="class names, one a line (default: "
                        "COCO's, by the kind of detector)")
    parser.add_argument("--preprocess", default="auto", metavar="RULE",
                        help="bytes to tensor: u8, i8 (byte - 128), f:MEAN,STD (default: by the "
                        "input's type)")
    parser.add_argument("--resolver", choices=tuple(host.RESOLVERS), default="default",
                        help="kernels of the nodes left to the host (default: with XNNPACK)")
    add_delegate(parser)
    return parser


def drawing_paths(draw, pictures):
    """Where each drawing goes; checked before anything is computed."""
    if draw is None:
        return [None] * len(pictures)
    target = pathlib.Path(draw)
    if len(pictures) == 1 and not target.is_dir():
        return [target]
    if target.exists() and not target.is_dir():
        raise UserError(f"--draw {draw}: several pictures need a folder, this is a file")
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make {draw}: {error.strerror}") from error
    names = [pathlib.Path(picture).stem for picture in pictures]
    numbered = [name if names.count(name) == 1 else f"{name}-{k}" for k, name in enumerate(names)]
    return [target / f"{name}.jpg" for name in numbered]


def write_drawing(path, picture, found):
    """The picture with boxes; the format follows the file's name, JPEG without one."""
    from rocket_npu import draw  # only drawings need Pillow's fonts

    image = draw.annotate(picture, found)
    try:
        image.save(path, None if path.suffix else "JPEG")
    except (OSError, ValueError, KeyError) as error:
        raise UserError(f"cannot write {path}: {getattr(error, 'strerror', None) or error}") from error


def _detect_one(runner, detector, path, options):
    picture = inputs.open_picture(path)
    square = inputs.square(picture, *detector.extents)
    tensor = inputs.preprocess(square, options.preprocess, runner.inputs[0])
    start = time.perf_counter()
    outputs = runner.run([tensor])
    milliseconds = 1e3 * (time.perf_counter() - start)
    outputs = [detection.real(values, item) for values, item in zip(outputs, runner.outputs)]
    return picture, detector.decode(outputs, options.threshold), milliseconds


def _row(picture, found, milliseconds, drawing):
    return {
        "picture": str(picture),
        "milliseconds": milliseconds,
        "drawing": None if drawing is None else str(drawing),
        "detections": [
            {"class": item.index, "name": item.name, "score": item.score,
             "box": [float(v) for v in item.box],
             **({"points": item.points.tolist()} if len(item.points) else {})}
            for item in found
        ],
    }


def detect(options, library, keys, progress):
    """(rows of the report, Runner); `keys` are the delegate's options."""
    if not 0 <= options.threshold < 1:
        raise UserError("--threshold must be at least 0 and below 1")
    drawings = drawing_paths(options.draw, options.pictures)
    names = labels.load(options.labels) if options.labels else None
    progress("loading the model")
    runner = host.Runner(options.model, options.resolver, library, keys, threads=options.threads)
    if len(runner.inputs) != 1:
        raise UserError(f"{options.model} has {len(runner.inputs)} inputs, a detector has one")
    extents = inputs.picture_extents(runner.inputs[0])
    detector = detection.detector_of(runner.outputs, extents, names)
    rows = []
    for number, (path, drawing) in enumerate(zip(options.pictures, drawings)):
        progress(f"picture {number + 1} of {len(drawings)}: {path}")
        picture, found, milliseconds = _detect_one(runner, detector, path, options)
        if drawing is not None:
            write_drawing(drawing, picture, found)
        rows.append(_row(path, found, milliseconds, drawing))
    progress("")
    return rows, runner


def text_of(row):
    """Lines for people."""
    found = row["detections"]
    lines = [f"{row['picture']}: {len(found)} found in {row['milliseconds']:.0f} ms"]
    for item in found:
        box = ", ".join(f"{v:.3f}" for v in item["box"])
        lines.append(f"  {item['name']:16} {item['score']:.2f}  box {box}")
    if row["drawing"]:
        lines.append(f"  drawn: {row['drawing']}")
    return "\n".join(lines)
