"""Places where a secret may begin: what is found with them is what the expression finds alone."""

import re
from typing import Any

from compiled_support import PIECES
from hypothesis import given, settings
from hypothesis import strategies as st
from test_values_masking import SECRETS
from toolbreak import _masking
from toolbreak._secret_places import has_name, lowered, replaced
from toolbreak._secrets import ANYWHERE, ENDINGS, KEY_BEFORE, LAST, NAME_HINT, PASS_BEFORE, TOKENS_BEFORE

MORE = [
    *("header", "Field", "selector", "element", "xpath", "text", "keys", "ref", "#", ":=", "passcode"),
    *('["', '"]', " = ", ": str =", ": Final[str] = ", "r'", '@"'),
    *("name", "key", "value", "'", '"', '\\"', ":", "=", ";", "&", "(", "[b'", "]", ",", " ", "\n", "://", "mailto:"),
    *("tokens", "access", "next_", "page-", "client_", "api-", "rk_", "gsk-", "pplx-", "x-amz-signature=", "sid="),
    *(
        "set-cookie",
        *(
            "github_pat_",
            "xapp-",
            "whsec_",
            "GOCSPX-",
            "pypi-",
            "lin_api_",
            "sk_live_",
            "Secret",
            "tvly-",
            "nvapi-",
            "fc-",
            "r8_",
            "pcsk_",
            "jina_",
            "e2b_",
            "SG.",
            "abcdef0123456789abcdef01234567890",
        ),
        *("PGPASSWORD", "my", ">", "<", "</", "str", "self.", "get_a("),
        "authorization",
        "credential",
        "bEaReR ",
        "KEY",
        "none",
        "Basic\t",
        "1",
        "K",
        *("İ", "ı", "ſ", "paſsword", "authorızation", "API_KEY", "COOKİES"),
        "É",
        "日本",
        "Q" * 15,
    ),
    *(text for text, _ in SECRETS),
]
texts = st.lists(st.sampled_from([*PIECES, *MORE]) | st.text(max_size=4), max_size=20).map("".join)


@settings(max_examples=2000, deadline=None)
@given(texts)
def test_nothing_else_is_found_than_by_the_expression(text: str) -> None:
    low = lowered(text)
    assert len(low) == len(text)
    expression: Any = _masking._secret()
    assert replaced(text, low, expression, _masking._replace) == expression.sub(_masking._replace, text)
    assert has_name(low) == (re.search(NAME_HINT, text, re.IGNORECASE) is not None)


def test_letters_that_an_expression_takes_for_others_are_found_at_their_places() -> None:
    assert lowered("İIıiſSs\u212a") == "iiiisssk"
    assert _masking.Masking().text("AUTHORİZATION: hunter2") == "AUTHORİZATION: ***"
    assert _masking.Masking().text("paſsword=hunter2") == "paſsword=***"
    assert _masking.Masking().text("api_\u212aey=hunter2") == "api_\u212aey=***"


def test_a_text_that_is_full_of_places() -> None:
    text = "k-" * 2000 + "sk-" + "a1" * 12
    assert _masking.Masking().text(text) == _masking._secret().sub(_masking._replace, text)
    assert _masking.Masking().text("key api_key=hunter2 " * 500) == "key api_key=*** " * 500


WORDS = [*ANYWHERE, *ENDINGS, *LAST, *KEY_BEFORE, *PASS_BEFORE, *TOKENS_BEFORE]
word = st.sampled_from([*WORDS, "auth", "key", "tokens", "pass", "open", "word", "value", "customer", "1", "é"])
names = st.lists(word | st.text(max_size=3), min_size=1, max_size=4).flatmap(
    lambda words: (
        st.sampled_from(["_", "-", "", " ", ".", "\n"]).map(lambda between: between.join(words))
        | st.just("".join(each.capitalize() for each in words))
    )
)


@settings(max_examples=3000, deadline=None)
@given(st.lists(names, min_size=1, max_size=3))
def test_many_names_of_which_none_tells_are_harmless_one_by_one(many: list[str]) -> None:
    masking = _masking.Masking()
    if masking.none_tells(many):
        for name in many:
            assert not masking.is_secret_key(name) and not _masking.is_login_name(name) and masking.text(name) == name
            assert name not in _masking.ALL_ROW_VALUES
