"""structag: exact and fast structured output for language models.

One format description (a structural tag, a JSON Schema, a regular expression or a grammar) becomes
one grammar, is compiled for one vocabulary, and tells at each decoding step which tokens may come
next.  Importing this package loads neither torch nor transformers.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

try:
    from structag.artefact import load
except ModuleNotFoundError as error:
    if error.name != "structag._core":
        raise
    raise ImportError(
        "these are structag's sources, without its compiled core: install it with `pip install .` "
        "and run Python in another folder, or use `pip install -e .`"
    ) from None
from structag.batch import BatchMatcher, BatchResult
from structag.bitmask import (
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
    reset_token_bitmask,
)
from structag.compiled import CompiledGrammar
from structag.compiler import Compiler, Counters
from structag.deadline import Deadline
from structag.errors import (
    DeadlineError,
    FormatError,
    GrammarError,
    GrammarSyntaxError,
    LimitError,
    MatcherError,
    SchemaError,
    StructagError,
    UnsupportedError,
    VocabularyError,
)
from structag.grammar.builder import GrammarBuilder
from structag.limits import Limits
from structag.matcher import Matcher
from structag.vocabulary import TokenKind, Vocabulary

if TYPE_CHECKING:
    from structag.device_masks import DeviceMaskPool
    from structag.near_miss import NearMiss, near_misses
    from structag.openai import model_format, model_formats, register_model_format
    from structag.sample import Sample, Sampler
    from structag.tags.model import StructuralTag
    from structag.tags.published import structural_tag_schema

__version__ = "0.1.0"

__all__ = [
    "BatchMatcher",
    "BatchResult",
    "CompiledGrammar",
    "Compiler",
    "Counters",
    "Deadline",
    "DeadlineError",
    "DeviceMaskPool",
    "FormatError",
    "GrammarBuilder",
    "GrammarError",
    "GrammarSyntaxError",
    "LimitError",
    "Limits",
    "Matcher",
    "MatcherError",
    "NearMiss",
    "Sample",
    "Sampler",
    "SchemaError",
    "StructagError",
    "StructuralTag",
    "TokenKind",
    "UnsupportedError",
    "Vocabulary",
    "VocabularyError",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "load",
    "model_format",
    "model_formats",
    "near_misses",
    "register_model_format",
    "reset_token_bitmask",
    "structural_tag_schema",
]

# Pydantic and torch, which most of these need, take longer to import than everything else together.
_LAZY = {
    "DeviceMaskPool": "structag.device_masks",
    "NearMiss": "structag.near_miss",
    "Sample": "structag.sample",
    "Sampler": "structag.sample",
    "StructuralTag": "structag.tags.model",
    "model_format": "structag.openai",
    "model_formats": "structag.openai",
    "near_misses": "structag.near_miss",
    "register_model_format": "structag.openai",
    "structural_tag_schema": "structag.tags.published",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'structag' has no attribute {name!r}")
