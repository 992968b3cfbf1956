"""How long the lexicon takes for a note of 1,500 characters: both engines against looking every run of words up.

The notes are made of the written sentences of the tests among plain ones, shuffled by a fixed seed, with about as many
terms as real notes have (27 in 1,500 characters of MTSamples). All sides answer the same question
in one run; times are CPU seconds, the least of several repeats. The calibration line says how fast this machine is now.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable

from tests.support.marked_sentences import SENTENCES
from workup.errors import MissingExtra
from workup.lexicon import Extractor
from workup.lexicon.extractor import _shipped
from workup.lexicon.words import cut

SEED = 20261115
LENGTH = 1_500
TARGET_MS = 0.2
LONGEST = 8
PLAIN = (
    "The patient was seen in the clinic today and all questions were answered before she went home.",
    "He will return in about two weeks, or earlier if there is any change in how he feels.",
    "Risks, benefits and alternatives were discussed with the family, and they agreed to go on as planned.",
    "No other concerns were raised during the visit, and the plan was reviewed again at the end.",
)


def notes(count: int) -> list[str]:
    """Notes of the length asked for, each its own shuffle of the sentences."""
    draw = random.Random(SEED)
    texts = [text for text, _ in SENTENCES] + [*PLAIN] * 15
    return [" ".join(draw.sample(texts, len(texts)))[:LENGTH] for _ in range(count)]


def every_run(text: str) -> int:
    """The plain way: every run of up to eight words looked up, the longest first; how many are surfaces."""
    words, known, found, place = cut(text).words, _shipped().folded, 0, 0
    while place < len(words):
        for length in range(min(LONGEST, len(words) - place), 0, -1):
            if " ".join(words[place : place + length]) in known:
                found += 1
                place += length - 1
                break
        place += 1
    return found


def least_ms(work: Callable[[str], object], texts: list[str], repeats: int) -> float:
    """CPU milliseconds per note of the fastest repeat."""
    best = float("inf")
    for _ in range(repeats):
        begun = time.process_time()
        for text in texts:
            work(text)
        best = min(best, time.process_time() - begun)
    return 1000 * best / len(texts)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--notes", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=15)
    asked = parser.parse_args()
    begun = time.process_time()
    tokens = Extractor.load()
    print(f"load: {time.process_time() - begun:.3f} s for {len(tokens):,} surfaces (target below 0.3 s)")
    texts = notes(asked.notes)
    hits = sum(len(tokens.extract(text)) for text in texts) / len(texts)
    print(f"notes: {len(texts)} of {LENGTH} characters, {hits:.1f} terms each")
    step = least_ms(lambda text: sum(place * place for place in range(1000)), texts[:20], asked.repeats)
    print(f"calibration: {step * 1000:.0f} us for a loop of 1,000 steps (about 30 us on a quiet core)")
    sides: dict[str, Callable[[str], object]] = {"tokens": tokens.extract}
    try:
        begun = time.process_time()
        automaton = Extractor.load(engine="ahocorasick")
        print(f"the automaton is built in {time.process_time() - begun:.3f} s more")
        sides["ahocorasick"] = automaton.extract
    except MissingExtra as error:
        print(error)
    sides["every run of words"] = every_run
    times = {name: least_ms(work, texts, asked.repeats) for name, work in sides.items()}
    for name, taken in times.items():
        print(f"{name:20s} {taken:.3f} ms per note, {taken / times['tokens']:.2f} times the engine 'tokens'")
    print(f"target below {TARGET_MS} ms: {'met' if times['tokens'] < TARGET_MS else 'missed'}")


if __name__ == "__main__":
    main()
