"""Whatever compiled code writes is what Python code writes, and nothing passes that Python code would have looked at."""

from __future__ import annotations

from marshal import dumps
from typing import Any

import pytest
from compiled_support import KEYS, PIECES, WRITTEN, File, check
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_values_properties import values
from toolbreak import _optional, _secrets
from toolbreak._masking import Masking, _replace, _secret
from toolbreak._values import Settings

pytestmark = pytest.mark.skipif(_optional.Cursor is None, reason="the compiled part is not built")

quiet = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))

texts = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
keys = st.sampled_from(KEYS)
NAMES = sorted(
    {
        *_secrets.ANYWHERE,
        *_secrets.LAST,
        *_secrets.TOKENS_BEFORE,
        *_secrets.KEY_BEFORE,
        *_secrets.PASS_BEFORE,
        *_secrets.ABOUT,
    }
)
likely = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.integers(-40000, 40000) | st.floats() | texts,
    lambda part: st.lists(part, max_size=5) | st.dictionaries(keys, part, max_size=5) | st.tuples(part, part),
    max_leaves=25,
)


@quiet
@given(likely)
def test_whatever_is_written_is_what_python_code_writes(tmp_path_factory: Any, value: Any) -> None:
    check(tmp_path_factory.getbasetemp(), value)


@quiet
@given(values)
def test_and_so_it_is_with_any_value(tmp_path_factory: Any, value: Any) -> None:
    check(tmp_path_factory.getbasetemp(), value)


names = st.lists(
    st.sampled_from([*PIECES, *NAMES, " ", ".", ":", "Key", "KEYS", "Value", "count", "max", "tokens", "\u212a", "ſ"]),
    max_size=6,
).map("".join)


@quiet
@given(names, texts)
def test_no_pair_passes_whose_first_text_names_a_secret(tmp_path_factory: Any, name: str, text: str) -> None:
    folder = tmp_path_factory.getbasetemp()
    for value in ([name, text], (name, text), [[name, text], (text, name)]):
        check(folder, value)
        file = File(folder / "pair.spool")
        done = file.put(Settings(seconds=60.0).rules, (9, value))
        written = file.payload() if done == WRITTEN else None
        file.segment.close()
        assert written is None or written == dumps((9, Settings(seconds=60.0).encode(value)), 2)


@quiet
@given(texts)
def test_no_text_passes_that_would_be_looked_at(tmp_path_factory: Any, text: str) -> None:
    file = File(tmp_path_factory.getbasetemp() / "text.spool")
    done = file.put(Settings(seconds=60.0).rules, (9, text))
    file.segment.close()
    if done == WRITTEN and len(text) > 7:
        assert _secret().sub(_replace, text) == text == Masking().text(text)
