"""What a secret is, by name and by looks. Generated from protocol/secrets.ts; do not edit."""

# fmt: off
# ruff: noqa
from __future__ import annotations

MASK = "***"
ANYWHERE = frozenset(
    [
        "password",
        "passwords",
        "passwd",
        "passphrase",
        "passphrases",
        "pwd",
        "secret",
        "secrets",
        "credential",
        "credentials",
        "authorization",
        "cookie",
        "cookies",
        "apikey",
        "apikeys",
    ]
)
LAST = frozenset(
    [
        "token",
        "bearer",
        "jwt",
        "setcookie",
        "authtoken",
        "accesstoken",
        "refreshtoken",
        "idtoken",
        "sessiontoken",
        "privatekey",
        "secretkey",
        "accesskey",
        "clientsecret",
        "jwts",
        "authtokens",
        "accesstokens",
        "refreshtokens",
        "idtokens",
        "privatekeys",
        "secretkeys",
        "accesskeys",
        "clientsecrets",
    ]
)
TOKENS_BEFORE = frozenset(
    [
        "access",
        "refresh",
        "auth",
        "api",
        "bearer",
        "csrf",
        "xsrf",
        "secret",
        "security",
        "oauth",
        "id",
    ]
)
KEY_BEFORE = frozenset(
    [
        "api",
        "private",
        "secret",
        "access",
        "signing",
        "encryption",
        "ssh",
        "master",
        "auth",
        "account",
        "subscription",
        "license",
    ]
)
ABOUT = frozenset(
    [
        "count",
        "counts",
        "length",
        "len",
        "min",
        "max",
        "limit",
        "budget",
        "policy",
        "required",
        "field",
        "fields",
        "hint",
        "prompt",
        "url",
        "uri",
        "expires",
        "expiry",
        "expiration",
        "type",
        "ttl",
        "usage",
        "used",
        "size",
        "strength",
        "attempts",
        "version",
        "enabled",
        "valid",
        "details",
        "changed",
        "updated",
        "created",
        "at",
        "label",
        "title",
    ]
)
TOKENS_OF_MODELS = frozenset(
    [
        "next",
        "page",
        "continuation",
        "eos",
        "bos",
        "pad",
        "unk",
        "sep",
        "cls",
        "mask",
        "max",
        "min",
        "stop",
        "end",
        "start",
        "special",
        "per",
        "first",
        "last",
        "new",
        "num",
        "total",
    ]
)
PATTERNS = (
    "(?<![A-Za-z0-9])(?:sk|rk|pk|gsk|xai|pplx|lsv2)[-_](?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{14,}",
    "(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{20,}",
    "(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,})",
    "(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{12,}",
    "(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{30,}",
    "(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8,2000}\\.[A-Za-z0-9_-]{4,}(?:\\.[A-Za-z0-9_-]*)?",
    "(?<![A-Za-z0-9])xox[a-z]-[A-Za-z0-9-]{8,}",
    "-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----))*(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?",
    "(?P<k1>(?i:authorization|cookie)[\"']?\\s*[:=]\\s*[\"']?(?:(?:[Bb]asic|[Bb]earer|[Tt]oken|[Dd]igest|[Aa]pi-?[Kk]ey)\\s+)?)[^\\s\"',;}]{4,}(?:;[ \\t]*(?:(?i:expires)=[A-Za-z]{3},[^\"';}\\r\\n]*|[^\\s\"',;}]+))*",
    "(?P<k2>[Bb][Ee][Aa][Rr][Ee][Rr]\\s+)(?=[^\\s]*[0-9]|[^\\s]{20})[A-Za-z0-9._~+/=-]{6,}",
    "(?P<k3>Basic\\s+)(?=[A-Za-z0-9+/]*[A-Z0-9=])[A-Za-z0-9+/]{12,}={0,2}",
    "(?P<k4>://[^\\s/:@\"']*:)[^\\s/\"']+(?=@)",
    "(?P<k9>(?<![\\w/.@:-])(?!mailto:)[\\w.-]{1,64}:)[^\\s/:@\"',]{3,}(?=@(?:[\\w.-]{1,253}(?::[0-9]|/)|[a-z]{1,8}\\())",
    "(?P<k10>[?&;](?i:sig|signature|hmac|jwt|auth|x-(?:amz|goog|ms)-(?:signature|credential|security-token))=)[^\\s\"'&;#<>]+",
    "(?P<k11>[?&;](?i:key|code|assertion|ticket|session|sid|sessionid|session_id)=)[^\\s\"'&;#<>]{16,}",
    "(?P<k7>(?<![A-Za-z])(?i:(?:[a-z]+_)?(?:pass(?:word|wd|phrase)s?|pwd|api[_-]?keys?|(?:access|secret|private|signing|account)[_-]?keys?|(?:client[_-]?)?secrets?|(?:[a-z]+[_-])?(?<!next[_-])(?<!page[_-])token|(?:access|refresh|auth|api|bearer|csrf|xsrf|secret|security|oauth|id)[_-]?tokens|credentials?)|cookies)(?:\\\\?[\"'])?\\s?[=:]\\s?)(?![\\[{(]\\s*[\\]})])(?:[\\[{(](?:[^\\[\\]{}()\"']|'[^']{0,2000}'|\"[^\"]{0,2000}\"|[\\[{(](?:[^\\[\\]{}()\"']|'[^']{0,2000}'|\"[^\"]{0,2000}\"){0,2000}[\\]})]){0,2000}[\\]})]|[\\[{(][^\\[\\]{}()]*[\\]})])",
    "(?P<k5>(?<![A-Za-z])(?i:(?:pass(?:word|wd|phrase)s?|pwd|api[_-]?keys?|(?:access|secret|private|signing|account)[_-]?keys?|(?:client[_-]?)?secrets?|(?:[a-z]+[_-])?(?<!next[_-])(?<!page[_-])token|(?:access|refresh|auth|api|bearer|csrf|xsrf|secret|security|oauth|id)[_-]?tokens|credentials?))(?:\\\\?[\"'])?\\s?[=:]\\s?(?:\\\\?[\"'])?)(?!(?i:(?:none|null|nil|undefined|empty|unset|not|missing|absent|unknown|true|false|yes|no|valid|invalid|required|optional|expired)[.!?]?(?:[\\s\"'&,;\\\\)}\\]]|$)))[^\\s\"'&,;\\\\}\\])]{3,}",
    "(?P<k6>(?<![A-Za-z])(?i:[a-z]+_(?:pass(?:word|wd|phrase)s?|pwd|api[_-]?keys?|(?:access|secret|private|signing|account)[_-]?keys?|(?:client[_-]?)?secrets?|(?:[a-z]+[_-])?(?<!next[_-])(?<!page[_-])token|(?:access|refresh|auth|api|bearer|csrf|xsrf|secret|security|oauth|id)[_-]?tokens|credentials?))(?:\\\\?[\"'])?\\s?[=:]\\s?(?:\\\\?[\"'])?)(?!(?i:(?:none|null|nil|undefined|empty|unset|not|missing|absent|unknown|true|false|yes|no|valid|invalid|required|optional|expired)[.!?]?(?:[\\s\"'&,;\\\\)}\\]]|$)))[^\\s\"'&,;\\\\}\\])]{3,}",
    "(?P<k8>[(\\[]b?[\"'](?i:[a-z]+[_-])?(?i:(?:pass(?:word|wd|phrase)s?|pwd|api[_-]?keys?|(?:access|secret|private|signing|account)[_-]?keys?|(?:client[_-]?)?secrets?|(?:[a-z]+[_-])?(?<!next[_-])(?<!page[_-])token|(?:access|refresh|auth|api|bearer|csrf|xsrf|secret|security|oauth|id)[_-]?tokens|credentials?))[\"'],\\s*b?)(?:'[^']*'|\"[^\"]*\")",
    "(?P<k12>[\"']--?(?i:(?:[a-z]+-){0,4}(?:pass(?:word|wd|phrase)s?|pwd|api[_-]?keys?|(?:access|secret|private|signing|account)[_-]?keys?|(?:client[_-]?)?secrets?|(?:[a-z]+[_-])?(?<!next[_-])(?<!page[_-])token|(?:access|refresh|auth|api|bearer|csrf|xsrf|secret|security|oauth|id)[_-]?tokens|credentials?))[\"'],\\s*)(?:'[^'-][^']*'|\"[^\"-][^\"]*\")",
    "(?P<k13>(?<![\\w-])--(?i:(?:[a-z]+-){0,4}(?:pass(?:word|wd|phrase)s?|pwd|api[_-]?keys?|(?:access|secret|private|signing|account)[_-]?keys?|(?:client[_-]?)?secrets?|(?:[a-z]+[_-])?(?<!next[_-])(?<!page[_-])token|(?:access|refresh|auth|api|bearer|csrf|xsrf|secret|security|oauth|id)[_-]?tokens|credentials?))\\s+)(?=[^\\s\"']*[0-9])[^\\s\"'-][^\\s\"']{3,}",
    "(?P<k14>[\"'](?i:name|key)\\\\?[\"']:\\s*\\\\?[\"'](?i:[a-z0-9]+[_-]){0,4}(?i:(?:pass(?:word|wd|phrase)s?|pwd|api[_-]?keys?|(?:access|secret|private|signing|account)[_-]?keys?|(?:client[_-]?)?secrets?|(?:[a-z]+[_-])?(?<!next[_-])(?<!page[_-])token|(?:access|refresh|auth|api|bearer|csrf|xsrf|secret|security|oauth|id)[_-]?tokens|credentials?)|authorization|cookie|set-cookie)\\\\?[\"'],\\s*\\\\?[\"'](?i:value)\\\\?[\"']:\\s*)(?:\\\\?'[^'\\\\]*\\\\?'|\\\\?\"[^\"\\\\]*\\\\?\")",
)
NAME_HINT = "pass|pwd|secret|token|key|credential|authori|cookie|[?&;](?:sig|hmac|jwt|auth|x-|code=|assertion=|ticket=|s)"
