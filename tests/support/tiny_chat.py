"""A tiny chat model, randomly initialised and saved whole: it writes nonsense, and the same nonsense every time."""

from __future__ import annotations

from pathlib import Path

import pytest

REASON = "the huggingface extra (torch, transformers) is not installed"
TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|> {{ message['content'] }} <|end|> {% endfor %}"
    "{% if add_generation_prompt %}<|assistant|> {% endif %}"
)
WORDS = ["you", "take", "warfarin", "5", "mg", "rest", "water", "and", "walk", "daily", "i", "am", "well", "what", "."]


def save_tiny_chat(folder: Path, *, window: int = 512, template: str | None = TEMPLATE, seed: int = 5) -> Path:
    """A Llama of two small layers over a few words, with its tokenizer and chat template."""
    torch = pytest.importorskip("torch", reason=REASON)
    transformers = pytest.importorskip("transformers", reason=REASON)
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    special = ["<pad>", "<unk>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]
    vocabulary = {word: place for place, word in enumerate([*special, *WORDS])}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    words.normalizer = normalizers.Lowercase()
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=words,
        unk_token="<unk>",
        pad_token="<pad>",
        eos_token="<|end|>",
        additional_special_tokens=special[3:],
        chat_template=template,
        model_max_length=window,
    )
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=window,
        pad_token_id=0,
        bos_token_id=2,
        eos_token_id=2,
        initializer_range=0.6,
    )
    model = transformers.LlamaForCausalLM(config)
    model.generation_config.eos_token_id = 2
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
