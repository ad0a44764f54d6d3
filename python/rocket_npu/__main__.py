# SPDX-License-Identifier: Apache-2.0
"""`python -m rocket_npu`."""

import sys

from rocket_npu.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
