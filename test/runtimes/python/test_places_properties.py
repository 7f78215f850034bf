"""Places where a secret may begin, found by compiled code: what is masked with them is what the expression masks alone."""

from __future__ import annotations

import random
from typing import Any

import pytest
from compiled_support import PIECES
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_masking_properties import MORE, texts
from test_values_masking import SECRETS
from toolbreak import _masking, _optional
from toolbreak._masking import Masking, may_hold_secret

pytestmark = pytest.mark.skipif(_optional.secret_places is None, reason="the compiled part is not built")

expression: Any = _masking._secret()
NAMES = [
    *("openai_key", "huggingface-keys", "app_key", "passcode", "door_passcodes", "AWSKEY"),
    *("password", "passwd", "passphrases", "pwd", "api_keys", "apikey", "access-key", "private_key", "account_key"),
    *("client_secret", "secrets", "my_token", "next_token", "page-token", "a-b-token", "access_tokens", "csrf-tokens"),
    *("db_pass", "SMTPPASS", "userPass", "docker-pass", "pass", "low_pass", "compass", "mydbpass"),
    *("prompt_tokens", "credentials", "cookies", "Authorization", "set-cookie", "SIGNING_KEY", "id_tokens", "keys"),
    *("password_confirmation_production", "user_password_again_staging", "secret_value", "token_count", "pwd_test"),
]
FOLLOWING = [
    "",
    ">",
    ' a="b">',
    " >",
    "s",
    "_",
    '"',
    "'",
    '\\"',
    " ",
    "\t",
    "\u2003",
    "\x85",
    "=",
    ":",
    ",",
    " = ",
    " := ",
    '": "',
    "', '",
    "@",
    "é",
]
BEFORE = [
    "",
    "<",
    "<a:",
    "<_",
    "<a:_",
    "pg",
    "-",
    "--",
    "'--",
    '"-',
    "(b'",
    "['",
    "_",
    "x",
    "X",
    "1",
    "my_",
    "é",
    '{"name": "',
    '{"selector": "#',
    "{'locator': '",
    '{"element": "Password", "ref": "e1", "text": "',
    "?",
    "\n",
    "abc-def-",
]
named = st.tuples(
    *map(st.sampled_from, (BEFORE, NAMES, FOLLOWING, FOLLOWING, ["hunter22", "hunter22</", "{'a': 'b'}", "x1", ""]))
).map("".join)
logins = st.lists(
    st.sampled_from(
        [":", "@", "//", "://", "user", "pass.word", "host", "/", "1", ".", "é", "€", " ", "(", ",", "\0", "-"]
    ),
    max_size=12,
).map("".join)
pieces = st.lists(texts | named | logins | st.sampled_from(PIECES + MORE), max_size=6).map("".join)


def check(text: str) -> None:
    expected = expression.sub(_masking._replace, text)
    if len(text) >= 8:
        assert Masking().text(text) == expected
    found = _optional.secret_places(text)
    if found is not None:
        assert found == sorted(found)
        assert _masking.replaced_at(text, found, expression, _masking._replace) == expected
    try:
        data = text.encode("latin-1")
    except UnicodeEncodeError:
        return
    found = _optional.secret_places(data)
    if found is not None:
        assert _masking.replaced_at(text, found, expression, _masking._replace) == expected
        if not found:
            assert expected == text


@settings(max_examples=3000, deadline=None)
@given(pieces)
@example("paſsword=hunter22")
@example("api_\u212aey=hunter22")
@example("1--token abc1234")
@example("doc\u212aer_pass=hunter22")
@example("my\u017fql_pass=hunter22")
@example("\u017fmtp-pa\u017fs: hunter22")
@example("é" * 40 + "://user:secret@host")
def test_nothing_else_is_masked_than_by_the_expression(text: str) -> None:
    check(text)


@settings(max_examples=500, deadline=None)
@given(pieces, st.integers(0, 100), st.integers(0, 100), st.sampled_from(["x", " ", "é", "-", "k"]))
def test_wherever_in_a_long_text(text: str, before: int, behind: int, filling: str) -> None:
    check(filling * before + text + filling * behind)


@settings(max_examples=500, deadline=None)
@given(pieces, st.integers(0, 80))
def test_the_gate_of_python_code_says_no_to_nothing_that_is_masked(text: str, size: int) -> None:
    if expression.search(text) and len(text) >= 8:
        assert may_hold_secret(text)
    data = text.encode("utf-8", "surrogatepass")
    assert Masking().head(data, size) == Masking().binary(data[: size + 4096])[:size]


def test_every_secret_is_found_at_every_place() -> None:
    for text, _ in SECRETS:
        for before in range(0, 70, 3):
            check("word " * before + text + " word" * 10)
        # The last characters are looked at in another way than those before.
        for before in range(70):
            check("." * before + text)


def test_bytes_of_all_kinds() -> None:
    choose = random.Random(1)
    for _ in range(300):
        data = bytearray(choose.randbytes(400))
        secret = choose.choice(SECRETS)[0].encode("utf-8")
        data[choose.randrange(400) : 0] = secret
        check(bytes(data).decode("latin-1"))


def test_a_text_full_of_places() -> None:
    text = "password=hunter22 " * 3000
    assert Masking().text(text) == "password=*** " * 3000
    assert len(_optional.secret_places("?a=" * 3000)) == 3000
