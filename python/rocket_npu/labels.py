# SPDX-License-Identifier: Apache-2.0
"""Names of classes: COCO's, or those of a text file."""

from rocket_npu import UserError

COCO_80 = tuple(
    "person,bicycle,car,motorcycle,airplane,bus,train,truck,boat,traffic light,fire hydrant,"
    "stop sign,parking meter,bench,bird,cat,dog,horse,sheep,cow,elephant,bear,zebra,giraffe,"
    "backpack,umbrella,handbag,tie,suitcase,frisbee,skis,snowboard,sports ball,kite,"
    "baseball bat,baseball glove,skateboard,surfboard,tennis racket,bottle,wine glass,cup,fork,"
    "knife,spoon,bowl,banana,apple,sandwich,orange,broccoli,carrot,hot dog,pizza,donut,cake,"
    "chair,couch,potted plant,bed,dining table,toilet,tv,laptop,mouse,remote,keyboard,"
    "cell phone,microwave,oven,toaster,sink,refrigerator,book,clock,vase,scissors,teddy bear,"
    "hair drier,toothbrush".split(",")
)
# COCO numbers its categories 1 to 90 and leaves these out; detectors with the post-process
# operation count category numbers less one (tflite-delegate section 7).
_UNUSED = (12, 26, 29, 30, 45, 66, 68, 69, 71, 83)


def _with_gaps():
    names = iter(COCO_80)
    return tuple("" if number in _UNUSED else next(names) for number in range(1, 91))


COCO_90 = _with_gaps()


def load(path):
    """One name a line; a line "17 cat" gives the number itself. Returns {index: name}."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = [line.strip() for line in file]
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read labels {path}: {getattr(error, 'strerror', error)}") from error
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise UserError(f"labels {path}: no names in it")
    split = [line.split(None, 1) for line in lines]
    if all(len(words) == 2 and words[0].rstrip(":").isdigit() for words in split):
        return {int(words[0].rstrip(":")): words[1] for words in split}
    return dict(enumerate(lines))


def name_of(names, index):
    """The name, or "class 12"."""
    name = names.get(index) if isinstance(names, dict) else (
        names[index] if 0 <= index < len(names) else "")
    return name or f"class {index}"
