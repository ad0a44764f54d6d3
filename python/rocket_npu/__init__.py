# SPDX-License-Identifier: Apache-2.0
"""Find, load, run and check the TFLite delegate of rocket-npu.

Command line: `python -m rocket_npu compare MODEL ...` and `python -m rocket_npu run MODEL ...`.
"""

__version__ = "0.1.0"


class UserError(Exception):
    """Something the user can put right; the text is one line that says what and how."""
