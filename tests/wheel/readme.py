"""Every example of a README, as pasted one after the other, with what is installed: `python readme.py README.md`.

`tests/docs` looks at what the examples print; here it matters that a stranger can run them.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import tippingpoint as tp


def main() -> None:
    assert Path(tp.__file__).is_relative_to(sys.prefix), f"imported from {tp.__file__}, not from the wheel"
    text = Path(sys.argv[1]).read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert examples, "there is no example"
    names = {"__name__": "readme"}
    for number, example in enumerate(examples, 1):
        before = text[: text.index(example)].count("\n")
        print(f"--- example {number}, line {before + 1}", flush=True)
        exec(compile("\n" * before + example, "README.md", "exec"), names)  # noqa: S102  # our own README
    print(f"  {len(examples)} examples of the README: good", flush=True)


if __name__ == "__main__":
    main()
