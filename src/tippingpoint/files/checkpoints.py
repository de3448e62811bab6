"""What torch.save writes: weights without their module, or a pickled module; neither is a model that can be loaded safely."""

from __future__ import annotations

from tippingpoint.errors import InputError
from tippingpoint.files.base import Content, Format, Loading, Stored


def holds(content: Content) -> bool:
    """Whether it is an archive with a pickle of tensors in it, and no TorchScript."""
    return content.holds("data.pkl") and not content.holds("constants.pkl")


def load(content: Content, loading: Loading) -> Stored:
    """An error that says what to do instead."""
    raise InputError(
        f"{content.path} is a PyTorch checkpoint, which lacks the code of its module; give that too, as --model module:factory"
        f" --state {content.path}, or write a program with torch.export.save(torch.export.export(...), 'model.pt2')."
    )


FORMAT = Format("a PyTorch checkpoint", (".pt", ".pth"), (), holds, load)
