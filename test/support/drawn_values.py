"""Values by chance, given to a tool that is recorded, and compared with what the recording says of them.

`drawn_values.py FILE COUNT` draws them, calls the tool and keeps them in FILE; `drawn_values.py --compare FILE TEXTS` evaluates the texts that were
copied from the recording, a JSON list, and prints those that are not what was drawn. The same values every time; others with TOOLBREAK_FUZZ_SEED=random.
"""

from __future__ import annotations

import json
import os
import pickle
import re
import sys
from typing import Any


def tool(number: int, value: Any) -> Any:
    return value


def draw(count: int) -> list[Any]:
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import strategies as st

    # Two halves of a character that stand side by side as two are shown as the one character: no other program can tell them apart.
    halves = re.compile("[\ud800-\udbff][\udc00-\udfff]")
    # Hypothesis likes to draw words of the sources, and some of these are names of secrets, as texts or bytes, whose values are masked.
    words = re.compile("pass|pwd|secret|token|key|credential|auth|cookie|jwt|bearer", re.IGNORECASE)

    def octets(most: int) -> st.SearchStrategy[bytes]:
        return st.binary(max_size=most).filter(lambda drawn: not words.search(drawn.decode("latin-1")))

    letters = st.text(
        st.characters(categories=["L", "M", "N", "P", "S", "Z", "Cc", "Cf", "Co", "Cs"]), max_size=30
    ).filter(lambda text: not halves.search(text) and not words.search(text))
    leaves = (
        st.none()
        | st.booleans()
        | st.integers()
        | st.integers(-(2**200), 2**200)
        | st.floats()
        | st.sampled_from([-0.0, float("nan"), float("-inf"), 5e-324, 1e16, 1e22, 123456789012345680.0])
        | st.complex_numbers()
        | letters
        | octets(40)
        | st.builds(bytearray, octets(10))
        | st.just(...)
    )
    keys = (
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | letters
        | octets(8)
        | st.tuples(st.integers(), letters)
        | st.frozensets(st.integers(), max_size=3)
    )
    values = st.recursive(
        leaves | st.sets(keys.filter(lambda key: key == key), max_size=5),
        lambda part: (
            st.lists(part, max_size=6)
            | st.dictionaries(keys, part, max_size=6)
            | st.builds(tuple, st.lists(part, max_size=4))
            | st.frozensets(st.integers() | letters, max_size=4)
        ),
        max_leaves=25,
    )
    drawn: list[Any] = []
    derandomize = os.environ.get("TOOLBREAK_FUZZ_SEED") != "random"

    @settings(
        max_examples=count,
        derandomize=derandomize,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(values)
    def take(value: Any) -> None:
        drawn.append(value)

    take()
    return drawn


def same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if type(one) in (float, complex):
        return repr(one) == repr(other)
    if type(one) in (list, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if type(one) is dict:
        return len(one) == len(other) and all(map(same, one.items(), other.items()))
    return bool(one == other)


def differences(drawn: list[Any], texts: list[str]) -> list[str]:
    found: list[str] = []
    for value, text in zip(drawn, texts):
        try:
            # Written by this test's own recording, of values that it drew.
            read = eval(
                text,
                {"__builtins__": {}},
                {"float": float, "complex": complex, "set": set, "frozenset": frozenset, "bytearray": bytearray},
            )
        except Exception as error:
            found.append(f"{value!r:.300} is {text[:300]}, which is no Python: {error}")
            continue
        if not same(value, read):
            found.append(f"{value!r:.300} is {text[:300]}")
    return found


if __name__ == "__main__":
    if sys.argv[1] == "--compare":
        with open(sys.argv[2], "rb") as file:
            kept = pickle.load(file)
        with open(sys.argv[3], encoding="utf-8", errors="surrogatepass") as file:
            print(json.dumps(differences(kept, json.load(file))))
    else:
        made = draw(int(sys.argv[2]))
        with open(sys.argv[1], "wb") as file:
            pickle.dump(made, file)
        for number, value in enumerate(made):
            tool(number, value)
