"""Arguments as Python writes them: ``city="Paris", days=3, tags=['a'], dry=True``.

The names are keywords of the call, so they must be Python's own kind of names.  Values are
literals: strings in either quote, lists, dictionaries, numbers as in JSON, ``None``, ``False`` and
``True``; or, in ``pythonic_json``, JSON.  The parentheses belong to the call.  Sources: Meta's
prompt formats for Llama 3.2 and 4, the model cards of LFM2 and Olmo 3.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from keyword import kwlist

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Ref
from structag.limits import Limits
from structag.schema.document import Document
from structag.schema.facts import Goal, ObjectFacts
from structag.schema.lower import Lowering
from structag.schema.notation import JsonNotation
from structag.schema.objects import inside
from structag.schema.options import SchemaOptions
from structag.schema.strings import Quoting, quoted
from structag.schema.styles.names import refused

RESERVED = (*kwlist, "__debug__")
_QUOTINGS = (Quoting("python_double", b'"'), Quoting("python_single", b"'"))


class PythonNotation(JsonNotation):
    """Python literals."""

    def __init__(self, builder: GrammarBuilder, options: SchemaOptions) -> None:
        super().__init__(builder, options)
        self.null = builder.literal(b"None")
        self.false, self.true = builder.literal(b"False"), builder.literal(b"True")

    def string(self, text: Ref) -> Ref:
        builder = self.builder
        return builder.alt(*(quoted(builder, text, quoting) for quoting in _QUOTINGS))

    def name(self, name: str) -> Ref:
        return self.string(self.builder.literal(name.encode()))

    def distinct_string(self, text: Ref) -> Ref | None:
        return None


NOTATIONS: Mapping[str, Callable[[GrammarBuilder, SchemaOptions], JsonNotation]] = {
    "pythonic": PythonNotation,
    "pythonic_json": JsonNotation,
}
"""The styles of this family, and how they write values."""


class KeywordArguments:
    """The arguments of a call as keyword arguments: a `MemberStyle`."""

    def __init__(
        self,
        document: Document,
        builder: GrammarBuilder,
        options: SchemaOptions,
        limits: Limits,
        style: str,
    ) -> None:
        self.builder = builder
        self.options = options
        notation = NOTATIONS[style](builder, options)
        self._values = Lowering(document, builder, options, limits, notation)
        self.expander = self._values.expander
        self.comma = notation.comma
        self._document = document
        self._equals = builder.literal(b"=")
        letter = [(0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)]
        some = builder.seq(
            builder.chars(letter), builder.repeat(builder.chars([*letter, (0x30, 0x39)]), 0)
        )
        reserved = builder.alt(*(builder.literal(word.encode()) for word in RESERVED))
        self._free_names = builder.both(some, builder.complement(reserved))

    left_out = "undeclared arguments have names in ASCII"

    def arguments(self, facts: tuple[ObjectFacts, ...]) -> Ref:
        """All arguments, between the parentheses."""
        return self.builder.alt(*(inside(self, fact) for fact in facts))

    def finished(self, ref: Ref) -> Ref:
        return self._values.finished(ref)

    def member(self, name: str, goal: Goal) -> Ref:
        """One argument with a fixed name."""
        value = self._values.value(goal)
        if value == self.builder.empty:
            return value
        # Python reads a name in its compatibility form, so any other would come out changed.
        is_own = name.isidentifier() and name == unicodedata.normalize("NFKC", name)
        if not is_own or name in RESERVED:
            raise refused(self._document, name, goal, "is no name for a Python argument")
        return self.builder.seq(self.builder.literal(name.encode()), self._equals, value)

    def free_member(self, keys: Ref, goal: Goal) -> Ref:
        """One argument with a name out of `keys`, in ASCII."""
        builder, names = self.builder, self._free_names
        name = names if keys == builder.any_text else builder.both(keys, names)
        return builder.seq(name, self._equals, self._values.value(goal))

    def distinct_member(self, keys: Ref, goal: Goal) -> Ref | None:
        """Such arguments with names that differ."""
        builder = self.builder
        name = builder.distinct(None, builder.both(keys, self._free_names))
        return builder.seq(name, self._equals, self._values.value(goal))
