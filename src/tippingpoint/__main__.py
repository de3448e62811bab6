"""`python -m tippingpoint`."""

import sys

from tippingpoint.cli import main

if __name__ == "__main__":
    sys.exit(main())
