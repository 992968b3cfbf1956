"""The network: some layers of MiniLM over frozen piece embeddings, shapes and gaps in place of sentence types."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

SIZE, HEADS, INNER, POSITIONS, LAYOUTS, CLASSES = 384, 12, 1536, 512, 24, 32


class Layer(nn.Module):
    """One transformer layer in BERT's order: attention, sum, norm; two linear maps, sum, norm."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.output = (nn.Linear(SIZE, SIZE) for _ in range(4))
        self.inner, self.outer = nn.Linear(SIZE, INNER), nn.Linear(INNER, SIZE)
        self.attention_norm, self.output_norm = nn.LayerNorm(SIZE, 1e-12), nn.LayerNorm(SIZE, 1e-12)

    def forward(self, x: Tensor, mask: Tensor, dropout: float) -> Tensor:
        """`mask` is true where a piece may be attended to."""
        batch, length, _ = x.shape

        def heads(y: Tensor) -> Tensor:
            return y.view(batch, length, HEADS, SIZE // HEADS).transpose(1, 2)

        mixed = functional.scaled_dot_product_attention(
            heads(self.query(x)), heads(self.key(x)), heads(self.value(x)), attn_mask=mask[:, None, None, :]
        )
        mixed = self.output(mixed.transpose(1, 2).reshape(batch, length, SIZE))
        x = self.attention_norm(x + functional.dropout(mixed, dropout, self.training))
        y = self.outer(functional.gelu(self.inner(x)))
        return self.output_norm(x + functional.dropout(y, dropout, self.training))


class Tagger(nn.Module):
    """Pieces and their kinds to a score for every tag."""

    def __init__(self, pieces: int, layers: int, tags: int) -> None:
        super().__init__()
        self.register_buffer("pieces", torch.zeros(pieces, SIZE, dtype=torch.int8))
        self.register_buffer("scale", torch.zeros(pieces, 1))
        self.positions = nn.Embedding(POSITIONS, SIZE)
        self.layouts, self.classes = nn.Embedding(LAYOUTS, SIZE), nn.Embedding(CLASSES, SIZE)
        self.norm = nn.LayerNorm(SIZE, 1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.head = nn.Linear(SIZE, tags)

    def forward(self, ids: Tensor, kinds: Tensor, mask: Tensor, dropout: float = 0.0) -> Tensor:
        """Scores of the tags; `mask` is true where there is a piece."""
        words = self.pieces[ids].float() * self.scale[ids]
        where = self.positions.weight[: ids.shape[1]]
        known = self.layouts(kinds % LAYOUTS) + self.classes(kinds // LAYOUTS)
        x = functional.dropout(self.norm(words + where + known), dropout, self.training)
        for layer in self.layers:
            x = layer(x, mask, dropout)
        return self.head(x)


_PARTS = {
    "query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
    "output": "attention.output.dense", "attention_norm": "attention.output.LayerNorm",
    "inner": "intermediate.dense", "outer": "output.dense", "output_norm": "output.LayerNorm",
}  # fmt: skip


def from_base(base: dict[str, npt.NDArray[np.generic]], layers: Sequence[int], tags: int) -> Tagger:
    """A tagger that starts from the named layers of the base model."""

    def tensor(name: str) -> Tensor:
        return torch.from_numpy(np.asarray(base[name], dtype=np.float32))

    model = Tagger(len(base["pieces"]), len(layers), tags)
    with torch.no_grad():
        model.pieces.copy_(torch.from_numpy(base["pieces"]))
        model.scale.copy_(torch.from_numpy(base["scale"]))
        model.positions.weight.copy_(tensor("embeddings.position_embeddings.weight"))
        # Every shape and gap starts as the sentence type of the base; what they mean is learnt.
        model.layouts.weight.copy_(tensor("embeddings.token_type_embeddings.weight")[:1].repeat(LAYOUTS, 1))
        model.layouts.weight.add_(torch.randn(LAYOUTS, SIZE) * 0.02)
        model.classes.weight.copy_(torch.randn(CLASSES, SIZE) * 0.02)
        model.norm.weight.copy_(tensor("embeddings.LayerNorm.weight"))
        model.norm.bias.copy_(tensor("embeddings.LayerNorm.bias"))
        nn.init.normal_(model.head.weight, std=1 / math.sqrt(SIZE))
        for own, number in zip(model.layers, layers, strict=True):
            for part, theirs in _PARTS.items():
                for kind in ("weight", "bias"):
                    getattr(getattr(own, part), kind).copy_(tensor(f"encoder.layer.{number}.{theirs}.{kind}"))
    return model
