"""A JSON Schema document as a tree of nodes: pointers, `$id` scopes, anchors, references.

A `Node` is one place of the document, or its negation; there is one object per place, so that nodes
compare by identity and lowering can remember what it did for them.  References never leave the
document: nothing is fetched.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from structag.errors import LimitError, SchemaError, UnsupportedError
from structag.limits import Limits

_DRAFTS = {"draft-03": 4, "draft-04": 4, "draft-06": 6, "draft-07": 7, "2019-09": 8, "2020-12": 9}
LATEST = 9
_SUBSCHEMAS = (
    "additionalItems", "additionalProperties", "contains", "else", "if", "items", "not",
    "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties", "contentSchema",
)  # fmt: skip
_SUBSCHEMA_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
_SUBSCHEMA_MAPS = (
    "$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties",
)  # fmt: skip


class Node:
    """A place in a schema document, or (`negative`) the complement of the schema there."""

    __slots__ = ("_children", "_negation", "depth", "is_made", "negative", "parent", "resource",
                 "token", "value")  # fmt: skip

    def __init__(
        self, value: Any, parent: Node | None, token: str, resource: Resource, depth: int
    ) -> None:
        self.value = value
        self.parent = parent
        self.token = token
        self.resource = resource
        self.depth = depth
        self.negative = False
        self.is_made = False  # true: it does not stand in the document
        self._children: dict[str, Node] | None = None
        self._negation: Node | None = None

    @property
    def pointer(self) -> str:
        """The JSON Pointer of this place."""
        tokens: list[str] = []
        node: Node | None = self
        while node is not None and node.parent is not None:
            tokens.append("/" + node.token.replace("~", "~0").replace("/", "~1"))
            node = node.parent
        return (node.token if node is not None else "") + "".join(reversed(tokens))

    @property
    def negation(self) -> Node:
        """The node for the values that this one does not allow."""
        if self._negation is None:
            twin = Node(self.value, self.parent, self.token, self.resource, self.depth)
            twin.negative = not self.negative
            twin.is_made = self.is_made
            twin._children = self._children = {} if self._children is None else self._children
            twin._negation = self
            self._negation = twin
        return self._negation

    def child(self, token: str | int, value: Any) -> Node:
        """The node of a member or item of this place; `value` is what stands there."""
        token = str(token)
        children = self._children
        if children is None:
            children = self._children = {}
        node = children.get(token)
        if node is None or node.value is not value:
            resource = self.resource
            if type(value) is dict and ("$id" in value or "id" in value):
                resource = resource.enter(value)
            node = children[token] = Node(value, self, token, resource, self.depth + 1)
            if resource is not self.resource:
                resource.root = node
            if node.depth > resource.document.limits.max_nesting:
                raise _nesting_error(node)
        return node

    def known(self, token: str) -> Node | None:
        """The child made before under `token`."""
        return None if self._children is None else self._children.get(token)

    def below(self, keyword: str, token: str | int) -> Node:
        """The subschema under ``keyword/token``."""
        container = self.value[keyword]
        return self.child(keyword, container).child(token, container[token])


class Resource:
    """A schema with an identifier of its own; fragments of references start from its root."""

    __slots__ = ("document", "draft", "root", "uri")

    def __init__(self, document: Document, uri: str, draft: int) -> None:
        self.document = document
        self.uri = uri
        self.draft = draft
        self.root: Node | None = None

    def enter(self, value: dict[str, Any]) -> Resource:
        """The resource that a subschema `value` belongs to: a new one if it has an identifier."""
        draft = _draft(value, self.draft)
        identifier = value.get("$id") if draft > 4 else value.get("id")
        if not isinstance(identifier, str) or identifier.startswith("#"):
            return self
        if draft < 8 and "$ref" in value:
            return self
        return Resource(self.document, _absolute(self.uri, identifier), draft)


class Document:
    """One schema document.  `prefix` is put before every pointer."""

    def __init__(self, schema: Any, limits: Limits, prefix: str = "") -> None:
        self.limits = limits
        draft = _draft(schema, LATEST)
        resource = Resource(self, "", draft)
        if type(schema) is dict:
            resource = resource.enter(schema)
        self.root = resource.root = Node(schema, None, prefix, resource, 0)
        self.false = Node(False, self.root, "", resource, 0)
        self._names: dict[str, Node] | None = None
        self._dynamic: dict[str, int] = {}
        self._keys: set[str] | None = None

    def resolve(self, node: Node, reference: str, keyword: str = "$ref") -> Node:
        """The node that a reference in `node` means.

        Raises:
            SchemaError: `schema-reference`, nothing in this document has that address.
        """
        root = node.resource.root
        assert root is not None
        if reference == "#":
            return root
        if reference.startswith("#/"):
            return self._walk(root, reference[1:], node, reference, keyword)
        uri, fragment = urldefrag(_absolute(node.resource.uri, reference))
        names = self._index()
        target = root if uri == node.resource.uri else names.get(uri)
        if target is not None and fragment.startswith("/"):
            return self._walk(target, fragment, node, reference, keyword)
        if target is not None and fragment:
            target = names.get(f"{uri}#{unquote(fragment)}")
        if target is None:
            raise self._unresolved(node, reference, keyword)
        return target

    def is_static(self, reference: str) -> bool:
        """Whether a dynamic reference can only mean one place."""
        self._index()
        return self._dynamic.get(unquote(reference.partition("#")[2]), 0) <= 1

    def mentions(self, *keys: str) -> bool:
        """Whether any of `keys` is a member name anywhere in the document."""
        if self._keys is None:
            found: set[str] = set()
            seen: set[int] = set()  # a Python value may hold one object in many places
            todo: list[Any] = [self.root.value]
            while todo:
                value = todo.pop()
                if not isinstance(value, dict | list) or id(value) in seen:
                    continue
                seen.add(id(value))
                if isinstance(value, dict):
                    found.update(value)
                    todo += value.values()
                else:
                    todo += value
            self._keys = found
        return any(key in self._keys for key in keys)

    def _walk(self, start: Node, path: str, node: Node, reference: str, keyword: str) -> Node:
        place = start
        for part in path.split("/")[1:]:
            token = unquote(part).replace("~1", "/").replace("~0", "~")
            value = place.value
            if isinstance(value, dict) and token in value:
                place = place.child(token, value[token])
            elif isinstance(value, list) and token.isdecimal() and int(token) < len(value):
                place = place.child(token, value[int(token)])
            else:
                raise self._unresolved(node, reference, keyword)
        return place

    def _unresolved(self, node: Node, reference: str, keyword: str) -> SchemaError:
        return SchemaError(
            f"`{reference[:60]}` refers to nothing in this document",
            code="schema-reference",
            pointer=f"{node.pointer}/{keyword}",
            expected="a pointer, anchor or `$id` of the same document",
        )

    def _index(self) -> dict[str, Node]:
        """Every identifier and anchor of the document."""
        if self._names is not None:
            return self._names
        names: dict[str, Node] = {}
        todo = [self.root]
        seen: set[int] = set()
        while todo:
            node = todo.pop()
            value, resource = node.value, node.resource
            if type(value) is not dict or id(value) in seen:
                continue
            seen.add(id(value))
            if resource.root is node:
                names.setdefault(resource.uri, node)
            for key in ("$anchor", "$dynamicAnchor", "$id", "id"):
                anchor = value.get(key)
                if isinstance(anchor, str) and (key[-1] == "r" or anchor.startswith("#")):
                    names.setdefault(f"{resource.uri}#{anchor.lstrip('#')}", node)
                    if key == "$dynamicAnchor":
                        self._dynamic[anchor] = self._dynamic.get(anchor, 0) + 1
            for key in _SUBSCHEMAS:
                if isinstance(value.get(key), dict):
                    todo.append(node.child(key, value[key]))
            for key in _SUBSCHEMA_LISTS:
                if isinstance(value.get(key), list):
                    todo += [node.below(key, i) for i in range(len(value[key]))]
            for key in _SUBSCHEMA_MAPS:
                if isinstance(value.get(key), dict):
                    todo += [node.below(key, name) for name in value[key]]
        self._names = names
        return names


def unsupported(node: Node, keyword: str, reason: str, hint: str | None = None) -> UnsupportedError:
    """The refusal of a keyword that cannot be enforced; an empty one stands for the schema."""
    return UnsupportedError(
        f"`{keyword}`: {reason}" if keyword else reason,
        code="schema-keyword",
        pointer=f"{node.pointer}/{keyword}" if keyword else node.pointer,
        hint=hint,
    )


def wrong_value(node: Node, keyword: str, expected: str) -> SchemaError:
    """The refusal of a keyword whose value the standard does not allow."""
    got = str(node.value[keyword])
    return SchemaError(
        f"`{keyword}` is `{got[:57] + '...' if len(got) > 60 else got}`",
        code="schema-value",
        pointer=f"{node.pointer}/{keyword}",
        expected=expected,
    )


def _absolute(base: str, reference: str) -> str:
    try:
        joined = urljoin(base, reference)
    except ValueError:
        return reference
    if base and joined == reference and ":" not in reference and not reference.startswith("#"):
        return reference
    if reference.startswith("#") and not joined.startswith(base):
        return base + reference  # `urljoin` does not know the scheme, say `urn:`
    return joined


def _draft(schema: Any, default: int) -> int:
    if type(schema) is dict:
        uri = schema.get("$schema")
        if isinstance(uri, str):
            for name, draft in _DRAFTS.items():
                if name in uri:
                    return draft
    return default


def _nesting_error(node: Node) -> LimitError:
    value = node.resource.document.limits.max_nesting
    return LimitError(
        f"the schema is nested deeper than {value} levels",
        limit="nesting",
        value=value,
        setting="max_nesting",
        code="nesting-limit",
        pointer=node.pointer[:200],
    )
