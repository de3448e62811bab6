"""Test
====

A test.
"""

import tippingpoint as tp

print(tp.__version__)
