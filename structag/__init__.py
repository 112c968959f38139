"""structag: exact and fast structured output for language models.

One format description (a structural tag, a JSON Schema, a regular expression or a grammar) becomes
one grammar, is compiled for one vocabulary, and tells at each decoding step which tokens may come
next.

Importing this package imports nothing: each name brings its module when it is first used, and none
of them loads torch or transformers, except `DeviceMaskPool`, whose masks are torch's.
"""

TYPE_CHECKING = False  # as in `typing`, which takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Any

    from structag.artefact import load
    from structag.batch import BatchMatcher, BatchResult
    from structag.bitmask import (
        allocate_token_bitmask,
        apply_token_bitmask_inplace,
        reset_token_bitmask,
    )
    from structag.compiled import CompiledGrammar
    from structag.compiler import Compiler, Counters
    from structag.deadline import Deadline
    from structag.device_masks import DeviceMaskPool as DeviceMaskPool
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
    from structag.near_miss import NearMiss, near_misses
    from structag.openai import model_format, model_formats, register_model_format
    from structag.sample import Sample, Sampler
    from structag.tags.model import StructuralTag
    from structag.tags.published import structural_tag_schema
    from structag.vocabulary import TokenKind, Vocabulary

__version__ = "0.1.0"

# Without `DeviceMaskPool`: `import *` and `help` load what is listed, and torch may not be there.
__all__ = [
    "BatchMatcher",
    "BatchResult",
    "CompiledGrammar",
    "Compiler",
    "Counters",
    "Deadline",
    "DeadlineError",
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

_HOMES = {
    "BatchMatcher": "structag.batch",
    "BatchResult": "structag.batch",
    "CompiledGrammar": "structag.compiled",
    "Compiler": "structag.compiler",
    "Counters": "structag.compiler",
    "Deadline": "structag.deadline",
    "DeadlineError": "structag.errors",
    "DeviceMaskPool": "structag.device_masks",
    "FormatError": "structag.errors",
    "GrammarBuilder": "structag.grammar.builder",
    "GrammarError": "structag.errors",
    "GrammarSyntaxError": "structag.errors",
    "LimitError": "structag.errors",
    "Limits": "structag.limits",
    "Matcher": "structag.matcher",
    "MatcherError": "structag.errors",
    "NearMiss": "structag.near_miss",
    "Sample": "structag.sample",
    "Sampler": "structag.sample",
    "SchemaError": "structag.errors",
    "StructagError": "structag.errors",
    "StructuralTag": "structag.tags.model",
    "TokenKind": "structag.vocabulary",
    "UnsupportedError": "structag.errors",
    "Vocabulary": "structag.vocabulary",
    "VocabularyError": "structag.errors",
    "allocate_token_bitmask": "structag.bitmask",
    "apply_token_bitmask_inplace": "structag.bitmask",
    "load": "structag.artefact",
    "model_format": "structag.openai",
    "model_formats": "structag.openai",
    "near_misses": "structag.near_miss",
    "register_model_format": "structag.openai",
    "reset_token_bitmask": "structag.bitmask",
    "structural_tag_schema": "structag.tags.published",
}
"""Where each public name is defined."""


def _load_module(name: str) -> "Any":
    """A module of ours; an error that says so if only the sources are there."""
    from importlib import import_module

    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in ("structag._core", "structag.cli"):
            raise
        raise ImportError(
            "these are structag's sources, without its compiled core: install it with "
            "`pip install .` and run Python in another folder, or use `pip install -e .`"
        ) from None


if not TYPE_CHECKING:  # for type checkers there are the names above, and no others

    def __getattr__(name):
        if name not in _HOMES:
            raise AttributeError(f"module 'structag' has no attribute {name!r}")
        value = getattr(_load_module(_HOMES[name]), name)
        globals()[name] = value  # so that the next use costs nothing
        return value

    def __dir__():
        return sorted({*globals(), *__all__})
