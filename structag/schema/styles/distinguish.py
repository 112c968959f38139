"""Tells the types of a value apart where the style does not say its type.

The text ``42`` may be the string or the number if a schema admits both.  Readers try JSON first: a
text that spells JSON of a type that the schema admits is that value, any other is a string.  So a
string must not look like a value of another admitted type, unless every value of that type is
admitted, and then either reading is valid.
"""

from __future__ import annotations

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Ref
from structag.schema.facts import ANY, ARRAYS, NUMBERS, OBJECTS, Forms, joined
from structag.schema.numbers import Numbers


def distinguish(builder: GrammarBuilder, forms: Forms, *, is_nested: bool) -> Forms:
    """`forms` without the strings that would be read as something else.

    `is_nested`: arrays and objects are elements, not JSON, so that only nothing at all can be
    mistaken; it is an array, else an object, else a string.
    """
    if forms is ANY or not forms.strings:
        return _distinguish_objects(forms) if is_nested else forms
    looks: list[Ref] = []
    if forms.booleans in (1, 2):
        looks.append(builder.alt(builder.literal(b"true"), builder.literal(b"false")))
    if _is_some(forms.numbers, ANY.numbers, forms.partial & NUMBERS):
        looks.append(Numbers(builder).number)
    if is_nested:
        if forms.arrays or forms.objects or forms.partial & (ARRAYS | OBJECTS):
            looks.append(builder.epsilon)
    else:
        if _is_some(forms.arrays, ANY.arrays, forms.partial & ARRAYS):
            looks.append(_between(builder, b"[", b"]"))
        if _is_some(forms.objects, ANY.objects, forms.partial & OBJECTS):
            looks.append(_between(builder, b"{", b"}"))
    if not looks:
        return forms
    space = builder.repeat(builder.bytes(b" \t\r\n"), 0)
    other = builder.complement(builder.seq(space, builder.alt(*looks), space))
    strings = tuple(
        fact._replace(patterns=joined(fact.patterns, (other,))) for fact in forms.strings
    )
    forms = forms._replace(strings=strings)
    return _distinguish_objects(forms) if is_nested else forms


def _distinguish_objects(forms: Forms) -> Forms:
    """Where arrays are admitted, no object without members."""
    if not forms.objects or not (forms.arrays or forms.partial & ARRAYS):
        return forms
    objects = tuple(fact._replace(low=max(fact.low, 1)) for fact in forms.objects)
    return forms._replace(objects=objects)


def _is_some(facts: tuple[object, ...], every: tuple[object, ...], is_partial: int) -> bool:
    """Whether the schema has some values of the type, but not all."""
    return bool(is_partial) or (bool(facts) and facts != every)


def _between(builder: GrammarBuilder, opener: bytes, closer: bytes) -> Ref:
    return builder.seq(builder.literal(opener), builder.any_text, builder.literal(closer))
