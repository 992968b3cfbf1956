"""Token classifiers of transformers as detectors, on tiny models made here whose answers are known by construction."""

from __future__ import annotations

import pickle
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from workup.documents.document import Span
from workup.errors import InputError, MissingExtra, SystemFailure
from workup.systems.any.huggingface import HuggingFaceTagger
from workup.testing import check_system

REASON = "the huggingface extra (torch, transformers) is not installed"
torch = pytest.importorskip("torch", reason=REASON)
transformers = pytest.importorskip("transformers", reason=REASON)

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors  # noqa: E402

pytestmark = pytest.mark.usefixtures("no_network")

LABELS = ["O", "B-NAME", "I-NAME", "B-DATE"]
MEANS = {"rose": 1, "##lyn": 2, "lee": 2, "monday": 3}  # what each word is to the model; all others are outside
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *MEANS, "saw", "him", "on", ",", "."]


def wordpieces() -> Any:
    """A lower-casing tokenizer with the words above."""
    tokenizer = Tokenizer(models.WordPiece({word: i for i, word in enumerate(VOCABULARY)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]"
    )


def known(folder: Path, *, positions: int = 12, blind: int | None = None, labels: list[str] = LABELS) -> str:
    """A BERT without layers: each word is looked up and classified as MEANS says.

    At the position `blind` of a window it sees nothing, as a model sees little of the context there.
    """
    config = transformers.BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=8,
        num_hidden_layers=0,
        num_attention_heads=1,
        intermediate_size=8,
        max_position_embeddings=positions,
        id2label=dict(enumerate(labels)),
        label2id={label: i for i, label in enumerate(labels)},
    )
    model = transformers.BertForTokenClassification(config)
    with torch.no_grad():
        embeddings = model.bert.embeddings
        for layer in (embeddings.word_embeddings, embeddings.position_embeddings, embeddings.token_type_embeddings):
            layer.weight.zero_()
        for i, word in enumerate(VOCABULARY):
            embeddings.word_embeddings.weight[i, MEANS.get(word, 0)] = 1.0
        if blind is not None:
            embeddings.position_embeddings.weight[blind, 0] = 9.0
        model.classifier.weight.copy_(8 * torch.eye(8)[: len(labels)])
        model.classifier.bias.zero_()
    model.save_pretrained(folder / "model")
    wordpieces().save_pretrained(folder / "model")
    return "model"


def opened(base: Path, **settings: Any) -> HuggingFaceTagger:
    return HuggingFaceTagger(**{"name": "tagger", "base": base, "model": "model", **settings})


def said(system: HuggingFaceTagger, text: str) -> list[tuple[int, int, str]]:
    (spans,) = system.detect([text])
    return [(span.start, span.end, span.label) for span in spans or ()]


def test_spans_stand_at_their_code_points(tmp_path: Path) -> None:
    known(tmp_path)
    system = opened(tmp_path)
    text = "😀 Roselyn Lee saw him\non Monday."
    assert said(system, text) == [(2, 13, "NAME"), (25, 31, "DATE")]
    assert [text[start:end] for start, end, _ in said(system, text)] == ["Roselyn Lee", "Monday"]
    assert system.emits == ("DATE", "NAME") and system.mapping is None and (system.window, system.overlap) == (12, 2)
    (spans,) = system.detect([text])
    assert spans is not None and all(0.5 < (span.score or 0) < 1 for span in spans)
    assert said(system, "Rose Ünlü") == [(0, 4, "NAME")] and said(system, " \n ") == [] and system.detect([]) == []


def test_texts_longer_than_the_window(tmp_path: Path) -> None:
    """Of two windows that hold a token, the one that shows more around it is believed."""
    known(tmp_path, blind=1)  # the first word of every window is not seen
    text = "saw " + "him rose lee , monday on . " * 30
    expected = [(i, i + 8, "NAME") for i in range(8, len(text), 27)] + [
        (i, i + 6, "DATE") for i in range(19, len(text), 27)
    ]
    for window, overlap in ((12, 2), (12, 9), (7, 3), (12, None), (5, 2)):
        system = opened(tmp_path, window=window, overlap=overlap)
        assert said(system, text) == sorted(expected), (window, overlap)
    # Without any overlap, words at the start of a window are lost, as the model loses them.
    assert len(said(opened(tmp_path, window=12, overlap=0), text)) < len(expected)
    assert said(opened(tmp_path), "rose lee") == [(5, 8, "NAME")]  # nor is the first word of a text seen


def test_a_name_over_the_edge_of_a_window_is_one_span(tmp_path: Path) -> None:
    known(tmp_path)
    for before in range(12):
        text = "saw " * before + "rose lee" + " him" * 12
        for overlap in (0, 1, 4):
            assert said(opened(tmp_path, window=8, overlap=overlap), text) == [(4 * before, 4 * before + 8, "NAME")]


def test_it_agrees_with_the_pipeline_of_transformers(tmp_path: Path) -> None:
    """Random weights with two layers, short texts: the same spans and scores as transformers' own aggregation."""
    torch.manual_seed(3)
    config = transformers.BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=64,
        initializer_range=1.0,
        id2label=dict(enumerate(LABELS)),
        label2id={label: i for i, label in enumerate(LABELS)},
    )
    transformers.BertForTokenClassification(config).save_pretrained(tmp_path / "model")
    wordpieces().save_pretrained(tmp_path / "model")
    text = "Roselyn saw rose lee , him on monday . Lee saw roselyn on monday , rose"
    seen = 0
    for aggregation in ("simple", "first", "average", "max"):
        system = opened(tmp_path, aggregation=aggregation)
        pipeline = transformers.pipeline(
            "token-classification",
            model=system._model,
            tokenizer=system._tokenizer,
            aggregation_strategy=aggregation,
            device="cpu",
        )
        theirs = [(one["start"], one["end"], one["entity_group"], float(one["score"])) for one in pipeline(text)]
        ours = [(span.start, span.end, span.label, span.score) for span in system.detect([text])[0] or ()]
        assert [one[:3] for one in ours] == [one[:3] for one in theirs]
        assert [one[3] for one in ours] == pytest.approx([one[3] for one in theirs], abs=1e-5)
        seen += len(ours)
    assert seen > 8


def test_byte_level_pieces_and_positions_behind_the_padding(tmp_path: Path) -> None:
    """RoBERTa's kind: blanks belong to words, an emoji is four tokens, and 18 positions hold 16 tokens."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {word: i for i, word in enumerate(["<s>", "<pad>", "</s>", "<unk>", *letters])}
    tokenizer = Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=False)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", pad_token="<pad>", cls_token="<s>", sep_token="</s>"
    )
    config = transformers.RobertaConfig(
        vocab_size=len(vocabulary),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        max_position_embeddings=18,
        pad_token_id=1,
        id2label={0: "O", 1: "PATIENT"},
        label2id={"O": 0, "PATIENT": 1},
    )
    model = transformers.RobertaForTokenClassification(config)
    with torch.no_grad():
        model.classifier.weight.zero_()
        model.classifier.bias.copy_(torch.tensor([0.0, 3.0]))  # everything is the patient
    model.save_pretrained(tmp_path / "model")
    fast.save_pretrained(tmp_path / "model")
    system = opened(tmp_path)
    assert (system.window, system.emits) == (16, ("PATIENT",))
    text = "  😀é Rose\n" * 9
    assert said(system, text) == [(2, len(text) - 1, "PATIENT")]
    with pytest.raises(InputError, match="'window' must be a whole number of tokens from 4 to 16; got 17"):
        opened(tmp_path, window=17)


def test_it_conforms(tmp_path: Path) -> None:
    known(tmp_path, positions=16)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_system(opened(tmp_path), task="spans", texts=["Rose Lee saw him on Monday.", "Nobody saw.", "Rose " * 40])


def test_version_settings_and_travel(tmp_path: Path) -> None:
    known(tmp_path)
    system = opened(tmp_path, aggregation="max", threshold=0.2, mapping="vulpes")
    assert system.version.startswith("bert sha256:") and f"torch {torch.__version__}" in system.version
    assert system.version.endswith("aggregation=max window=12 overlap=2 threshold=0.2")
    assert system.mapping == "vulpes"
    sent = pickle.dumps(system)
    assert len(sent) < 2000 and said(pickle.loads(sent), "Rose") == [(0, 4, "NAME")]
    known(tmp_path, blind=2)
    assert opened(tmp_path, aggregation="max", threshold=0.2).version.split()[1] != system.version.split()[1]
    assert said(opened(tmp_path, threshold=1.0), "saw Rose Lee") == []


def test_threads_are_put_back(tmp_path: Path) -> None:
    known(tmp_path)
    before = torch.get_num_threads()
    opened(tmp_path, threads=1).detect(["Rose"])
    assert torch.get_num_threads() == before


def test_a_crash_is_told_without_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known(tmp_path)
    system = opened(tmp_path)
    read = system._read

    def crashes(text: str) -> Any:
        if "Lee" in text:
            raise RuntimeError(f"CUDA out of memory while reading {text}")
        return read(text)

    monkeypatch.setattr(system, "_read", crashes)
    with pytest.raises(
        SystemFailure, match=r"text 2 of 2 in its batch: the detector failed \(RuntimeError at"
    ) as failed:
        system.detect(["Rose", "Rose Lee"])
    assert "Lee" not in str(failed.value)
    monkeypatch.setattr(system, "on_error", "refuse")
    assert [answer is None for answer in system.detect(["Rose", "Rose Lee"])] == [False, True]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "dslim/bert-base-NER"}, "must be a folder with a config.json.*add allow_download: true"),
        ({"aggregation": "none"}, "'aggregation' must be one of first, average, max, simple; got 'none'"),
        ({"threshold": 2}, "'threshold' must be a number from 0 to 1"),
        ({"threads": 0}, "'threads' must be at least 1"),
        ({"window": 3}, "'window' must be a whole number of tokens from 4 to 12; got 3"),
        ({"window": 13}, "from 4 to 12; got 13"),
        ({"overlap": 10}, "'overlap' must be a whole number from 0 to 9, less than the window; got 10"),
        ({"overlap": -1}, "'overlap' must be"),
        ({"on_error": "skip"}, "'on_error' must be fail or refuse"),
    ],
)
def test_settings_that_teach(tmp_path: Path, settings: dict[str, Any], message: str) -> None:
    known(tmp_path)
    with pytest.raises(InputError, match=message):
        opened(tmp_path, **settings)


def test_models_that_cannot_be_used(tmp_path: Path) -> None:
    known(tmp_path, labels=["LABEL_0", "LABEL_1", "LABEL_2", "LABEL_3"])
    with pytest.raises(InputError, match="must have a label 'O'"):
        opened(tmp_path)
    (tmp_path / "model" / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(SystemFailure, match="the model could not be loaded"):
        opened(tmp_path)


def test_pickled_weights_need_trust(tmp_path: Path) -> None:
    known(tmp_path)
    model = transformers.BertForTokenClassification.from_pretrained(tmp_path / "model")
    (tmp_path / "model" / "model.safetensors").unlink()
    torch.save(model.state_dict(), tmp_path / "model" / "pytorch_model.bin")
    with pytest.raises(SystemFailure, match="read only with trust: true"):
        opened(tmp_path)
    assert said(opened(tmp_path, trust=True), "Rose") == [(0, 4, "NAME")]


def test_loading_draws_no_bars(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    known(tmp_path)
    capfd.readouterr()
    opened(tmp_path).detect(["Rose Lee saw him"])
    assert capfd.readouterr() == ("", "")


def test_a_missing_library_names_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known(tmp_path)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"'\.\[huggingface\]'"):
        opened(tmp_path)


def test_one_finding_per_place(tmp_path: Path) -> None:
    known(tmp_path)
    spans = opened(tmp_path).detect(["rose " * 50])[0]
    assert spans == sorted(set(spans or ()), key=lambda span: span.start) and len(spans) == 50
    assert isinstance(spans[0], Span)
