"""Train the tagger on encoded windows: minutes on one GPU, slowly on a CPU. Needs torch and numpy, no text, no network.

    python -m training.train encoded/ --seed 1 -o run/
    python -m training.train encoded/ --seed 1 --without presidio_synth --without tab -o control/

Case is learnt to be unreliable: windows come in lower case and in capitals, which changes their shapes alone, since the
pieces have none. Some pieces of identifiers are hidden, so that the words around them count. Writes `weights.npz`
(float16) and `dev.json`: what of the identifiers was missed and what else was taken for one, on sets that were kept
apart."""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from training.network import Tagger, from_base

LABELS = ("NAME", "DATE", "STREET", "GEO", "ORG", "ID", "PHONE", "EMAIL", "URL", "AGE", "QUASI")
TAGS = 1 + 2 * len(LABELS)
IGNORED, PAD, CLS, SEP, MASK = 255, 0, 2, 3, 4
EPOCHS, TOKENS, RATE, HEAD_RATE, SMOOTHING, DROPOUT = 6, 12_288, 2e-4, 8e-4, 0.02, 0.1
LOWER, UPPER, LOWER_IDENTIFIERS, HIDDEN = 0.13, 0.09, 0.05, 0.06
UNLISTED = 0.12  # windows in which the lists are silent, and as many in which they do not know the identifiers
CAPITALS, CAPITAL = 0.08, 0.15  # windows in which other words get capitals, and how many of them
BIASES = (0.0, 1.0, 2.0, 3.0)  # taken from the score of "outside" when decoding
# How often a set is seen in an epoch: real text is scarce and says what the made text cannot.
TIMES = {"wnut17": 2, "btc": 2, "wikigold": 2, "tab": 3, "presidio_synth": 2}


class Windows:
    """The encoded windows, each found by its number."""

    def __init__(self, folder: Path) -> None:
        with np.load(folder / "windows.npz") as stored:
            self.ids, self.kinds, self.tags = stored["ids"], stored["kinds"], stored["tags"]
            self.lengths, self.dev = stored["lengths"].astype(np.int64), stored["dev"]
            self.sources = stored["names"][stored["sources"]]
        self.starts = np.concatenate([[0], np.cumsum(self.lengths)[:-1]])

    def batch(self, numbers: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[Any]]:
        """The windows padded to one length, with their opening and closing marks."""
        longest = int(self.lengths[numbers].max()) + 2
        ids = np.full((len(numbers), longest), PAD, dtype=np.int64)
        kinds, tags = np.zeros_like(ids), np.full_like(ids, -100)
        mask = np.zeros(ids.shape, dtype=bool)
        for row, number in enumerate(numbers):
            start, length = self.starts[number], self.lengths[number]
            ids[row, 0], ids[row, length + 1] = CLS, SEP
            ids[row, 1 : length + 1] = self.ids[start : start + length]
            kinds[row, 1 : length + 1] = self.kinds[start : start + length]
            held = self.tags[start : start + length].astype(np.int64)
            tags[row, 1 : length + 1] = np.where(held == IGNORED, -100, held)
            mask[row, : length + 2] = True
        return {"ids": ids, "kinds": kinds, "tags": tags, "mask": mask}


def altered(batch: dict[str, npt.NDArray[Any]], chance: np.random.Generator) -> dict[str, npt.NDArray[Any]]:
    """The batch with some windows in another case and some pieces of identifiers hidden."""
    kinds, ids = batch["kinds"].copy(), batch["ids"].copy()
    shape, gap, known = kinds % 24 // 3, kinds % 3, kinds // 24
    pick = chance.random((len(kinds), 1))
    identifier = batch["tags"] > 0
    small = (pick < LOWER) | ((pick >= 1 - LOWER_IDENTIFIERS) & identifier)
    large = (pick >= LOWER) & (pick < LOWER + UPPER)
    cased = (shape >= 1) & (shape <= 5)
    shape = np.where(small & cased, 1, shape)
    # A single letter would become an initial; most that are letters alone are initials already.
    shape = np.where(large & cased & (shape != 4), 3, shape)
    # A capital alone says little: headings and brands have them too. Later pieces of a word follow the first.
    raised = (chance.random(kinds.shape) < CAPITAL) & (gap != 2)
    for at in range(1, kinds.shape[1]):
        raised[:, at] |= raised[:, at - 1] & (gap[:, at] == 2) & (shape[:, at] == 1)
    decked = (pick >= 0.3) & (pick < 0.3 + CAPITALS) & (batch["tags"] == 0)
    shape = np.where(decked & raised & (shape == 1), 2, shape)
    ids[identifier & (chance.random(ids.shape) < HIDDEN)] = MASK
    # In some windows no list knows any word, in others none knows the identifiers: many names are in no list.
    known = np.where((pick * 7 % 1 < UNLISTED) | ((pick * 7 % 1 > 1 - UNLISTED) & identifier), 0, known)
    made = known * 24 + shape * 3 + gap
    return {**batch, "kinds": np.where(batch["mask"] & (batch["ids"] > SEP), made, kinds), "ids": ids}


def batches(
    windows: Windows, numbers: npt.NDArray[np.int64], chance: np.random.Generator | None
) -> Iterator[npt.NDArray[np.int64]]:
    """Numbers of windows of about one length, together no more than `TOKENS` pieces."""
    noise = chance.integers(0, 24, len(numbers)) if chance is not None else np.zeros(len(numbers), dtype=np.int64)
    ordered = numbers[np.argsort(windows.lengths[numbers] + noise, kind="stable")]
    groups, group, longest = [], [], 0
    for number in ordered:
        longest = max(longest, int(windows.lengths[number]) + 2)
        if group and longest * (len(group) + 1) > TOKENS:
            groups.append(np.array(group))
            group, longest = [], int(windows.lengths[number]) + 2
        group.append(number)
    groups.append(np.array(group))
    yield from (groups if chance is None else [groups[i] for i in chance.permutation(len(groups))])


def score(model: Tagger, windows: Windows, numbers: npt.NDArray[np.int64], device: str) -> dict[str, Any]:
    """Per set: share of identifier pieces left standing and of others taken, at every bias, and misses by label."""
    found: dict[str, Any] = {}
    model.eval()
    for source in sorted(set(windows.sources[numbers])):
        own = numbers[windows.sources[numbers] == source]
        missed, taken = np.zeros(len(BIASES)), np.zeros(len(BIASES))
        by_label = np.zeros((len(LABELS), 2))
        held = free = 0
        for group in batches(windows, own, None):
            batch = windows.batch(group)
            with torch.no_grad(), torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
                logits = (
                    model(*(torch.from_numpy(batch[part]).to(device) for part in ("ids", "kinds", "mask")))
                    .float()
                    .cpu()
                    .numpy()
                )
            gold = batch["tags"]
            identifier, other = gold > 0, gold == 0
            held, free = held + int(identifier.sum()), free + int(other.sum())
            for i, bias in enumerate(BIASES):
                logits[..., 0] -= bias if i == 0 else bias - BIASES[i - 1]
                said = logits.argmax(-1)
                missed[i] += int((said[identifier] == 0).sum())
                taken[i] += int((said[other] > 0).sum())
                if i == 0:
                    label = (gold[identifier] - 1) // 2
                    by_label[:, 0] += np.bincount(label[said[identifier] == 0], minlength=len(LABELS))
                    by_label[:, 1] += np.bincount(label, minlength=len(LABELS))
        found[str(source)] = {
            "pieces": held,
            "missed": [round(float(one) / max(held, 1), 5) for one in missed],
            "taken": [round(float(one) / max(free, 1), 5) for one in taken],
            "missed_by_label": {name: [int(a), int(b)] for name, (a, b) in zip(LABELS, by_label, strict=True) if b},
        }
    return found


def main() -> None:
    """Train one model and score it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoded", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--layers", default="0,2,4")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--part", type=float, default=1.0, help="share of the windows, for a quick try")
    parser.add_argument("-o", "--output", type=Path, required=True)
    asked = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(asked.seed)
    chance = np.random.default_rng(asked.seed)
    windows = Windows(asked.encoded)
    with np.load(asked.encoded / "base.npz") as stored:
        model = from_base(dict(stored), [int(one) for one in asked.layers.split(",")], TAGS).to(device)
    unseen = np.isin(windows.sources, asked.without)
    # A fiftieth of the made text is kept too, to see that it saturates.
    dev = windows.dev | unseen | ((np.arange(len(windows.dev)) % 50 == 7) & ~np.isin(windows.sources, list(TIMES)))
    train = np.flatnonzero(~dev)
    train = np.concatenate(
        [train, *(np.repeat(train[windows.sources[train] == name], times - 1) for name, times in TIMES.items())]
    )
    train = train[chance.random(len(train)) < asked.part]
    head = [p for name, p in model.named_parameters() if name.startswith("head")]
    rest = [p for name, p in model.named_parameters() if not name.startswith("head")]
    optimiser = torch.optim.AdamW([{"params": rest, "lr": RATE}, {"params": head, "lr": HEAD_RATE}], weight_decay=0.01)
    steps = asked.epochs * sum(1 for _ in batches(windows, train, chance))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min((step + 1) / (0.06 * steps), max(0.0, (steps - step) / (0.94 * steps)))
    )
    began, step = time.time(), 0
    for epoch in range(asked.epochs):
        model.train()
        total, seen = 0.0, 0
        for group in batches(windows, train, chance):
            batch = altered(windows.batch(group), chance)
            ids, kinds, mask, tags = (
                torch.from_numpy(batch[part]).to(device, non_blocking=True) for part in ("ids", "kinds", "mask", "tags")
            )
            with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
                logits = model(ids, kinds, mask, DROPOUT)
            loss = functional.cross_entropy(
                logits.float().view(-1, TAGS), tags.view(-1), ignore_index=-100, label_smoothing=SMOOTHING
            )
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            step += 1
            if step % 20 == 0:
                total, seen = total + float(loss.detach()), seen + 1
        print(
            f"epoch {epoch + 1}: loss {total / max(seen, 1):.4f}, {step} steps, {time.time() - began:.0f} s", flush=True
        )
    asked.output.mkdir(parents=True, exist_ok=True)
    state = {name: value.cpu().numpy() for name, value in model.state_dict().items() if name not in ("pieces", "scale")}
    if not all(math.isfinite(float(np.abs(value).max())) for value in state.values()):
        raise SystemExit("training diverged")
    np.savez(
        asked.output / "weights.npz",
        allow_pickle=False,
        **{name: value.astype(np.float16) for name, value in state.items()},
    )
    scores = score(model, windows, np.flatnonzero(dev), device)
    report = {
        "seed": asked.seed,
        "layers": asked.layers,
        "without": asked.without,
        "epochs": asked.epochs,
        "biases": BIASES,
        "sets": scores,
    }
    (asked.output / "dev.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    for name, one in scores.items():
        print(f"{name:16} {one['pieces']:>7} missed {one['missed']} taken {one['taken']}")


if __name__ == "__main__":
    main()
