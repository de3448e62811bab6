"""`python -m tippingpoint`."""

import sys

from tippingpoint.cli import main

sys.exit(main())
