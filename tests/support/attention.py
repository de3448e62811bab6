"""Small Transformers for tests: attention with a mask, one that is linear, and one as Hugging Face writes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from tippingpoint.core.arrays import FloatArray, IntArray

SAMPLES, TOKENS, WIDTH, CLASSES = 24, 5, 4, 3


class Attention(nn.Module):
    """One head of attention, the mean of the tokens that count, and logits."""

    def __init__(self, outputs: int = CLASSES, seed: int = 0) -> None:
        super().__init__()
        rng = np.random.default_rng(seed)
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(3))
        self.out = nn.Linear(WIDTH, outputs, bias=False)
        for layer in (self.query, self.key, self.value, self.out):
            layer.weight.data = torch.from_numpy(rng.normal(size=tuple(layer.weight.shape))).float()

    def forward(self, inputs_embeds: Tensor, attention_mask: Tensor) -> Tensor:
        counts = attention_mask.to(inputs_embeds.dtype)
        scores = self.query(inputs_embeds) @ self.key(inputs_embeds).transpose(1, 2) / WIDTH**0.5
        seen = torch.softmax(scores.masked_fill(attention_mask[:, None, :] == 0, -1e9), dim=2)
        mixed = torch.tanh(inputs_embeds + seen @ self.value(inputs_embeds))
        mean = (mixed * counts[:, :, None]).sum(1) / counts.sum(1, keepdim=True)
        found: Tensor = self.out(mean)
        return found


class Positional(nn.Module):
    """The same under names of its own."""

    def __init__(self, inner: Attention) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, tokens: Tensor, counted: Tensor) -> Tensor:
        found: Tensor = self.inner(tokens, counted)
        return found


class Closed(nn.Module):
    """The same with one mask for all samples, which it holds itself."""

    def __init__(self, inner: Attention, mask: Tensor) -> None:
        super().__init__()
        self.inner, self.mask = inner, mask

    def forward(self, tokens: Tensor) -> Tensor:
        found: Tensor = self.inner(tokens, self.mask.expand(len(tokens), -1))
        return found


class Pooled(nn.Module):
    """A Transformer without attention: the mean of the tokens that count, and a linear score."""

    def __init__(self, coef: FloatArray, intercept: float) -> None:
        super().__init__()
        self.head = nn.Linear(len(coef), 1).double()
        self.head.weight.data = torch.from_numpy(coef)[None]
        self.head.bias.data = torch.tensor([intercept], dtype=torch.float64)

    def forward(self, inputs_embeds: Tensor, attention_mask: Tensor) -> Tensor:
        counts = attention_mask.to(inputs_embeds.dtype)[:, :, None]
        found: Tensor = self.head((inputs_embeds * counts).sum(1) / counts.sum(1))
        return found


@dataclass
class ClassifierOutput:
    """What classifiers of Hugging Face return."""

    logits: Tensor
    loss: Tensor | None = None


class Classifier(nn.Module):
    """A classifier with the signature of Hugging Face's, around token ids or their embeddings."""

    def __init__(self, inner: Attention, words: int = 11) -> None:
        super().__init__()
        self.inner, self.embeddings = inner, nn.Embedding(words, WIDTH)

    def get_input_embeddings(self) -> nn.Embedding:
        return self.embeddings

    def forward(
        self, input_ids: Any = None, attention_mask: Any = None, token_type_ids: Any = None, inputs_embeds: Any = None
    ) -> ClassifierOutput:
        if (input_ids is None) == (inputs_embeds is None):
            raise ValueError("You must specify exactly one of input_ids or inputs_embeds")
        tokens = self.embeddings(input_ids) if inputs_embeds is None else inputs_embeds
        if token_type_ids is not None:
            tokens = tokens + 0.1 * token_type_ids[:, :, None]
        return ClassifierOutput(self.inner(tokens, attention_mask))


def sentences(seed: int = 1, samples: int = SAMPLES) -> tuple[FloatArray, IntArray]:
    """Embeddings `(n, T, D)` as a float32 module sees them, and masks of different lengths."""
    rng = np.random.default_rng(seed)
    tokens = rng.normal(size=(samples, TOKENS, WIDTH)).astype(np.float32)
    lengths = rng.integers(1, TOKENS + 1, samples)
    return tokens.astype(float), (np.arange(TOKENS) < lengths[:, None]).astype(np.intp)


def answers(module: nn.Module, tokens: Any, mask: Any, noise: float = 0.3) -> IntArray:
    """Labels that a module predicts with some errors."""
    with torch.no_grad():
        logits = module(torch.tensor(tokens, dtype=torch.float32), torch.tensor(mask)).numpy()
    noisy = logits + noise * np.random.default_rng(2).normal(size=logits.shape)
    return np.asarray(noisy.argmax(axis=1))
