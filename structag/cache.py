"""A cache that counts bytes and forgets what was not used for longest."""

from __future__ import annotations

import marshal
import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from itertools import islice
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")

_KEPT_BYTES = 300  # of Python's own objects for each entry
_ROUND = 8  # puts between two rounds of measuring, and values that each round measures twice over


class Cache(Generic[Value]):
    """Values by key, at most `max_bytes` of them; any number of threads may use one.

    Values may grow while they are kept, if `grows`: every eighth `put` then measures sixteen of the
    others anew, so that its cost does not depend on how many there are: eight that were used last,
    which probably grew since, and eight in turn.  By ones and twos it would take far longer: what
    was not touched for a while lies in slow memory.

    Args:
        max_bytes: how much the values and keys may take; a value that is larger is not kept.
        measure: the bytes of a value; called under the cache's lock.
        grows: whether a value's bytes may change.
    """

    def __init__(
        self, max_bytes: int, measure: Callable[[Value], int], *, grows: bool = True
    ) -> None:
        self._grows = grows
        self._max_bytes = max_bytes
        self._measure = measure
        self._kept: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        self._puts = 0
        self._unmeasured: list[Hashable] = []  # keys whose turn is still to come
        self._bytes = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def memory_bytes(self) -> int:
        """Bytes held, as far as they were measured."""
        return self._bytes

    def get(self, key: Hashable) -> Value | None:
        """The value of `key`, if it is still known."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def get_all(self, keys: Iterable[Hashable]) -> list[Value | None]:
        """What `get` says of each key."""
        with self._lock:
            found = []
            for key in keys:
                entry = self._kept.get(key)
                if entry is not None:
                    self._kept.move_to_end(key)
                found.append(None if entry is None else entry[0])
            return found

    def put(self, key: Hashable, value: Value) -> None:
        """Keep `value`, unless there is one for `key`."""
        with self._lock:
            if key in self._kept or not self._set(key, value):
                return
            self._puts += 1
            if self._grows and self._puts % _ROUND == 0:
                self._measure_others()
            while self._bytes > self._max_bytes:
                _, (_, size) = self._kept.popitem(last=False)
                self._bytes -= size

    def clear(self) -> None:
        """Forget all values; those in use live on with their users."""
        with self._lock:
            self._kept.clear()
            self._unmeasured.clear()
            self._bytes = 0

    def _measure_others(self) -> None:
        if len(self._unmeasured) < _ROUND:
            self._unmeasured = list(self._kept)
        latest = list(islice(reversed(self._kept), _ROUND))
        in_turn = [self._unmeasured.pop() for _ in range(min(_ROUND, len(self._unmeasured)))]
        for key in (*latest, *in_turn):
            if key in self._kept:
                self._set(key, self._kept[key][0])

    def _set(self, key: Hashable, value: Value) -> bool:
        size = self._measure(value) + _KEPT_BYTES + _text_bytes(key)
        known = self._kept.get(key)
        if known is None and size > self._max_bytes:
            return False
        self._bytes += size - (0 if known is None else known[1])
        self._kept[key] = (value, size)
        return True


_WITHOUT_REFERENCES = 2
"""The version of marshal's format in which equal values have equal bytes."""


def content_key(value: Any) -> bytes | None:
    """Bytes that only equal JSON values have, members in the same order; None: there are none.

    Much cheaper than JSON text.  Equal values may have several if they hold exact decimals.
    """
    try:
        return marshal.dumps(value, _WITHOUT_REFERENCES)
    except ValueError:  # exact decimals, or too deep
        pass
    try:
        return b"." + pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except Exception:  # whatever a stranger's object raises
        return None


def content_copy(value: Any) -> bytes | None:
    """Bytes of which `value_of_copy` makes a JSON value like this one; None: there are none.

    What the value holds in several places, the copy holds in several places too.
    """
    try:
        return marshal.dumps(value)
    except ValueError:
        return content_key(value)


def value_of_copy(copy: bytes) -> Any:
    """The value that `content_copy` was given."""
    return value_of_key(copy)


def value_of_key(key: bytes) -> Any:
    """A copy of the value that a key was made of, which nobody else can change."""
    return pickle.loads(key[1:]) if key.startswith(b".") else marshal.loads(key)


def _text_bytes(key: Hashable) -> int:
    parts = key if isinstance(key, tuple) else (key,)
    return sum(len(part) for part in parts if isinstance(part, str | bytes))
