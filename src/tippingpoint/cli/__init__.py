"""The command line: one file a command.

Exit codes: 0 fine, 1 a gate that fails or an installation that is broken, 2 bad input or no room, 3 a fault of ours,
130 interrupted, 141 nobody reads any more.
Importing this is quick, so that an interrupt has hardly a moment in which nobody expects it; `running` imports the rest.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tippingpoint.cli.interrupts import interruptible


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; what goes wrong is one sentence on standard error.

    Parameters
    ----------
    arguments
        Of the command. Where none are given they are those of the process, whose signals and standard streams are then the
        command's own; otherwise both stay with whoever called.
    """
    own = arguments is None
    words = list(sys.argv[1:] if arguments is None else arguments)
    with interruptible(own=own) as interrupts:
        from tippingpoint.cli.running import run

        code = run(words, own=own, interrupts=interrupts)
        interrupts.finished(code)
        return code
