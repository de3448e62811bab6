"""The risk in steps: now, what moving adds, what reweighting adds, the threshold."""

import matplotlib.pyplot as plt
from pictures.tumours import first_result

figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
first_result().plot(ax=axes)
