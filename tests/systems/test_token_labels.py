"""From labels of tokens to spans, by hand: schemes of prefixes, pieces of words, blanks at the ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.errors import InputError
from workup.systems.spans.token_labels import AGGREGATIONS, TagScheme, Tokens, spans_of

TEXT = "Ann Lee saw Bo"
WORDS = [(0, 3), (4, 7), (8, 11), (12, 14)]


def found(labels: list[str], said: list[str], *, text: str = TEXT, offsets: list[tuple[int, int]] = WORDS) -> list[str]:
    """Spans of words that a model is fully sure of."""
    shares = np.eye(len(labels))[[labels.index(label) for label in said]]
    tokens = Tokens(tuple(offsets), tuple(range(len(offsets))), shares)
    spans = spans_of(tokens, text, scheme=TagScheme.of(labels), aggregation="first")
    assert all(span.score == 1.0 for span in spans)
    return [f"{span.label}:{text[span.start : span.end]}" for span in spans]


BIO = ["O", "B-NAME", "I-NAME", "B-DATE", "I-DATE"]
BILOU = ["O", "B-NAME", "I-NAME", "L-NAME", "U-NAME"]


@pytest.mark.parametrize(
    ("labels", "said", "spans"),
    [
        (BIO, ["B-NAME", "I-NAME", "O", "B-NAME"], ["NAME:Ann Lee", "NAME:Bo"]),
        (BIO, ["B-NAME", "B-NAME", "O", "O"], ["NAME:Ann", "NAME:Lee"]),
        (BIO, ["I-NAME", "I-NAME", "O", "I-NAME"], ["NAME:Ann Lee", "NAME:Bo"]),  # an inside without its begin
        (BIO, ["B-NAME", "I-DATE", "I-DATE", "O"], ["NAME:Ann", "DATE:Lee saw"]),
        (BIO, ["O", "O", "O", "O"], []),
        (BIO, ["B-NAME", "I-NAME", "I-NAME", "I-NAME"], ["NAME:Ann Lee saw Bo"]),
        (BILOU, ["B-NAME", "L-NAME", "I-NAME", "U-NAME"], ["NAME:Ann Lee", "NAME:saw", "NAME:Bo"]),
        (BILOU, ["U-NAME", "U-NAME", "O", "L-NAME"], ["NAME:Ann", "NAME:Lee", "NAME:Bo"]),
        (["O", "B-X", "I-X", "E-X", "S-X"], ["B-X", "I-X", "E-X", "E-X"], ["X:Ann Lee saw", "X:Bo"]),
        (
            ["PATIENT", "O", "DATE"],
            ["PATIENT", "PATIENT", "DATE", "PATIENT"],
            ["PATIENT:Ann Lee", "DATE:saw", "PATIENT:Bo"],
        ),
        # All must carry a prefix for one to be read: here E-MAIL is a type of its own.
        (["O", "E-MAIL", "NAME"], ["E-MAIL", "E-MAIL", "O", "NAME"], ["E-MAIL:Ann Lee", "NAME:Bo"]),
        (["O", "B-E-MAIL", "I-E-MAIL"], ["B-E-MAIL", "I-E-MAIL", "O", "O"], ["E-MAIL:Ann Lee"]),
        (["O", "B_NAME", "I_NAME"], ["B_NAME", "I_NAME", "O", "O"], ["NAME:Ann Lee"]),
    ],
)
def test_schemes(labels: list[str], said: list[str], spans: list[str]) -> None:
    assert found(labels, said) == spans


def test_blanks_at_the_ends_are_cut_and_a_blank_alone_is_no_span() -> None:
    with_blanks = [(0, 4), (3, 8), (7, 12), (11, 14)]
    assert found(BIO, ["B-NAME", "I-NAME", "O", "B-DATE"], offsets=with_blanks) == ["NAME:Ann Lee", "DATE:Bo"]
    assert found(BIO, ["O", "B-NAME"], text="a \n b", offsets=[(0, 1), (1, 4)]) == []


@pytest.mark.parametrize(
    ("aggregation", "label", "score"),
    [("first", "A", 0.5), ("average", "B", 0.45), ("max", "C", 0.8), ("simple", None, None)],
)
def test_pieces_of_a_word(aggregation: str, label: str | None, score: float | None) -> None:
    """Three pieces of one word that disagree, as a table by hand: columns O, A, B, C."""
    shares = np.array([[0.1, 0.5, 0.4, 0.0], [0.1, 0.0, 0.1, 0.8], [0.15, 0.0, 0.85, 0.0]])
    shares[2] = [0.15, 0.0, 0.75, 0.1]
    shares[1] = [0.0, 0.0, 0.2, 0.8]
    tokens = Tokens(((0, 1), (1, 2), (2, 4)), (0, 0, 0), shares)
    spans = spans_of(tokens, "abcd", scheme=TagScheme.of(["O", "A", "B", "C"]), aggregation=aggregation)  # type: ignore[arg-type]
    if label is None:
        assert [(span.start, span.end, span.label) for span in spans] == [(0, 1, "A"), (1, 2, "C"), (2, 4, "B")]
    else:
        (span,) = spans
        assert (span.start, span.end, span.label) == (0, 4, label) and span.score == pytest.approx(score)


def test_the_score_is_the_mean_over_words() -> None:
    shares = np.array([[0.1, 0.9, 0.0], [0.3, 0.0, 0.7]])
    tokens = Tokens(((0, 3), (4, 7)), (0, 1), shares)
    (span,) = spans_of(tokens, TEXT, scheme=TagScheme.of(["O", "B-N", "I-N"]), aggregation="max")
    assert span.score == pytest.approx(0.8)


def test_tokens_that_stand_for_nothing_are_left_out() -> None:
    shares = np.array([0.0, 1.0])
    tokens = Tokens.of([((0, 0), None, shares), ((0, 3), 0, shares), ((3, 3), 0, shares)])
    assert tokens.offsets == ((0, 3),) and tokens.probabilities.shape == (1, 2)
    assert spans_of(Tokens.of([]), "", scheme=TagScheme.of(["O", "X"]), aggregation="first") == []


@pytest.mark.parametrize("labels", [["A", "B"], ["O"], ["O", ""], ["LABEL_0", "LABEL_1"], []])
def test_a_model_must_be_able_to_say_nothing(labels: list[str]) -> None:
    with pytest.raises(InputError, match="m: the model must have a label 'O'"):
        TagScheme.of(labels, where="m")


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=20),
    st.sampled_from(AGGREGATIONS),
    st.integers(0, 2**32 - 1),
)
def test_spans_never_overlap_and_lie_on_tokens(pieces: list[tuple[int, int]], aggregation: str, seed: int) -> None:
    """Whatever a model says, spans come in order, apart, inside the text and with ends that tokens have."""
    lengths = [length for length, _ in pieces]
    ends = np.cumsum(lengths).tolist()
    words = np.cumsum([step for _, step in pieces]).tolist()
    text = "x" * ends[-1]
    shares = np.random.default_rng(seed).dirichlet(np.ones(len(BIO)), size=len(pieces))
    offsets = [(end - length, end) for end, length in zip(ends, lengths, strict=True)]
    tokens = Tokens.of(zip(offsets, words, shares, strict=True))
    spans = spans_of(tokens, text, scheme=TagScheme.of(BIO), aggregation=aggregation)  # type: ignore[arg-type]
    places = [place for span in spans for place in (span.start, span.end)]
    assert places == sorted(places) and all(span.start < span.end for span in spans)
    assert {span.start for span in spans} <= {start for start, _ in offsets}
    assert {span.end for span in spans} <= {end for _, end in offsets}
    assert all(span.score is not None and 1 / len(BIO) <= span.score <= 1 for span in spans)
