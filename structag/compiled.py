"""A unified grammar, compiled for one vocabulary: what matchers share.

`bind_grammar` makes one of a `Grammar`, wherever that comes from; `structag.compiler` lowers
sources, `structag.artefact` reads what was saved.  Nothing here is cached.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from structag._core import Engine, Module, make_engine
from structag.errors import GrammarError, VocabularyError
from structag.grammar.bind import bind_vocabulary
from structag.grammar.expressions import Grammar, Literal, Scan
from structag.grammar.fingerprint import fingerprint
from structag.grammar.fragments import Note, Parts
from structag.grammar.origins import keep_outer_marks
from structag.grammar.pack import pack_modular, pack_with_marks
from structag.grammar.simplify import simplify_grammar
from structag.limits import Limits
from structag.vocabulary import Vocabulary

if TYPE_CHECKING:
    import os

    from rich.tree import Tree

    from structag.schema.report import Report
    from structag.text.rules import GrammarWarning


class CompiledGrammar:
    """A grammar compiled for one vocabulary; immutable to its users, shared by matchers.

    Attributes:
        grammar: the unified grammar as lowered, marks included.
        vocabulary: what it was compiled for.
        native: the core's form, for `structag.matcher`.
        warnings: what a grammar text probably did not mean; empty for other sources.
        labels: where its parts come from, by number; empty without `Compiler.origins`.
        parts: what it was put together of, see `stats`.
    """

    def __init__(
        self,
        grammar: Grammar,
        vocabulary: Vocabulary,
        native: Engine,
        notes: Sequence[Note] = (),
        report: Report | None = None,
        labels: tuple[str, ...] = (),
    ) -> None:
        self.grammar = grammar
        self.vocabulary = vocabulary
        self.native = native
        self.warnings: tuple[GrammarWarning, ...] = ()
        self.labels = labels
        self.parts = Parts(0, 0)
        self._notes = notes
        self._report = report

    @property
    def report(self) -> Report:
        """What became of every keyword of the JSON Schemas in the source: see `Report`."""
        from structag.schema.report import Report

        report = self._report
        if report is None:  # made twice at worst, if threads ask at once
            report = self._report = Report.of(self._notes)
        return report

    @cached_property
    def mirrored_strings(self) -> list[bytes]:
        """The fixed strings of the grammar, backwards and sorted: equal ends stand together."""
        found: set[bytes] = set()
        for node in self.grammar.nodes:
            if isinstance(node, Literal):
                found.add(node.data[::-1])
            elif isinstance(node, Scan):
                found.update(trigger[::-1] for trigger, _ in node.cases)
        return sorted(found)

    @property
    def fingerprint(self) -> str:
        """A name for the language by its structure, the same in every process."""
        return fingerprint(self.grammar)

    def ebnf(self) -> str:
        """The grammar as EBNF, for people to read; what it may derive, not where it comes from."""
        from structag.grammar.show import show_ebnf

        return show_ebnf(self.grammar)

    def tree(self) -> Tree:
        """The grammar as a tree for the terminal (`rich`); rules are opened once."""
        from structag.grammar.show import show_tree

        return show_tree(self.grammar)

    def railroad(self) -> str:
        """The grammar as railroad diagrams, one for each definition of `ebnf`: an SVG image."""
        from structag.grammar.railroad import draw_railroad

        return draw_railroad(self.grammar)

    def convert(self, to: str, *, plain_markers: bool = False) -> str:
        """The grammar as a text that can be read back: ``ebnf``, ``gbnf``, ``lark`` or ``regex``.

        Args:
            to: the notation.
            plain_markers: write markers as strings, which control tokens then do not spell.

        Raises:
            UnsupportedError: `notation`, the notation has no words for a part of the grammar.
        """
        from structag.text.grammar_text import write_grammar_text

        return write_grammar_text(self.grammar, to, plain_markers=plain_markers)

    @property
    def stats(self) -> dict[str, int]:
        """Counts of the newest generation in the core, and of what the grammar shares.

        - `expressions`, `states`, `masks`; `generations` that were started; `memory_bytes`.
        - `summaries` of units that masks asked for; of those `summaries_built` had to be made, and
          `summaries_reused` were known from other grammars or places; `exits`, where tokens go on
          that leave a unit, had to be found.
        - `nodes` of the vocabulary's tries that were walked for masks.
        - `structure_apart`: expressions, if each part that is compiled by itself (the schema of a
          tool, the patterns in it) had its own; `structure_distinct`: how many different ones.
          What is missing is shared.
        - `structure_met`: expressions of all parts, at the time of compiling; of those
          `structure_found` were in the compiler's cache.  0 for grammars that were loaded.

        Generations that older matchers still use are not in it.
        """
        return {**self.native.stats(), **self._structure}

    @cached_property
    def _structure(self) -> dict[str, int]:
        apart, distinct = self.grammar.native.structure()
        return {
            "structure_apart": apart,
            "structure_distinct": distinct,
            "structure_met": self.parts.met,
            "structure_found": self.parts.found,
        }

    @property
    def counts(self) -> dict[str, int]:
        """How large the grammar is, as lowered: see `structag.grammar.properties.count_nodes`."""
        from structag.grammar.properties import count_nodes

        return count_nodes(self.grammar)

    @property
    def memory_bytes(self) -> int:
        """Bytes held now; grows while matchers discover states, up to `Limits.max_memory_bytes`.

        The unified grammar counts too.
        """
        return self.native.memory_bytes + self.grammar.native.memory_bytes

    def to_bytes(self) -> bytes:
        """The grammar as an artefact, which `structag.load` reads; see `save`."""
        from structag.artefact import write_artefact

        return write_artefact(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the grammar to a file that `structag.load` reads in any process.

        The file holds the grammar as lowered, its report and warnings, and the fingerprint of the
        vocabulary; states and masks are found again as matchers need them.
        """
        Path(path).write_bytes(self.to_bytes())

    def __reduce__(self) -> tuple[Any, ...]:
        # The vocabulary goes along, once for all grammars of a pickle.
        from structag.artefact import load

        return load, (self.to_bytes(), self.vocabulary)


def bind_grammar(
    grammar: Grammar,
    vocabulary: Vocabulary,
    limits: Limits,
    notes: Sequence[Note] = (),
    report: Report | None = None,
    *,
    origins: bool = False,
) -> CompiledGrammar:
    """Compile a unified grammar for a vocabulary: resolve its markers, simplify it, hand it over.

    With `origins` the core keeps the marks of the grammar: see `Compiler`.

    Raises:
        GrammarError: `grammar-empty`, or an expression where it may not be.
        VocabularyError: `vocabulary-spelling`.
        LimitError: a limit was reached.
    """
    bound = bind_vocabulary(grammar, vocabulary.control_tokens, vocabulary.added_tokens)
    labels: tuple[str, ...] = ()
    modules: list[Module] = []
    if origins:
        program, text, labels = pack_with_marks(simplify_grammar(keep_outer_marks(bound)))
    else:
        program, text, modules = pack_modular(simplify_grammar(bound))
    native = make_engine(
        vocabulary.native,
        program,
        text,
        limits.max_work,
        limits.max_memory_bytes,
        limits.max_expressions,
        modules,
        max_generation_bytes=limits.max_generation_bytes,
    )
    if native.is_empty:
        raise GrammarError(
            "no output can match",
            code="grammar-empty",
            hint="look for parts that exclude each other",
        )
    if native.looks_ahead and not native.is_spellable():
        missing = sorted(set(native.needed_bytes) & vocabulary.missing_bytes)
        raise VocabularyError(
            "the vocabulary cannot spell any output: it has no token for the bytes "
            + ", ".join(f"0x{b:02X}" for b in missing[:8]),
            code="vocabulary-spelling",
            hint="use a vocabulary with byte tokens",
        )
    return CompiledGrammar(grammar, vocabulary, native, notes, report, labels)
