"""`structag.cache`: what is kept, what is forgotten, and that growth is noticed."""

from __future__ import annotations

from structag.cache import Cache


def test_the_least_recently_used_value_is_forgotten() -> None:
    cache: Cache[bytearray] = Cache(3_000, len)
    for key in ("a", "b", "c"):
        cache.put(key, bytearray(600))
    assert cache.get("a") is not None
    cache.put("d", bytearray(600))

    assert cache.get("b") is None
    assert all(cache.get(key) is not None for key in ("a", "c", "d"))
    assert cache.memory_bytes <= 3_000


def test_a_value_over_the_limit_is_not_kept() -> None:
    cache: Cache[bytearray] = Cache(1_000, len)
    cache.put("a", bytearray(10))
    cache.put("b", bytearray(2_000))
    nothing: Cache[bytearray] = Cache(0, len)
    nothing.put("a", bytearray(1))

    assert cache.get("a") is not None
    assert cache.get("b") is None
    assert nothing.get("a") is None


def test_the_key_counts() -> None:
    cache: Cache[bytearray] = Cache(1_000, len)
    cache.put(("text", "x" * 2_000), bytearray(1))

    assert len(cache) == 0


def test_values_that_grow_are_measured_again() -> None:
    cache: Cache[bytearray] = Cache(10_000, len)
    values = {key: bytearray(10) for key in range(8)}
    for key, value in values.items():
        cache.put(key, value)
    for value in values.values():
        value.extend(bytes(3_000))
    for key in range(100, 130):
        cache.put(key, bytearray(1))

    assert cache.memory_bytes <= 10_000
    assert sum(cache.get(key) is not None for key in values) <= 3


def test_values_that_were_used_last_are_measured_soon() -> None:
    cache: Cache[bytearray] = Cache(100_000, len)
    for key in range(50):
        value = bytearray(10)
        cache.put(key, value)
        value.extend(bytes(1_000))
    for key in range(100, 107):
        cache.put(key, bytearray(10))

    assert cache.memory_bytes >= 50 * 1_000


def test_clear_forgets_all() -> None:
    cache: Cache[bytearray] = Cache(10_000, len)
    cache.put("a", bytearray(10))
    cache.clear()

    assert len(cache) == cache.memory_bytes == 0


def test_values_that_cannot_grow_are_measured_once() -> None:
    measured: list[int] = []

    def measure(value: bytearray) -> int:
        measured.append(len(value))
        return len(value)

    cache: Cache[bytearray] = Cache(10_000, measure, grows=False)
    for key in range(5):
        cache.put(key, bytearray(key))

    assert measured == [0, 1, 2, 3, 4]
