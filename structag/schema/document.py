"""A JSON Schema document as a tree of nodes: pointers, `$id` scopes, anchors, references.

A `Node` is one place of the document, or its negation; there is one object per place, so that nodes
compare by identity and lowering can remember what it did for them.  References lead into the
document, into those of a registry and into the standard's own meta-schemas; nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from structag.errors import LimitError, SchemaError, UnsupportedError, nesting_error
from structag.limits import Limits
from structag.pointer import escaped, unescaped
from structag.schema.keywords import SCHEMA_LISTS, SCHEMA_MAPS, SINGLE_SCHEMAS

_DRAFTS = {"draft-03": 4, "draft-04": 4, "draft-06": 6, "draft-07": 7, "2019-09": 8, "2020-12": 9}
LATEST = 9


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
            tokens.append("/" + escaped(node.token))
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
            node.is_made = self.is_made
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
        draft = draft_of(value, self.draft)
        identifier = value.get("$id") if draft > 4 else value.get("id")
        if not isinstance(identifier, str) or identifier.startswith("#"):
            return self
        if draft < 8 and "$ref" in value:
            return self
        return Resource(self.document, _absolute(self.uri, identifier), draft)


class Document:
    """One schema document.  `prefix` is put before every pointer.

    `registry` has other documents, parsed, by their URIs; the pointers into one begin with its URI.
    """

    def __init__(
        self,
        schema: Any,
        limits: Limits,
        prefix: str = "",
        registry: Mapping[str, Any] | None = None,
    ) -> None:
        self.limits = limits
        self.registry = registry or {}
        draft = draft_of(schema)
        resource = Resource(self, "", draft)
        if type(schema) is dict:
            resource = resource.enter(schema)
        self.root = resource.root = Node(schema, None, prefix, resource, 0)
        self.false = Node(False, self.root, "", resource, 0)
        self._names: dict[str, Node] | None = None
        self._dynamic: dict[str, list[Node]] = {}
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
        target = root if uri == node.resource.uri else names.get(uri) or self._load(uri, names)
        if target is not None and fragment.startswith("/"):
            return self._walk(target, fragment, node, reference, keyword)
        if target is not None and fragment:
            target = names.get(f"{uri}#{unquote(fragment)}")
        if target is None:
            raise self._unresolved(node, reference, keyword)
        return target

    def resolve_dynamic(self, node: Node, reference: str, keyword: str) -> Node | None:
        """The node that a dynamic or recursive reference means; None if that depends on the path.

        The schema resource of the root is the outermost on every path: if it has the anchor, the
        reference means that one wherever it stands.

        Raises:
            SchemaError: `schema-reference`.
        """
        self._index()
        target = self.resolve(node, reference, keyword)
        value = target.value if type(target.value) is dict else {}
        if keyword == "$recursiveRef":
            if value.get("$recursiveAnchor") is not True:
                return target
            anchor = ""
        else:
            anchor = unquote(reference.partition("#")[2])
            if value.get("$dynamicAnchor") != anchor:
                return target
        places = self._dynamic[anchor]
        for place in places:
            if place.resource is self.root.resource:
                return place
        return target if len(places) == 1 and not self.registry else None

    def mentions(self, *keys: str) -> bool:
        """Whether any of `keys` is a member name anywhere in the document."""
        if self._keys is None:
            found: set[str] = set()
            seen: set[int] = set()  # a Python value may hold one object in many places
            todo: list[Any] = [self.root.value, *self.registry.values()]
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
            token = unescaped(unquote(part))
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
            f"`{reference[:60]}` refers to nothing that is known",
            code="schema-reference",
            pointer=f"{node.pointer}/{keyword}",
            expected="a pointer, anchor or `$id` of this document, or a document of the registry",
        )

    def _index(self) -> dict[str, Node]:
        """Every identifier and anchor of the document."""
        if self._names is not None:
            return self._names
        names: dict[str, Node] = {}
        self._names = names
        self._add_names(self.root, names)
        return names

    def _load(self, uri: str, names: dict[str, Node]) -> Node | None:
        """The root of another document: one of the registry, or a meta-schema."""
        value = self.registry.get(uri, self.registry.get(uri + "#"))
        if value is None:
            value = _meta_schema(uri)
        if value is None:
            return None
        draft = draft_of(value, self.root.resource.draft)
        resource = Resource(self, uri, draft)
        if type(value) is dict:
            resource = resource.enter(value)
        root = resource.root = Node(value, None, uri + "#", resource, 0)
        names[uri] = root
        self._add_names(root, names)
        return root

    def _add_names(self, root: Node, names: dict[str, Node]) -> None:
        todo = [root]
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
                        self._dynamic.setdefault(anchor, []).append(node)
            if value.get("$recursiveAnchor") is True:
                self._dynamic.setdefault("", []).append(node)
            for key in SINGLE_SCHEMAS:
                if isinstance(value.get(key), dict):
                    todo.append(node.child(key, value[key]))
            for key in SCHEMA_LISTS:
                if isinstance(value.get(key), list):
                    todo += [node.below(key, i) for i in range(len(value[key]))]
            for key in SCHEMA_MAPS:
                if isinstance(value.get(key), dict):
                    todo += [node.below(key, name) for name in value[key]]


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


def _meta_schema(uri: str) -> Any:
    if "://json-schema.org/" not in uri:
        return None
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    found = REGISTRY.get(uri) or REGISTRY.get(uri + "#")
    return None if found is None else found.contents


def draft_of(schema: Any, default: int = LATEST) -> int:
    """The number of the draft that a schema names in `$schema`."""
    if type(schema) is dict:
        uri = schema.get("$schema")
        if isinstance(uri, str):
            for name, draft in _DRAFTS.items():
                if name in uri:
                    return draft
    return default


def _nesting_error(node: Node) -> LimitError:
    value = node.resource.document.limits.max_nesting
    return nesting_error(
        f"the schema is nested deeper than {value} levels",
        value,
        pointer=node.pointer[:200],
    )
