"""Secrets are masked before anything is written."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any

import pytest
from toolbreak._masking import Masking, is_secret_name
from toolbreak._secret_places import _places, lowered
from toolbreak._secrets import ROW_NAMES, SELECTORS, TYPED_VALUES
from toolbreak._states import StateEncoder
from toolbreak._values import Settings

pytestmark = pytest.mark.essential

SECRET = "hunter2-hunter2"
MARK = (..., "masked")


@pytest.mark.parametrize(
    "name",
    "PGPASSWORD mypassword rootPasswd MYSQL_ROOT_PASSWORD api_key apikey apiKey API-KEY x-api-key OPENAI_API_KEY token access_token accessToken refresh_token auth_token password passwd db_password secret client_secret"
    " clientSecret aws_secret_access_key authorization Authorization Proxy-Authorization cookie Set-Cookie private_key ssh_key credentials passphrase secret_value"
    " smtp_pass DB_PASS userPass passwords db_passwords secrets client_secrets api_keys apiKeys apikeys access_tokens refreshTokens auth-tokens API_TOKENS id_tokens private_keys jwts passphrases accesstokens".split(),
)
def test_secret_names(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    "tokens secret_name credentials_file password_file tokenPath secret_arn api_key_name max_tokens token_count total_tokens input_tokens output_tokens maxTokens tokenizer token_usage prompt_tokens completion_tokens cached_tokens reasoning_tokens"
    " usage user_tokens session_tokens num_tokens bad_words_tokens stop_tokens api_tokens_count secrets_count passwords_length next_token eos_token key keys primary_key monkey keyword author"
    " pass passes low_pass first_pass boarding_pass_id test_pass authorize secretary password_length cookie_count order_id content monkeyKey open_key".split(),
)
def test_harmless_names(name: str) -> None:
    assert not is_secret_name(name)


@dataclasses.dataclass
class Client:
    api_key: str
    region: str = "eu"


@dataclasses.dataclass
class Row:
    name: str
    value: str


class Plain:
    def __init__(self) -> None:
        self.password = SECRET


@pytest.mark.parametrize(
    "value",
    [
        {"password": SECRET},
        {"a": [{"API_KEY": SECRET}]},
        {"token": {"value": SECRET}},
        {b"authorization": SECRET.encode()},
        {1: 2, "secret": SECRET},
        [("Authorization", SECRET)],
        ((b"cookie", SECRET.encode()),),
        Client(SECRET),
        {"o": [Plain()]},
        {Plain(): 1},
        {"password": SECRET, "k": object()},
        ValueError(f"password={SECRET}"),
        ["password", SECRET],
        ("api_key", SECRET),
        [[b"cookie", SECRET.encode()]],
        {"name": "DB_PASSWORD", "value": SECRET},
        {"env": [{"Name": "API_KEY", "Value": SECRET, "Secure": True}]},
        {"key": "client_secret", "value": SECRET, 1: 2},
        {"selector": "#password", "value": SECRET},
        [{"Field": "passcode", "value": SECRET}, {"header": "X-Api-Key", "Value": SECRET}],
        {"selector": "input[type='password'][required]:enabled", "value": SECRET},
        {"selector": ".password > input, #other", "value": SECRET},
        {"element": "Password field", "ref": "e12", "text": SECRET},
        {"locator": "//input[@type='password']", "keys": [SECRET, "\n"]},
        {"text": SECRET, "placeholder": "Your password", "submit": True},
        {"o": object(), "xpath": "//input[@id='pwd']", "text": SECRET},
        {1: 2, "element": "Password field", "text": SECRET},
        {"label": "Password", "value": SECRET},
        ["#password", SECRET],
        {"openAIKey": SECRET, "huggingFaceKey": SECRET, "passCode": SECRET},
        {"OPENAI_KEY": SECRET, "ddAppKey": SECRET, "door_passcode": SECRET},
        Row("password", SECRET),
        ["psql", "--user", "ann", "--password", SECRET],
        ("--db-password", SECRET),
        [b"--token", SECRET.encode()],
        ["run", f"--token={SECRET}"],
        ["run", "--token=hunter2"],
        {"auth": ("ann", SECRET)},
        {"http_auth": (b"ann", SECRET.encode()), "url": "x"},
        {"o": object(), "auth": ("ann", SECRET)},
        {1: 2, "auth": ("ann", SECRET)},
        {"token": SECRET, "log": -0.1},
        {"token": {"type": "string", "default": SECRET}},
        {"password": {"type": SECRET}},
        {"token": "x", "logprob": 1, "api_key": SECRET},
        {"password": SECRET, "logprob": -0.1},
        {"credentials": {"$ref": SECRET}},
        {"api_key": {"type": "string", "pattern": SECRET}},
        {"o": object(), "token": {"type": "bearer", "value": SECRET}},
    ],
)
def test_secrets_by_name(value: Any) -> None:
    encoded = Settings().encode(value)
    for careful in (encoded, Settings().bounded(value)):
        assert "hunter2" not in repr(careful)
    assert "masked" in repr(encoded) or "***" in repr(encoded)


DIGITS = "0123456789abcdef0123456789abcdef"
#: Each by itself: no other sign says that there is a secret.
BEGINNINGS = (
    "tvly- nvapi- fc- r8_ pcsk_ jina_ e2b_ whsec_ GOCSPX- lin_api_ xapp- sk_live_ rk_live_ github_pat_ ghp_ gho_ ghs_ glpat- hf_ npm_"
    " AIza xoxb- sk- sk_ rk- rk_ pk- pk_ gsk- gsk_ xai- xai_ pplx- pplx_ lsv2- lsv2_"
)

SECRETS = [
    *((f"a {beginning}{DIGITS} b", DIGITS) for beginning in BEGINNINGS.split()),
    ("key sk-proj-abcDEF1234567890abcDEF", "abcDEF1234567890"),
    ("sk-ant-api03-abcdefgh1234567", "abcdefgh1234567"),
    ("Authorization: Bearer abcdef123456", "abcdef123456"),
    ('password := "hunter22"', "hunter22"),
    ('config["password"] = "hunter22"', "hunter22"),
    ('headers["Authorization"] = "hunter22"', "hunter22"),
    ("headers['Cookie'] = 'sid=hunter22; x=y'", "hunter22"),
    ('password: str  =  "hunter22"', "hunter22"),
    ('const password: &str = "hunter22";', "hunter22"),
    ('password: Annotated[str, Field(min_length=3)] = "hunter22"', "hunter22"),
    ('{"fields": [{"name": "Password", "type": "textbox", "ref": "e5", "value": "hunter22"}]}', "hunter22"),
    (r"{\"element\": \"Password\", \"target\": \"e5\", \"submit\": true, \"text\": \"hunter22\"}", "hunter22"),
    ("settings['db_password']='hunter22'", "hunter22"),
    (r"os.environ[\"API_KEY\"] = \"hunter22\"", "hunter22"),
    ('password: str = "hunter22"', "hunter22"),
    ("    api_key: Optional[str] = 'hunter22'", "hunter22"),
    ("PASSWORD: Final = 'hunter22'", "hunter22"),
    ('token: str | None = "hunter22"', "hunter22"),
    ("const password: string = 'hunter22';", "hunter22"),
    ('password = r"hunter22"', "hunter22"),
    ('string password = @"hunter22";', "hunter22"),
    ("api_key := hunter22", "hunter22"),
    ("OPENAI_KEY=hunter22 huggingface-keys: hunter22", "hunter22"),
    ("the passcode: hunter22, door_passcode='hunter22'", "hunter22"),
    ("https://0123456789abcdef0123@git.example.org/x", "0123456789abcdef"),
    ("https://0123456789abcdef0123:x-oauth-basic@git.example.org/x", "0123456789abcdef"),
    ("https://0123456789abcdef0123:@git.example.org/x", "0123456789abcdef"),
    (f"https://{'0a' * 200}@git.example.org/x", "0a0a"),
    ('page.fill("#password", "hunter22")', "hunter22"),
    ("""{"selector":"input[type='password']","value":"hunter22"}""", "hunter22"),
    (r"""{\"selector\": \"form #password-field\", \"value\": \"hunter22\"}""", "hunter22"),
    (r"""{"selector": "input[name=\"password\"]", "value": "hunter22"}""", "hunter22"),
    ("{'field': 'password', 'value': 'hunter22'}", "hunter22"),
    ('{"element": "Password field", "ref": "e12", "text": "hunter22"}', "hunter22"),
    (r"{\"element\":\"the password\",\"ref\":\"s1e12\",\"text\":\"hunter22\"}", "hunter22"),
    ("{'locator': '#pwd', 'keys': 'hunter22'}", "hunter22"),
    ('{"label": "Password", "value": "hunter22"}', "hunter22"),
    ('[{"Selector": "#db-password", "value": "hunter22"}]', "hunter22"),
    ("authorization: basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
    ("bearer abcdef123456", "abcdef123456"),
    ("use ghp_abcdefghijklmnopqrst1234 now", "abcdefghijklmnop"),
    ("github_pat_11ABCDEFG0abcdefghijkl", "11ABCDEFG0"),
    ("id AKIAIOSFODNN7EXAMPLE.", "IOSFODNN7"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF", "eyJzdWIi"),
    ("xoxb-123456789-abcdef", "123456789"),
    ("AIzaSyA1234567890abcdefghijklmnopqrstuv", "SyA12345"),
    ("postgres://ann:hunter2@db/orders", "hunter2"),
    ("redis://:hunter2@db", "hunter2"),
    ("https://x/?api_key=hunter2&y=1", "hunter2"),
    ("password=hunter2 user=ann", "hunter2"),
    ('{"client_secret": "hunter2"}', "hunter2"),
    ("{'db_password': 'hunter2'}", "hunter2"),
    ('{\\"access_token\\": \\"hunter2\\"}', "hunter2"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----", "MIIabc"),
    (
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,AA\n\nMIIabc\n-----END RSA PRIVATE KEY-----",
        "MIIabc",
    ),
    ("-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYabc\n=ab1c\n-----END PGP PRIVATE KEY BLOCK-----", "lQOYabc"),
    ("Authorization: ApiKey hunter2-hunter2", "hunter2-hunter2"),
    ("Cookie: session=abcdef; csrf=hunter2; last=1", "hunter2"),
    ("Set-Cookie: a=bcdef; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/; id=hunter2", "hunter2"),
    ("{'Cookie': 'session=abcdef; csrf=hunter2'}", "hunter2"),
    ("<_secret>hunter2</_secret> <x:_secret>hunter2</x:_secret>", "hunter2"),
    ("<password\n input_value='x'>hunter2</password>", "hunter2"),
    ("password_confirmation_production=hunter2 user_password_again_staging: hunter2", "hunter2"),
    ("Cookie: a=b; session=hunter2", "hunter2"),
    ("-H 'Set-Cookie: x=; sid=hunter2'", "hunter2"),
    ("cookies={'csrf': 'hunter2'}", "hunter2"),
    ("https://blob.example.org/a?sv=2024&sig=hunter2%3D", "hunter2"),
    ("https://s3.example.org/a?X-Amz-Date=1&X-Amz-Signature=hunter2", "hunter2"),
    ("https://x.example.org/?key=hunter2hunter2hunter2", "hunter2"),
    ("postgres://ann:p@ss-hunter2@db/orders", "hunter2"),
    ("ann:hunter2@db.example.org:5432/orders", "hunter2"),
    ("root:hunter2@tcp(127.0.0.1:3306)/shop", "hunter2"),
    ("passwords=['abcdef', 'hunter2']", "hunter2"),
    ("passwords=[abcdef, hunter2]", "hunter2"),
    ("passwords=['aa[1]bb', 'hunter2']", "hunter2"),
    ("secrets = {'a': ['x1xx', 'hunter2'], 'b': 'don]t'}", "hunter2"),
    ("passwords=['hunter2', don't]", "hunter2"),
    ("{'api_keys': {'one': 'abcdef', 'two': 'hunter2'}}", "hunter2"),
    ("refresh_tokens: hunter2", "hunter2"),
    ("client_secrets = hunter2", "hunter2"),
    ("['psql', '--password', 'hunter2']", "hunter2"),
    ("secrets: none-hunter2", "none-hunter2"),
    ("secret: nonehunter2, password: true1hunter2", "hunter2"),
    ("secret: none\npassword: hunter2", "hunter2"),
    ("passwords=[ 'hunter2' ]", "hunter2"),
    ("Authorization: none-hunter2", "none-hunter2"),
    ("Cookie: none; sid=hunter2", "hunter2"),
    ("Cookie: true; session=hunter2", "hunter2"),
    ("mysql --password hunter2 shop", "hunter2"),
    ("['api_key', 'hunter2']", "hunter2"),
    ("{'name': 'DB_PASSWORD', 'value': 'hunter2'}", "hunter2"),
    ('{"key": "client_secret", "value": "hunter2"}', "hunter2"),
    ("Login(user='ann', password='correct horse hunter2')", "hunter2"),
    ("{'passphrase': 'yes we can, hunter2'}", "hunter2"),
    ('{"password": "none of your hunter2"}', "hunter2"),
    ('{\\"password\\": \\"correct horse hunter2\\", \\"a\\": 1}', "hunter2"),
    ("api_token: 'it\\'s a hunter2', b", "hunter2"),
    ("search with tvly-dev-abcdefghij1234567890", "abcdefghij1234567890"),
    ("nvapi-abcdefghijklmnopqrstuvwxyz123456_-ab", "abcdefghijklmnop"),
    ("fc-0123456789abcdef0123456789abcdef", "0123456789abcdef"),
    ("r8_abcdefghijklmnopqrstuvwxyz1234567", "abcdefghijklmnop"),
    ("pcsk_abcde1_abcdefghijklmnopqrstuvwxyz1234", "abcdefghijklmnop"),
    ("jina_0123456789abcdef0123456789abcdefABCDEFGH", "0123456789abcdef"),
    ("e2b_0123456789abcdef0123456789abcdef01234567", "0123456789abcdef"),
    ("SG.abcdefghijklmnopqrstuv.abcdefghijklmnopqrstuvwxyzABCDEFGH1234567890", "abcdefghijklmnop"),
    ("PGPASSWORD=hunter2 psql", "hunter2"),
    ("{'mypasswd': 'hunter2'}", "hunter2"),
    ("<user>ann</user><password>hunter2</password>", "hunter2"),
    ('<wsse:Password Type="text">correct horse hunter2</wsse:Password>', "hunter2"),
    ("<db_password >hunter2</db_password>", "hunter2"),
    ("token = string_hunter2", "hunter2"),
    ("<x-api-key>hunter2</x-api-key>", "hunter2"),
    ('{"accessToken": "hunter2", "appSecret": "s3"}', "hunter2"),
    ("botToken=hunter2 appSecret: abc", "hunter2"),
    ("//registry.example.org/:_authToken=hunter2", "hunter2"),
    ("sk_live_abcdefghijklmnopqrstuvwx", "abcdefghijklmnop"),
    ("xapp-1-A0123456789-1234567890-abcdef", "A0123456789"),
    ("whsec_abcdefghijklmnopqrstuvwxyz012345", "abcdefghijklmnop"),
    ("GOCSPX-abcdefghijklmnopqrstuvwxyz01", "abcdefghijklmnop"),
    ("lin_api_abcdefghijklmnopqrstuvwxyz0123456789", "abcdefghijklmnop"),
    ("pypi-" + "AgEIcHlwaS5vcmcCJ" * 4, "AgEIcHlwaS5vcmcCJ"),
    ("password=self-hunter2, secret: input-hunter2", "hunter2"),
    ("Server=db;Password=config.hunter2;User=sa", "hunter2"),
    ('password="self.hunter2', "hunter2"),
    ("password=none<hunter2", "hunter2"),
    ("password=secret-hunter2, user=bob", "hunter2"),
    ("<password>config.hunter2</password>", "hunter2"),
    ("<SecretAccessKey>hunter2</SecretAccessKey>", "hunter2"),
    ("<password>\n  <![CDATA[hunter2]]>\n</password>", "hunter2"),
    ("b'authorization': b'hunter2-hunter2'", "hunter2"),
    ("sk-abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnop"),
    ("sk-proj-abcdefghijklmnopqrstuvwx", "abcdefghijklmnop"),
    ("pplx_c1719DEba9FeDb12ab", "c1719DEba9FeDb12"),
    ("lsv2-c1719DEba9FeDb12ab", "c1719DEba9FeDb12"),
    ("tool --password 'hunter2' run", "hunter2"),
    ('tool --api-key "correct horse hunter2"', "hunter2"),
    ('{"cmd": "docker login --password \\"hunter2\\" x"}', "hunter2"),
    ("{'password': b'hunter2'}", "hunter2"),
    ('password = """hunter2 and so on"""', "hunter2"),
    ('{"password1": "hunter2", "n": 1}', "hunter2"),
    ("password_confirmation=hunter2", "hunter2"),
    ("passwordHash: hunter2", "hunter2"),
    ('{"sasToken": "hunter2"}', "hunter2"),
    ("subscription_key=hunter2", "hunter2"),
    ("{'Ocp-Apim-Subscription-Key': 'hunter2'}", "hunter2"),
    ("SSH_KEY=hunter2, master-key: hunter2", "hunter2"),
    ('{"password": {"type": "plain", "is": "hunter2"}}', "hunter2"),
    ('{"password": {"type": "hunter2"}}', "hunter2"),
    ('{"password": {"title": "type", "type": "plain", "description": "hunter2"}}', "hunter2"),
    ('{"token": "hunter2", "logprob": "1"}', "hunter2"),
    ('{"token": "hunter2", "log": 1}', "hunter2"),
    ("new_token=hunter2 last_token: hunter2", "hunter2"),
    ("password=strong(er2", "strong"),
    ("token: user.hunter2", "hunter2"),
    ("secret=tokens-hunter2", "hunter2"),
    ("password=%shunter2 api_key: ${hunter2", "hunter2"),
    ("password=$(hunter!2)", "hunter"),
    ("password=<hunter2>", "hunter2"),
    ("password=await-hunter2", "hunter2"),
    ("password={hunter2}", "hunter2"),
    ("token = token-hunter2", "hunter2"),
    ('{"AccessKeyId": "A", "SecretAccessKey": "hunter2"}', "hunter2"),
    ("githubToken=hunter2, 'stripeSecretKey': 'hunter2', userAccessToken: hunter2", "hunter2"),
    ('{"authorization": ["hunter2"], "set-cookie": ["sid=hunter2; Path=/"]}', "hunter2"),
    ('{\\"Authorization\\": \\"Token hunter2\\", \\"Cookie\\": \\"sid=hunter2\\"}', "hunter2"),
    ('{\\\\\\"password\\\\\\": \\\\\\"hunter2\\\\\\"}', "hunter2"),
    ("[('authorization', 'hunter2'), (b'set-cookie', b'hunter2')]", "hunter2"),
    ("[(b'x-api-key', b'hunter2')]", "hunter2"),
    ("password    = hunter2\napi_key:   hunter2\ntoken\t=\thunter2", "hunter2"),
    ('{"secret_value": "hunter2"} DB_PASSWORD_PROD=hunter2 client_secret_1=hunter2', "hunter2"),
    ("POSTGRES_PASSWORD=${PGPW:-hunter2} password: ${VAR:-hunter}", "hunter"),
    ("password=<abc>hunter2", "hunter2"),
    ("token: user.hunter, API_KEY=env.hunter DB_PASSWORD=read(hunter", "hunter"),
    ("PASSWORD=tokens[1]hunter2", "tokens"),
    ("api_token: Bearer hunter2, 'token' => 'hunter2'", "hunter2"),
    ("Login\npassword\n  Input should be a number [type=int, input_value='hunter2', input_type=str]", "hunter2"),
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_secrets_by_their_looks(text: str, secret: str) -> None:
    encode = Settings().encode
    values: list[Any] = [
        text,
        [text],
        {"note": text},
        {text: 1},
        (1, text),
        Exception(text),
        {"d": text.encode()},
        Client("", text),
        {1: {text}},
        {"args": (text,)},
    ]
    for value in values:
        for _ in range(2):
            assert secret not in repr(encode(value)), value
    assert secret not in repr(encode("word " * 50_000 + text))
    assert secret not in repr(Settings(max_value_bytes=1000).encode("x " * 480 + text + " y" * 5000))


@pytest.mark.parametrize(
    "text",
    [
        "please ask the human for a token or password",
        "max_tokens=500 total_tokens: 22",
        "a risk-averse task-force on sk-",
        "https://example.org/a:b?x=1",
        "time: 12:30, a=b",
        "Basic understanding of bearer bonds",
        "mail ann@example.org: hello",
        "The tokenizer has 50000 tokens: good",
        "tokens: 120",
        "prompt_tokens=1200, completion_tokens: 3400, session_tokens=5000",
        "mailto:ann2@example.org/x",
        "send to: ann2@example.org, or ask",
        "see https://example.org/search?key=name&code=404&page=2",
        "give --token and --password to log in",
        "a design: yes; signed by ann",
        "{'name': 'token_count', 'value': 'seven'}",
        "--max-tokens 5000 --token-count 3000",
        "found secrets: none",
        "found secrets: None. Next",
        "{'secret': None, 'passwords': []}",
        '{"api_key": null, "client_secret":"", "password": "unset", "enabled": true}',
        "password=empty&x=1, token: missing; credentials: none",
        "access_token: invalid\nsecrets = {}",
        "def login(user: str, password: str = None, *, api_key: Optional[str]) -> None: ...",
        "token = os.environ['KEY']; password = getpass('who?'), secret=self.secret",
        'api_key = get_api_key(config.path), client_secret: SecretStr = Field("one")',
        '{"password": "string", "token": "string"}',
        "<password></password> <token/> vector<token> tokens</p>",
        "Session(token=token, password=password)",
        "token = self.tokens[i]; password = request.form['password'], api_key = settings.API_KEY",
        "secret = config.get('x') or hashlib.sha256(data).hexdigest(), token = response.json()['access_token']",
        "const token = await getToken(user);\nthis.token = token; let secret: String = env::var('SECRET')",
        "password = new Password(), self.password = password\nkey = credentials[0], api_key = sys.argv[1]",
        "API_KEY=${API_KEY} password: ${{ secrets.DB_PASSWORD }}\ntoken=$(cat token.txt) password: {{ db_password }}",
        "password = <your password>, secret: %s, token=%(token)s",
        "costPerToken: 0.000003, timeToFirstToken: 120.5, totalToken: 12345, sepToken: [SEP]",
        "cancellationToken: CancellationToken, unexpectedToken: foobar, isApiKey: maybe",
        "nextPageToken: abc12345, primaryKey=abc12345, publicKey: abc12345, maxToken=50000, onTokenChange: run",
        "password: Input should be a valid string; token: Field required",
        "how-to-make-sk-learn-based-classifiers-really-fast pypi-attestations nextToken=abcdef",
        '{"properties": {"password": {"type": "string", "title": "Password", "minLength": 8}}, "required": ["password"]}',
        '{\\"password\\": {\\"description\\": \\"of the user\\", \\"type\\": \\"string\\"}}',
        '{"content": [{"token": "Hello", "logprob": -0.31, "bytes": [1]}, {"token": " world", "logprob": -0.1}]}',
        "eos_token=<|endoftext|> pad_token: [PAD], mask_token='[MASK]'",
        "tool --password --verbose, --token 'none' and \"--password 'x'\"",
        "fc-barcelona-2024-players-of-the-year-list r8_road e2b_sandboxes SG.x.y",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert Settings().encode({"a": text}) == {"a": text}


@pytest.mark.parametrize(
    "value",
    [
        {"name": "token_count", "value": 7},
        {"name": "max_tokens", "value": "many"},
        {"name": "city", "value": "Paris"},
        {"value": "Paris", "password": None},
        {"name": "api_key", "value": None},
        ["run", "--max-tokens", "500"],
        ["--password", "--verbose"],
        ["- password", "reset"],
        ["cookie", "token", "secret"],
        {"max_tokens": 5, "tokens": [1, 2], "total_tokens": "12"},
        {"usage": {"prompt_tokens": 1200, "completion_tokens": 3400, "cached_tokens": 0}},
        {"auth": ["basic", "digest"]},
        {"auth": "oauth"},
        {"author": ("ann", "bob")},
        ("tokens", "120"),
        {
            "content": [
                {"token": "Hel", "logprob": -0.1, "bytes": [72], "top_logprobs": [{"token": "He", "logprob": -2.0}]}
            ]
        },
        {1: 2, "token": "Hel", "logprob": -0.1},
        {"properties": {"password": {"type": "string", "title": "Password", "minLength": 8}}},
        {"password_reset": "https://example.org/reset"},
    ],
)
def test_what_only_sounds_like_a_secret_stays(value: Any) -> None:
    assert Settings().encode(value) == value
    assert Settings().bounded(value) == value


def test_a_key_of_the_apps_own_class_is_asked_nothing() -> None:
    class Key(str):
        def __eq__(self, other: object) -> bool:
            raise AssertionError("asked")

        __hash__ = str.__hash__

    for row in ({Key("logprob"): 1.0, "token": SECRET, "n": 1}, {"token": {Key("type"): "string", "title": SECRET}}):
        for encoded in (Settings().encode(row), Settings().bounded(row)):
            assert SECRET not in repr(encoded)


def test_what_a_member_keeps_under_the_name_of_a_secret_is_one() -> None:
    class Conf(enum.Enum):
        API_KEY = SECRET
        DB_PASSWORD = SECRET.encode()
        # Names of secrets are no secrets, and neither is what has another name.
        TOKEN = "access_token"
        AUTHORIZATION = b"Authorization"
        SECRET_NUMBER = 7
        REGION = "eu"

    class Text(str, enum.Enum):
        PASSWORD = SECRET
        COOKIE = "Cookie"

    for member in (Conf.API_KEY, Conf.DB_PASSWORD, Text.PASSWORD, {Conf.API_KEY: [Text.PASSWORD]}):
        assert "hunter2" not in repr(Settings().encode(member)) and "hunter2" not in repr(Settings().bounded(member))
    shown = [Settings().encode(member)[4] for member in (*list(Conf)[2:], Text.COOKIE)]
    assert shown == ["access_token", b"Authorization", 7, "eu", "Cookie"]


def test_sets_have_no_order_and_so_no_pairs() -> None:
    assert Settings().bounded({"password", "hints"}) == {"password", "hints"}


_MANY = list(range(100_000))


@pytest.mark.parametrize(
    "row",
    [
        {"value": SECRET, "items": _MANY, "name": "MY_SERVICE_" * 6 + "PASSWORD"},
        {"value": SECRET, "items": _MANY, **{f"k{index}": index for index in range(70)}, "name": "DB_PASSWORD"},
        {"Value": SECRET, (Masking(),): 1, "Key": "API_KEY"},
    ],
    ids=["a long name", "many keys", "a key that is an object"],
)
def test_the_secret_of_a_row_whose_name_is_cut_or_apart(row: dict[Any, Any]) -> None:
    for value in (row, [row], {"env": (row,)}):
        encoded = repr(Settings(max_value_bytes=1000).encode(value))
        assert SECRET not in encoded and "holds a secret" in encoded


def test_a_state_that_is_a_row() -> None:
    state = StateEncoder(Settings())
    for each in ({"name": "DB_PASSWORD", "value": SECRET}, {"auth": ("ann", SECRET)}):
        assert SECRET.encode() not in state.payload((5,), each)
    assert b"Paris" in state.payload((5,), {"name": "city", "value": "Paris"})


def test_what_stands_around_a_secret_is_kept() -> None:
    masking = Masking()
    assert masking.text("postgres://ann:hunter2@db/orders?x=1") == "postgres://ann:***@db/orders?x=1"
    assert masking.text("Authorization: Bearer abcdef123456 ok") == "Authorization: Bearer *** ok"


def test_a_long_text_full_of_names_takes_no_longer_than_it_should() -> None:
    rows = '{"password": null, "total_tokens": 5, "secret_id": 7, "name": "bob"},\n' * 2000
    low = lowered(rows)
    # Of what says nothing behind it, no place is looked at by the expression.
    assert len(_places(rows, low)) == 2 * 2000
    assert Masking().text(rows) == rows


def test_none_and_flags_under_secret_names_are_no_secrets() -> None:
    assert Settings().encode({"api_key": None, "secret": True}) == {"api_key": None, "secret": True}


def test_settings_survive_nonsense() -> None:
    for record in (None, 7, {"maxValueBytes": "x", "maxDepth": -1, "maskKeys": 7, "maskPatterns": [3]}):
        assert Settings.from_record(record).encode({"a": 1}) == {"a": 1}


@pytest.mark.parametrize(
    "text",
    [
        'password := os.Getenv("DB_PASSWORD")',
        'config["password"] = os.environ["DB_PASSWORD"]',
        "password: str = Field(min_length=8)",
        "password: Optional[str] = None",
        'if config["password"] == "":',
        'config["password"] = getpass("Password: ")',
        'token := r.Header.Get("X-Token")',
        "if (token := match.group(1)):",
        "token := lexer.tokens[0]",
        "token := value",
        "https://john.smith.1985.work@host/ https://git@host/ ssh://build-agent-production-01@host",
        "abfss://my-container-2024-data@account.example.net",
        '{"selector": "#city", "value": "Paris"}, {"name": "password"}, "value": "x"',
        '{"element": "City", "ref": "e1", "text": "Paris"}, {"name": "password", "text": "Forgot it?"}',
    ],
)
def test_code_and_addresses_that_hold_no_secret_are_told(text: str) -> None:
    assert Masking().text(text) == text
    assert Settings().encode([text]) == [text]


def test_a_question_that_speaks_of_a_secret_announces_none() -> None:
    pair = ["I can't find my API key", "Look into the settings."]
    assert Settings().encode(pair) == pair


@pytest.mark.parametrize("about", ROW_NAMES)
def test_a_row_is_looked_at_however_many_without_a_secret_came_before(about: str) -> None:
    made = Settings()
    for value in ({about: "city", "value": "Paris"}, {about: "#password", "value": SECRET}):
        for _ in range(50):
            encoded = made.encode({"rows": [value, value]})
    assert SECRET not in repr(encoded)


@pytest.mark.parametrize("about", SELECTORS)
@pytest.mark.parametrize("typed", TYPED_VALUES)
def test_what_is_typed_into_a_field_for_a_password(about: str, typed: str) -> None:
    made = Settings()
    for value in ({about: "the city", typed: "Paris"}, {about: "Password field", typed: SECRET}):
        for _ in range(50):
            encoded = made.encode({"rows": [value, value]})
        if typed in value and value[typed] == "Paris":
            assert encoded == {"rows": [value, value]}
    assert SECRET not in repr(encoded)


def test_a_text_beside_a_name_is_told() -> None:
    value = {"name": "password", "text": "Forgot your password?"}
    assert Settings().encode(value) == value
