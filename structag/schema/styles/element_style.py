"""What an element style is made of: the texts around names and values, as data.

`structag.schema.styles.known` has the styles by name; `structag.schema.styles.elements`
lowers them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

NAME = "{name}"
KINDS = ("null", "boolean", "number", "string", "array", "object")
"""The JSON types, as `ElementStyle.types` names them."""


@dataclass(frozen=True, slots=True)
class ElementStyle:
    """One element for each argument: ``before`` NAME ``after`` TYPE VALUE ``closer`` ``behind``.

    A string is written raw, every other value as JSON; or, if `item` is set, arrays and objects as
    elements inside the element.

    Attributes:
        before: what comes before the name.
        after: what comes behind the name: any one of these.
        closer: what ends the value; ``{name}`` in it stands for the name again.
        behind: what comes after the closer: any one of these.
        types: the mark that says the type of the value, for each of `KINDS`; None: the type is not
            said, and a text that can be read as JSON of a type that the schema admits is that.
        stop: what the value may not hold; the closer if None.
        not_in_names: characters that no name may hold, besides control characters.
        entities: how single characters are written in names that the schema declares; other names
            may not hold them.
        is_wrapped: a line break after the opening and one before the closer, which do not belong to
            the value, come both or not at all.
        nothing: what stands where there are no arguments: any one of these.
        item: begins an item of an array, whose value has its type said like any other.
        item_closer: ends an item.
    """

    before: str
    after: tuple[str, ...]
    closer: str
    behind: tuple[str, ...] = ("", "\n")
    types: Mapping[str, str] | None = None
    stop: str | None = None
    not_in_names: str = '<>"'
    entities: Mapping[str, str] = field(default_factory=dict)
    is_wrapped: bool = False
    nothing: tuple[str, ...] = ("",)
    item: str | None = None
    item_closer: str = ""

    @property
    def stops(self) -> str:
        """What no value may hold."""
        return self.closer if self.stop is None else self.stop
