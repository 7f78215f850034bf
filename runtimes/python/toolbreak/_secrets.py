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
ENDINGS = ("password", "passwords", "passwd", "passphrase", "passphrases")
LAST = frozenset(
    [
        "token",
        "bearer",
        "jwt",
        "setcookie",
        "apitoken",
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
        "apitokens",
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
PASS_BEFORE = frozenset(
    [
        "db",
        "database",
        "smtp",
        "imap",
        "mail",
        "email",
        "user",
        "login",
        "admin",
        "root",
        "ftp",
        "sftp",
        "ssh",
        "http",
        "https",
        "proxy",
        "redis",
        "mongo",
        "mysql",
        "mariadb",
        "postgres",
        "pg",
        "rabbitmq",
        "amqp",
        "mqtt",
        "ldap",
        "vpn",
        "wifi",
        "docker",
        "keystore",
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
        "reset",
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
SCHEMA_KEYS = frozenset(
    [
        "type",
        "title",
        "description",
        "format",
        "minLength",
        "maxLength",
        "nullable",
        "writeOnly",
    ]
)
SCHEMA_TYPES = frozenset(
    [
        "string",
        "integer",
        "number",
        "boolean",
        "array",
        "object",
        "null",
    ]
)
PATTERNS = (
    "(?<![A-Za-z0-9])(?:sk|rk|pk|gsk|xai|pplx|lsv2)[-_](?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{14,}",
    "(?<![A-Za-z0-9])(?:sk-(?![a-z]{1,15}(?:-[a-z]{1,15}){1,12}(?![A-Za-z0-9_-]))[A-Za-z0-9_-]{20,}|[srp]k_(?:live|test)_[A-Za-z0-9]{16,})",
    "(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,})",
    "(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{12,}",
    "(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{30,}",
    "(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8,2000}\\.[A-Za-z0-9_-]{4,}(?:\\.[A-Za-z0-9_-]*)?",
    "(?<![A-Za-z0-9])(?:xox[a-z]|xapp)-[A-Za-z0-9-]{8,}",
    "(?<![A-Za-z0-9])(?:tvly-[A-Za-z0-9-]{20,}|nvapi-[A-Za-z0-9_-]{30,}|(?:fc-|jina_|e2b_)[0-9a-f]{30,}|(?:r8|pcsk)_[A-Za-z0-9_]{30,}|whsec_[A-Za-z0-9+/]{24,}|(?:GOCSPX-|lin_api_)[A-Za-z0-9_-]{20,}|pypi-[A-Za-z0-9_-]{50,}|SG\\.[A-Za-z0-9_-]{16,200}\\.[A-Za-z0-9_-]{16,})",
    "-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----))*(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?",
    "(?P<k1>(?i:authorization|cookie)(?:\\\\{0,7}[\"'])?\\s*[:=]\\s*\\[?\\s?(?:b?\\\\{0,7}[\"'])?(?:\\[?(?:[Bb]asic|[Bb]earer|[Tt]oken|[Dd]igest|[Aa]pi-?[Kk]ey)[ \\t]+)?)(?:(?:[^\\s\"',;}\\\\]|\\\\(?!\\\\{0,7}[\"'])){4,}|(?=[^\\s=;]{1,2}=)(?:[^\\s\"',;}\\\\]|\\\\(?!\\\\{0,7}[\"'])){2,3}(?=;[ \\t]*(?:[^\\s\"',;}\\\\]|\\\\(?!\\\\{0,7}[\"']))))(?:;[ \\t]*(?:(?i:expires)=[A-Za-z]{3},[^\"';}\\r\\n]*|(?:[^\\s\"',;}\\\\]|\\\\(?!\\\\{0,7}[\"']))+))*",
    "(?P<k2>[Bb][Ee][Aa][Rr][Ee][Rr]\\s+)(?=[^\\s]*[0-9]|[^\\s]{20})[A-Za-z0-9._~+/=-]{6,}",
    "(?P<k3>Basic\\s+)(?=[A-Za-z0-9+/]*[A-Z0-9=])[A-Za-z0-9+/]{12,}={0,2}",
    "(?P<k4>://[^\\s/:@\"']*:)[^\\s/\"']+(?=@)",
    "(?P<k9>(?<![\\w/.@:-])(?!mailto:)[\\w.-]{1,64}:)[^\\s/:@\"',]{3,}(?=@(?:[\\w.-]{1,253}(?::[0-9]|/)|[a-z]{1,8}\\())",
    "(?P<k10>[?&;](?i:sig|signature|hmac|jwt|auth|x-(?:amz|goog|ms)-(?:signature|credential|security-token))=)[^\\s\"'&;#<>]+",
    "(?P<k11>[?&;](?i:key|code|assertion|ticket|session|sid|sessionid|session_id)=)[^\\s\"'&;#<>]{16,}",
    "(?=(?<![A-Za-z])(?:(?:(?i:(?:[a-z]+_)?(?:[a-z]{0,20}pass(?:word|wd|phrase)s?(?:[0-9]{1,2}|[_-]?(?:confirm(?:ation)?|again|repeat|verify|hash))?|(?:db|database|smtp|imap|mail|email|user|login|admin|root|ftp|sftp|ssh|http|https|proxy|redis|mongo|mysql|mariadb|postgres|pg|rabbitmq|amqp|mqtt|ldap|vpn|wifi|docker|keystore)[_-]?pass|pwd|(?:api|private|secret|access|signing|encryption|ssh|master|auth|account|subscription|license)[_-]?keys?|(?:[a-z]{0,20}[_-]?)?secrets?|(?:[a-z]+[_-])?(?:auth|access|refresh|session|id|bearer|api|csrf|xsrf|bot|user|app|device|sas)?(?<!next[_-])(?<!page[_-])(?<!eos[_-])(?<!bos[_-])(?<!pad[_-])(?<!unk[_-])(?<!sep[_-])(?<!cls[_-])(?<!mask[_-])token|(?:access|refresh|auth|api|bearer|csrf|xsrf|secret|security|oauth|id)[_-]?tokens|credentials?)(?:_?[0-9]{1,2}|[_-](?:value|prod|production|dev|test|staging|live|old|main|default))?)|[A-Za-z]{0,30}[a-z](?:(?<![nN]ext)(?<![pP]age)(?<![cC]ontinuation)(?<![eE]os)(?<![bB]os)(?<![pP]ad)(?<![uU]nk)(?<![sS]ep)(?<![cC]ls)(?<![mM]ask)(?<![mM]ax)(?<![mM]in)(?<![sS]top)(?<![eE]nd)(?<![sS]tart)(?<![sS]pecial)(?<![pP]er)(?<![fF]irst)(?<![lL]ast)(?<![nN]um)(?<![tT]otal)(?<![cC]ancellation)(?<![cC]urrent)(?<![uU]nexpected)(?<![pP]arse)(?<![pP]eek)(?<![cC]urr)Token|(?<!\\bis)(?<!\\bhas)(?:Api|Private|Secret|Access|Signing|Encryption|Ssh|Master|Auth|Account|Subscription|License)Keys?))|(?i:cookies))(?:\\\\{0,7}[\"'])?(?:[ \\t]{2,20}|\\s?)[=:])(?:(?P<k7>(?<![A-Za-z])(?:(?:(?i:(?:[a-z]+_)?(?:[a-z]{0,20}pass(?:word|wd|phrase)s?(?:[0-9]{1,2}|[_-]?(?:confirm(?:ation)?|again|repeat|verify|hash))?|(?:db|database|smtp|imap|mail|email|user|login|admin|root|ftp|sftp|ssh|http|https|proxy|redis|mongo|mysql|mariadb|postgres|pg|rabbitmq|amqp|mqtt|ldap|vpn|wifi|docker|keystore)[_-]?pass|pwd|(?:api|private|secret|access|signing|encryption|ssh|master|auth|account|subscription|license)[_-]?keys?|(?:[a-z]{0,20}[_-]?)?secrets?|(?:[a-z]+[_-])?(?:auth|access|refresh|session|id|bearer|api|csrf|xsrf|bot|user|app|device|sas)?(?<!next[_-])(?<!page[_-])(?<!eos[_-])(?<!bos[_-])(?<!pad[_-])(?<!unk[_-])(?<!sep[_-])(?<!cls[_-])(?<!mask[_-])token|(?:access|refresh|auth|api|bearer|csrf|xsrf|secret|security|oauth|id)[_-]?tokens|credentials?)(?:_?[0-9]{1,2}|[_-](?:value|prod|production|dev|test|staging|live|old|main|default))?)|[A-Za-z]{0,30}[a-z](?:(?<![nN]ext)(?<![pP]age)(?<![cC]ontinuation)(?<![eE]os)(?<![bB]os)(?<![pP]ad)(?<![uU]nk)(?<![sS]ep)(?<![cC]ls)(?<![mM]ask)(?<![mM]ax)(?<![mM]in)(?<![sS]top)(?<![eE]nd)(?<![sS]tart)(?<![sS]pecial)(?<![pP]er)(?<![fF]irst)(?<![lL]ast)(?<![nN]um)(?<![tT]otal)(?<![cC]ancellation)(?<![cC]urrent)(?<![uU]nexpected)(?<![pP]arse)(?<![pP]eek)(?<![cC]urr)Token|(?<!\\bis)(?<!\\bhas)(?:Api|Private|Secret|Access|Signing|Encryption|Ssh|Master|Auth|Account|Subscription|License)Keys?))|(?i:cookies))(?:\\\\{0,7}[\"'])?(?:[ \\t]{2,20}|\\s?)[=:]>?(?:[ \\t]{2,20}|\\s?))(?![\\[{(]\\s*[\\]})]|\\{(?=[^{}]{0,500}[\"']type\\\\?[\"']\\s?:\\s?\\\\?[\"'](?:string|integer|number|boolean|array|object|null)\\\\?[\"'])(?:\\s{0,99}\\\\?[\"'](?:type|title|description|format|minLength|maxLength|nullable|writeOnly)\\\\?[\"']\\s?:\\s?(?:\\\\?\"[^\"\\\\]{0,300}\\\\?\"|\\\\?'[^'\\\\]{0,300}\\\\?'|[A-Za-z0-9.]{1,20}),?){1,8}\\s{0,99}\\}|\\{\\{\\s?[A-Za-z_][A-Za-z_.\\s|]{0,60}\\}\\}(?=[\\s\"'&,;)\\]]|\\\\|$))(?:[\\[{(](?:[^\\[\\]{}()\"']|'[^']{0,2000}'|\"[^\"]{0,2000}\"|[\\[{(](?:[^\\[\\]{}()\"']|'[^']{0,2000}'|\"[^\"]{0,2000}\"){0,2000}[\\]})]){0,2000}[\\]})]|[\\[{(][^\\[\\]{}()]*[\\]})])|(?P<k15>(?<![A-Za-z])(?!token\\\\?[\"']\\s?:\\s?\\\\?(?:\"[^\"\\\\\\n]{0,60}\\\\?\"|'[^'\\\\\\n]{0,60}\\\\?'),\\s{0,40}\\\\?[\"']logprob\\\\?[\"']\\s?:\\s?-?[0-9])(?:(?i:(?:[a-z]+_)?(?:[a-z]{0,20}pass(?:word|wd|phrase)s?(?:[0-9]{1,2}|[_-]?(?:confirm(?:ation)?|again|repeat|verify|hash))?|(?:db|database|smtp|imap|mail|email|user|login|admin|root|ftp|sftp|ssh|http|https|proxy|redis|mongo|mysql|mariadb|postgres|pg|rabbitmq|amqp|mqtt|ldap|vpn|wifi|docker|keystore)[_-]?pass|pwd|(?:api|private|secret|access|signing|encryption|ssh|master|auth|account|subscription|license)[_-]?keys?|(?:[a-z]{0,20}[_-]?)?secrets?|(?:[a-z]+[_-])?(?:auth|access|refresh|session|id|bearer|api|csrf|xsrf|bot|user|app|device|sas)?(?<!next[_-])(?<!page[_-])(?<!eos[_-])(?<!bos[_-])(?<!pad[_-])(?<!unk[_-])(?<!sep[_-])(?<!cls[_-])(?<!mask[_-])token|(?:access|refresh|auth|api|bearer|csrf|xsrf|secret|security|oauth|id)[_-]?tokens|credentials?)(?:_?[0-9]{1,2}|[_-](?:value|prod|production|dev|test|staging|live|old|main|default))?)|[A-Za-z]{0,30}[a-z](?:(?<![nN]ext)(?<![pP]age)(?<![cC]ontinuation)(?<![eE]os)(?<![bB]os)(?<![pP]ad)(?<![uU]nk)(?<![sS]ep)(?<![cC]ls)(?<![mM]ask)(?<![mM]ax)(?<![mM]in)(?<![sS]top)(?<![eE]nd)(?<![sS]tart)(?<![sS]pecial)(?<![pP]er)(?<![fF]irst)(?<![lL]ast)(?<![nN]um)(?<![tT]otal)(?<![cC]ancellation)(?<![cC]urrent)(?<![uU]nexpected)(?<![pP]arse)(?<![pP]eek)(?<![cC]urr)Token|(?<!\\bis)(?<!\\bhas)(?:Api|Private|Secret|Access|Signing|Encryption|Ssh|Master|Auth|Account|Subscription|License)Keys?))(?:\\\\{0,7}[\"'])?(?:[ \\t]{2,20}|\\s?)[=:]>?(?:[ \\t]{2,20}|\\s?)b?(?:\"\"\"|'''|[\"']))(?:(?<=')(?!(?i:(?:none|null|nil|undefined|empty|unset|not|missing|absent|unknown|true|false|yes|no|valid|invalid|required|optional|expired|str|string|int|integer|bytes|bool|boolean|float|any|object|number|secretstr)[.!?]?)')(?:[^'\\\\\\n]|\\\\[^\\n]){3,2000}(?=')|(?<=\")(?!(?i:(?:none|null|nil|undefined|empty|unset|not|missing|absent|unknown|true|false|yes|no|valid|invalid|required|optional|expired|str|string|int|integer|bytes|bool|boolean|float|any|object|number|secretstr)[.!?]?)\")(?:[^\"\\\\\\n]|\\\\[^\\n]){3,2000}(?=\"))|(?P<k16>(?<![A-Za-z])(?!token\\\\?[\"']\\s?:\\s?\\\\?(?:\"[^\"\\\\\\n]{0,60}\\\\?\"|'[^'\\\\\\n]{0,60}\\\\?'),\\s{0,40}\\\\?[\"']logprob\\\\?[\"']\\s?:\\s?-?[0-9])(?:(?i:(?:[a-z]+_)?(?:[a-z]{0,20}pass(?:word|wd|phrase)s?(?:[0-9]{1,2}|[_-]?(?:confirm(?:ation)?|again|repeat|verify|hash))?|(?:db|database|smtp|imap|mail|email|user|login|admin|root|ftp|sftp|ssh|http|https|proxy|redis|mongo|mysql|mariadb|postgres|pg|rabbitmq|amqp|mqtt|ldap|vpn|wifi|docker|keystore)[_-]?pass|pwd|(?:api|private|secret|access|signing|encryption|ssh|master|auth|account|subscription|license)[_-]?keys?|(?:[a-z]{0,20}[_-]?)?secrets?|(?:[a-z]+[_-])?(?:auth|access|refresh|session|id|bearer|api|csrf|xsrf|bot|user|app|device|sas)?(?<!next[_-])(?<!page[_-])(?<!eos[_-])(?<!bos[_-])(?<!pad[_-])(?<!unk[_-])(?<!sep[_-])(?<!cls[_-])(?<!mask[_-])token|(?:access|refresh|auth|api|bearer|csrf|xsrf|secret|security|oauth|id)[_-]?tokens|credentials?)(?:_?[0-9]{1,2}|[_-](?:value|prod|production|dev|test|staging|live|old|main|default))?)|[A-Za-z]{0,30}[a-z](?:(?<![nN]ext)(?<![pP]age)(?<![cC]ontinuation)(?<![eE]os)(?<![bB]os)(?<![pP]ad)(?<![uU]nk)(?<![sS]ep)(?<![cC]ls)(?<![mM]ask)(?<![mM]ax)(?<![mM]in)(?<![sS]top)(?<![eE]nd)(?<![sS]tart)(?<![sS]pecial)(?<![pP]er)(?<![fF]irst)(?<![lL]ast)(?<![nN]um)(?<![tT]otal)(?<![cC]ancellation)(?<![cC]urrent)(?<![uU]nexpected)(?<![pP]arse)(?<![pP]eek)(?<![cC]urr)Token|(?<!\\bis)(?<!\\bhas)(?:Api|Private|Secret|Access|Signing|Encryption|Ssh|Master|Auth|Account|Subscription|License)Keys?))(?:\\\\{0,7}[\"'])?(?:[ \\t]{2,20}|\\s?)[=:]>?(?:[ \\t]{2,20}|\\s?)b?\\\\{1,7}[\"'])(?:(?<=')(?!(?i:(?:none|null|nil|undefined|empty|unset|not|missing|absent|unknown|true|false|yes|no|valid|invalid|required|optional|expired|str|string|int|integer|bytes|bool|boolean|float|any|object|number|secretstr)[.!?]?)\\\\)[^'\\\\\\n]{3,2000}(?=\\\\{1,7}')|(?<=\")(?!(?i:(?:none|null|nil|undefined|empty|unset|not|missing|absent|unknown|true|false|yes|no|valid|invalid|required|optional|expired|str|string|int|integer|bytes|bool|boolean|float|any|object|number|secretstr)[.!?]?)\\\\)[^\"\\\\\\n]{3,2000}(?=\\\\{1,7}\"))|(?P<k5>(?<![A-Za-z])(?!token\\\\?[\"']\\s?:\\s?\\\\?(?:\"[^\"\\\\\\n]{0,60}\\\\?\"|'[^'\\\\\\n]{0,60}\\\\?'),\\s{0,40}\\\\?[\"']logprob\\\\?[\"']\\s?:\\s?-?[0-9])(?:(?i:(?:[a-z]{0,20}pass(?:word|wd|phrase)s?(?:[0-9]{1,2}|[_-]?(?:confirm(?:ation)?|again|repeat|verify|hash))?|(?:db|database|smtp|imap|mail|email|user|login|admin|root|ftp|sftp|ssh|http|https|proxy|redis|mongo|mysql|mariadb|postgres|pg|rabbitmq|amqp|mqtt|ldap|vpn|wifi|docker|keystore)[_-]?pass|pwd|(?:api|private|secret|access|signing|encryption|ssh|master|auth|account|subscription|license)[_-]?keys?|(?:[a-z]{0,20}[_-]?)?secrets?|(?:[a-z]+[_-])?(?:auth|access|refresh|session|id|bearer|api|csrf|xsrf|bot|user|app|device|sas)?(?<!next[_-])(?<!page[_-])(?<!eos[_-])(?<!bos[_-])(?<!pad[_-])(?<!unk[_-])(?<!sep[_-])(?<!cls[_-])(?<!mask[_-])token|(?:access|refresh|auth|api|bearer|csrf|xsrf|secret|security|oauth|id)[_-]?tokens|credentials?)(?:_?[0-9]{1,2}|[_-](?:value|prod|production|dev|test|staging|live|old|main|default))?)|[A-Za-z]{0,30}[a-z](?:(?<![nN]ext)(?<![pP]age)(?<![cC]ontinuation)(?<![eE]os)(?<![bB]os)(?<![pP]ad)(?<![uU]nk)(?<![sS]ep)(?<![cC]ls)(?<![mM]ask)(?<![mM]ax)(?<![mM]in)(?<![sS]top)(?<![eE]nd)(?<![sS]tart)(?<![sS]pecial)(?<![pP]er)(?<![fF]irst)(?<![lL]ast)(?<![nN]um)(?<![tT]otal)(?<![cC]ancellation)(?<![cC]urrent)(?<![uU]nexpected)(?<![pP]arse)(?<![pP]eek)(?<![cC]urr)Token|(?<!\\bis)(?<!\\bhas)(?:Api|Private|Secret|Access|Signing|Encryption|Ssh|Master|Auth|Account|Subscription|License)Keys?))(?:\\\\{0,7}[\"'])?(?:[ \\t]{2,20}|\\s?)[=:]>?(?:[ \\t]{2,20}|\\s?)(?:\\\\{0,7}[\"'])?(?:\\[?(?:[Bb]asic|[Bb]earer|[Tt]oken|[Dd]igest|[Aa]pi-?[Kk]ey)[ \\t]+)?)(?!(?i:(?:none|null|nil|undefined|empty|unset|not|missing|absent|unknown|true|false|yes|no|valid|invalid|required|optional|expired|str|string|int|integer|bytes|bool|boolean|float|any|object|number|secretstr)[.!?]?(?:[\\s\"'&,;\\\\)}\\]]|$))|(?<![\"'])(?:os\\.(?:environ|getenv)|process\\.env|getpass(?:\\.getpass)?\\(|Field\\(|Optional\\[|(?:self|this|cls|config|settings|args|kwargs|request|(?:(?<= = )|(?<=:= ))(?:cfg|conf|opts|options|req|response|resp|res|env|app|user|account|ctx|context|state|session|data|payload|body|params|props|form|secrets|event|client|row|record|item|obj))(?:\\??\\.(?:[a-z_]{1,40}|[A-Z_]{1,40})){1,4}(?=[\\s,;)\\]}(\\[]|$)|(?:[A-Za-z_]{1,30}(?:\\.|::)){0,3}_{0,2}(?:get|fetch|load|loads|read|next|create|generate|make|build|encode|decode|hash|sha|md5|encrypt|decrypt|sign|parse|env|require|find|pop|json|token_|choice|uuid|str|bytes|input)(?:[A-Z0-9_][A-Za-z0-9_]{0,30})?\\((?=[^\\n]{0,300}\\))|(?:sys\\.)?(?:tokens|secrets|keys|passwords|credentials|creds|headers|cookies|argv|parts)\\[(?:(?:-?[0-9]{1,3}|[a-z_]{1,20})\\](?![A-Za-z0-9])|[\"'])|(?:Input|Field|Value) (?:should|required|error)|(?:await|new|yield|lambda|typeof)\\s|\\$\\{\\{?\\s?[A-Za-z_][A-Za-z_.\\s]{0,60}\\}{1,2}(?=[\\s\"'&,;)\\]]|\\\\|$)|\\$\\([a-z][a-z0-9_-]{0,20}[\\s)]|\\{\\{\\s?[A-Za-z_][A-Za-z_.\\s|]{0,60}\\}\\}(?=[\\s\"'&,;)\\]]|\\\\|$)|<[A-Za-z][A-Za-z_\\s-]{0,40}>(?=[\\s\"'&,;)\\]]|\\\\|$)|%(?:\\([a-z_]{1,30}\\))?s(?![A-Za-z0-9_])|(?:(?:(?<=token=)|(?<=token = ))token|(?:(?<=password=)|(?<=password = ))password|(?:(?<=api_key=)|(?<=api_key = ))api_key|(?:(?<=secret=)|(?<=secret = ))secret)(?=[\\s,;)]|$)))[^\\s\"'&,;\\\\}\\])]{3,}|(?P<k6>(?<![A-Za-z])(?i:[a-z]+_(?:[a-z]{0,20}pass(?:word|wd|phrase)s?(?:[0-9]{1,2}|[_-]?(?:confirm(?:ation)?|again|repeat|verify|hash))?|(?:db|database|smtp|imap|mail|email|user|login|admin|root|ftp|sftp|ssh|http|https|proxy|redis|mongo|mysql|mariadb|postgres|pg|rabbitmq|amqp|mqtt|ldap|vpn|wifi|docker|keystore)[_-]?pass|pwd|(?:api|private|secret|access|signing|encryption|ssh|master|auth|account|subscription|license)[_-]?keys?|(?:[a-z]{0,20}[_-]?)?secrets?|(?:[a-z]+[_-])?(?:auth|access|refresh|session|id|bearer|api|csrf|xsrf|bot|user|app|device|sas)?(?<!next[_-])(?<!page[_-])(?<!eos[_-])(?<!bos[_-])(?<!pad[_-])(?<!unk[_-])(?<!sep[_-])(?<!cls[_-])(?<!mask[_-])token|(?:access|refresh|auth|api|bearer|csrf|xsrf|secret|security|oauth|id)[_-]?tokens|credentials?)(?:_?[0-9]{1,2}|[_-](?:value|prod|production|dev|test|staging|live|old|main|default))?)(?:\\\\{0,7}[\"'])?(?:[ \\t]{2,20}|\\s?)[=:]>?(?:[ \\t]{2,20}|\\s?)(?:\\\\{0,7}[\"'])?(?:\\[?(?:[Bb]asic|[Bb]earer|[Tt]oken|[Dd]igest|[Aa]pi-?[Kk]ey)[ \\t]+)?)(?!(?i:(?:none|null|nil|undefined|empty|unset|not|missing|absent|unknown|true|false|yes|no|valid|invalid|required|optional|expired|str|string|int|integer|bytes|bool|boolean|float|any|object|number|secretstr)[.!?]?(?:[\\s\"'&,;\\\\)}\\]]|$))|(?<![\"'])(?:os\\.(?:environ|getenv)|process\\.env|getpass(?:\\.getpass)?\\(|Field\\(|Optional\\[|(?:self|this|cls|config|settings|args|kwargs|request|(?:(?<= = )|(?<=:= ))(?:cfg|conf|opts|options|req|response|resp|res|env|app|user|account|ctx|context|state|session|data|payload|body|params|props|form|secrets|event|client|row|record|item|obj))(?:\\??\\.(?:[a-z_]{1,40}|[A-Z_]{1,40})){1,4}(?=[\\s,;)\\]}(\\[]|$)|(?:[A-Za-z_]{1,30}(?:\\.|::)){0,3}_{0,2}(?:get|fetch|load|loads|read|next|create|generate|make|build|encode|decode|hash|sha|md5|encrypt|decrypt|sign|parse|env|require|find|pop|json|token_|choice|uuid|str|bytes|input)(?:[A-Z0-9_][A-Za-z0-9_]{0,30})?\\((?=[^\\n]{0,300}\\))|(?:sys\\.)?(?:tokens|secrets|keys|passwords|credentials|creds|headers|cookies|argv|parts)\\[(?:(?:-?[0-9]{1,3}|[a-z_]{1,20})\\](?![A-Za-z0-9])|[\"'])|(?:Input|Field|Value) (?:should|required|error)|(?:await|new|yield|lambda|typeof)\\s|\\$\\{\\{?\\s?[A-Za-z_][A-Za-z_.\\s]{0,60}\\}{1,2}(?=[\\s\"'&,;)\\]]|\\\\|$)|\\$\\([a-z][a-z0-9_-]{0,20}[\\s)]|\\{\\{\\s?[A-Za-z_][A-Za-z_.\\s|]{0,60}\\}\\}(?=[\\s\"'&,;)\\]]|\\\\|$)|<[A-Za-z][A-Za-z_\\s-]{0,40}>(?=[\\s\"'&,;)\\]]|\\\\|$)|%(?:\\([a-z_]{1,30}\\))?s(?![A-Za-z0-9_])|(?:(?:(?<=token=)|(?<=token = ))token|(?:(?<=password=)|(?<=password = ))password|(?:(?<=api_key=)|(?<=api_key = ))api_key|(?:(?<=secret=)|(?<=secret = ))secret)(?=[\\s,;)]|$)))[^\\s\"'&,;\\\\}\\])]{3,})",
    "(?P<k17>(?<=[<:])(?i:(?:[a-z]+[_-]){0,4}[a-z]{0,20}(?:[a-z]{0,20}pass(?:word|wd|phrase)s?(?:[0-9]{1,2}|[_-]?(?:confirm(?:ation)?|again|repeat|verify|hash))?|(?:db|database|smtp|imap|mail|email|user|login|admin|root|ftp|sftp|ssh|http|https|proxy|redis|mongo|mysql|mariadb|postgres|pg|rabbitmq|amqp|mqtt|ldap|vpn|wifi|docker|keystore)[_-]?pass|pwd|(?:api|private|secret|access|signing|encryption|ssh|master|auth|account|subscription|license)[_-]?keys?|(?:[a-z]{0,20}[_-]?)?secrets?|(?:[a-z]+[_-])?(?:auth|access|refresh|session|id|bearer|api|csrf|xsrf|bot|user|app|device|sas)?(?<!next[_-])(?<!page[_-])(?<!eos[_-])(?<!bos[_-])(?<!pad[_-])(?<!unk[_-])(?<!sep[_-])(?<!cls[_-])(?<!mask[_-])token|(?:access|refresh|auth|api|bearer|csrf|xsrf|secret|security|oauth|id)[_-]?tokens|credentials?)(?:_?[0-9]{1,2}|[_-](?:value|prod|production|dev|test|staging|live|old|main|default))?)(?:\\s[^<>]{0,300})?>\\s{0,200}(?:<!\\[CDATA\\[)?)(?!(?i:(?:none|null|nil|undefined|empty|unset|not|missing|absent|unknown|true|false|yes|no|valid|invalid|required|optional|expired|str|string|int|integer|bytes|bool|boolean|float|any|object|number|secretstr)[.!?]?)\\s{0,200}<)[^<>\\s][^<>]{1,1998}[^<>\\s](?=\\s{0,200}(?:\\]\\]>\\s{0,200})?</[^<>]{0,60}(?i:(?:[a-z]{0,20}pass(?:word|wd|phrase)s?(?:[0-9]{1,2}|[_-]?(?:confirm(?:ation)?|again|repeat|verify|hash))?|(?:db|database|smtp|imap|mail|email|user|login|admin|root|ftp|sftp|ssh|http|https|proxy|redis|mongo|mysql|mariadb|postgres|pg|rabbitmq|amqp|mqtt|ldap|vpn|wifi|docker|keystore)[_-]?pass|pwd|(?:api|private|secret|access|signing|encryption|ssh|master|auth|account|subscription|license)[_-]?keys?|(?:[a-z]{0,20}[_-]?)?secrets?|(?:[a-z]+[_-])?(?:auth|access|refresh|session|id|bearer|api|csrf|xsrf|bot|user|app|device|sas)?(?<!next[_-])(?<!page[_-])(?<!eos[_-])(?<!bos[_-])(?<!pad[_-])(?<!unk[_-])(?<!sep[_-])(?<!cls[_-])(?<!mask[_-])token|(?:access|refresh|auth|api|bearer|csrf|xsrf|secret|security|oauth|id)[_-]?tokens|credentials?)(?:_?[0-9]{1,2}|[_-](?:value|prod|production|dev|test|staging|live|old|main|default))?)\\s{0,9}>)",
    "(?P<k8>[(\\[]b?[\"'](?:(?i:(?:[a-z]+[_-])?(?:(?:[a-z]{0,20}pass(?:word|wd|phrase)s?(?:[0-9]{1,2}|[_-]?(?:confirm(?:ation)?|again|repeat|verify|hash))?|(?:db|database|smtp|imap|mail|email|user|login|admin|root|ftp|sftp|ssh|http|https|proxy|redis|mongo|mysql|mariadb|postgres|pg|rabbitmq|amqp|mqtt|ldap|vpn|wifi|docker|keystore)[_-]?pass|pwd|(?:api|private|secret|access|signing|encryption|ssh|master|auth|account|subscription|license)[_-]?keys?|(?:[a-z]{0,20}[_-]?)?secrets?|(?:[a-z]+[_-])?(?:auth|access|refresh|session|id|bearer|api|csrf|xsrf|bot|user|app|device|sas)?(?<!next[_-])(?<!page[_-])(?<!eos[_-])(?<!bos[_-])(?<!pad[_-])(?<!unk[_-])(?<!sep[_-])(?<!cls[_-])(?<!mask[_-])token|(?:access|refresh|auth|api|bearer|csrf|xsrf|secret|security|oauth|id)[_-]?tokens|credentials?)(?:_?[0-9]{1,2}|[_-](?:value|prod|production|dev|test|staging|live|old|main|default))?|authorization|cookie))|[A-Za-z]{0,30}[a-z](?:(?<![nN]ext)(?<![pP]age)(?<![cC]ontinuation)(?<![eE]os)(?<![bB]os)(?<![pP]ad)(?<![uU]nk)(?<![sS]ep)(?<![cC]ls)(?<![mM]ask)(?<![mM]ax)(?<![mM]in)(?<![sS]top)(?<![eE]nd)(?<![sS]tart)(?<![sS]pecial)(?<![pP]er)(?<![fF]irst)(?<![lL]ast)(?<![nN]um)(?<![tT]otal)(?<![cC]ancellation)(?<![cC]urrent)(?<![uU]nexpected)(?<![pP]arse)(?<![pP]eek)(?<![cC]urr)Token|(?<!\\bis)(?<!\\bhas)(?:Api|Private|Secret|Access|Signing|Encryption|Ssh|Master|Auth|Account|Subscription|License)Keys?))[\"'],\\s*b?)(?:'[^']*'|\"[^\"]*\")",
    "(?P<k12>[\"']--?(?i:(?:[a-z]+-){0,4}(?:[a-z]{0,20}pass(?:word|wd|phrase)s?(?:[0-9]{1,2}|[_-]?(?:confirm(?:ation)?|again|repeat|verify|hash))?|(?:db|database|smtp|imap|mail|email|user|login|admin|root|ftp|sftp|ssh|http|https|proxy|redis|mongo|mysql|mariadb|postgres|pg|rabbitmq|amqp|mqtt|ldap|vpn|wifi|docker|keystore)[_-]?pass|pwd|(?:api|private|secret|access|signing|encryption|ssh|master|auth|account|subscription|license)[_-]?keys?|(?:[a-z]{0,20}[_-]?)?secrets?|(?:[a-z]+[_-])?(?:auth|access|refresh|session|id|bearer|api|csrf|xsrf|bot|user|app|device|sas)?(?<!next[_-])(?<!page[_-])(?<!eos[_-])(?<!bos[_-])(?<!pad[_-])(?<!unk[_-])(?<!sep[_-])(?<!cls[_-])(?<!mask[_-])token|(?:access|refresh|auth|api|bearer|csrf|xsrf|secret|security|oauth|id)[_-]?tokens|credentials?)(?:_?[0-9]{1,2}|[_-](?:value|prod|production|dev|test|staging|live|old|main|default))?)[\"'],\\s*)(?:'[^'-][^']*'|\"[^\"-][^\"]*\")",
    "(?P<k13>(?<![\\w-])--(?i:(?:[a-z]+-){0,4}(?:[a-z]{0,20}pass(?:word|wd|phrase)s?(?:[0-9]{1,2}|[_-]?(?:confirm(?:ation)?|again|repeat|verify|hash))?|(?:db|database|smtp|imap|mail|email|user|login|admin|root|ftp|sftp|ssh|http|https|proxy|redis|mongo|mysql|mariadb|postgres|pg|rabbitmq|amqp|mqtt|ldap|vpn|wifi|docker|keystore)[_-]?pass|pwd|(?:api|private|secret|access|signing|encryption|ssh|master|auth|account|subscription|license)[_-]?keys?|(?:[a-z]{0,20}[_-]?)?secrets?|(?:[a-z]+[_-])?(?:auth|access|refresh|session|id|bearer|api|csrf|xsrf|bot|user|app|device|sas)?(?<!next[_-])(?<!page[_-])(?<!eos[_-])(?<!bos[_-])(?<!pad[_-])(?<!unk[_-])(?<!sep[_-])(?<!cls[_-])(?<!mask[_-])token|(?:access|refresh|auth|api|bearer|csrf|xsrf|secret|security|oauth|id)[_-]?tokens|credentials?)(?:_?[0-9]{1,2}|[_-](?:value|prod|production|dev|test|staging|live|old|main|default))?)\\s+)(?=[^\\s\"']*[0-9])[^\\s\"'-][^\\s\"']{3,}",
    "(?P<k14>[\"'](?i:name|key)\\\\{0,7}[\"']:\\s*\\\\{0,7}[\"'](?:(?i:[a-z0-9]+[_-]){0,4}(?i:(?:[a-z]{0,20}pass(?:word|wd|phrase)s?(?:[0-9]{1,2}|[_-]?(?:confirm(?:ation)?|again|repeat|verify|hash))?|(?:db|database|smtp|imap|mail|email|user|login|admin|root|ftp|sftp|ssh|http|https|proxy|redis|mongo|mysql|mariadb|postgres|pg|rabbitmq|amqp|mqtt|ldap|vpn|wifi|docker|keystore)[_-]?pass|pwd|(?:api|private|secret|access|signing|encryption|ssh|master|auth|account|subscription|license)[_-]?keys?|(?:[a-z]{0,20}[_-]?)?secrets?|(?:[a-z]+[_-])?(?:auth|access|refresh|session|id|bearer|api|csrf|xsrf|bot|user|app|device|sas)?(?<!next[_-])(?<!page[_-])(?<!eos[_-])(?<!bos[_-])(?<!pad[_-])(?<!unk[_-])(?<!sep[_-])(?<!cls[_-])(?<!mask[_-])token|(?:access|refresh|auth|api|bearer|csrf|xsrf|secret|security|oauth|id)[_-]?tokens|credentials?)(?:_?[0-9]{1,2}|[_-](?:value|prod|production|dev|test|staging|live|old|main|default))?|authorization|cookie|set-cookie)|[A-Za-z]{0,30}[a-z](?:(?<![nN]ext)(?<![pP]age)(?<![cC]ontinuation)(?<![eE]os)(?<![bB]os)(?<![pP]ad)(?<![uU]nk)(?<![sS]ep)(?<![cC]ls)(?<![mM]ask)(?<![mM]ax)(?<![mM]in)(?<![sS]top)(?<![eE]nd)(?<![sS]tart)(?<![sS]pecial)(?<![pP]er)(?<![fF]irst)(?<![lL]ast)(?<![nN]um)(?<![tT]otal)(?<![cC]ancellation)(?<![cC]urrent)(?<![uU]nexpected)(?<![pP]arse)(?<![pP]eek)(?<![cC]urr)Token|(?<!\\bis)(?<!\\bhas)(?:Api|Private|Secret|Access|Signing|Encryption|Ssh|Master|Auth|Account|Subscription|License)Keys?))\\\\{0,7}[\"'],\\s*\\\\{0,7}[\"'](?i:value)\\\\{0,7}[\"']:\\s*)(?:\\\\{0,7}'[^'\\\\]*\\\\{0,7}'|\\\\{0,7}\"[^\"\\\\]*\\\\{0,7}\")",
    "(?P<k18>(?<![\\w-])--(?i:(?:[a-z]+-){0,4}(?:[a-z]{0,20}pass(?:word|wd|phrase)s?(?:[0-9]{1,2}|[_-]?(?:confirm(?:ation)?|again|repeat|verify|hash))?|(?:db|database|smtp|imap|mail|email|user|login|admin|root|ftp|sftp|ssh|http|https|proxy|redis|mongo|mysql|mariadb|postgres|pg|rabbitmq|amqp|mqtt|ldap|vpn|wifi|docker|keystore)[_-]?pass|pwd|(?:api|private|secret|access|signing|encryption|ssh|master|auth|account|subscription|license)[_-]?keys?|(?:[a-z]{0,20}[_-]?)?secrets?|(?:[a-z]+[_-])?(?:auth|access|refresh|session|id|bearer|api|csrf|xsrf|bot|user|app|device|sas)?(?<!next[_-])(?<!page[_-])(?<!eos[_-])(?<!bos[_-])(?<!pad[_-])(?<!unk[_-])(?<!sep[_-])(?<!cls[_-])(?<!mask[_-])token|(?:access|refresh|auth|api|bearer|csrf|xsrf|secret|security|oauth|id)[_-]?tokens|credentials?)(?:_?[0-9]{1,2}|[_-](?:value|prod|production|dev|test|staging|live|old|main|default))?)\\s{1,9}\\\\?[\"'])(?:(?<=')(?!(?i:(?:none|null|nil|undefined|empty|unset|not|missing|absent|unknown|true|false|yes|no|valid|invalid|required|optional|expired|str|string|int|integer|bytes|bool|boolean|float|any|object|number|secretstr)[.!?]?)\\\\?')[^'\\\\\\n]{3,2000}(?=\\\\?')|(?<=\")(?!(?i:(?:none|null|nil|undefined|empty|unset|not|missing|absent|unknown|true|false|yes|no|valid|invalid|required|optional|expired|str|string|int|integer|bytes|bool|boolean|float|any|object|number|secretstr)[.!?]?)\\\\?\")[^\"\\\\\\n]{3,2000}(?=\\\\?\"))",
    "(?P<k19>(?<![A-Za-z])(?i:(?:[a-z]+_)?(?:[a-z]{0,20}pass(?:word|wd|phrase)s?(?:[0-9]{1,2}|[_-]?(?:confirm(?:ation)?|again|repeat|verify|hash))?|(?:db|database|smtp|imap|mail|email|user|login|admin|root|ftp|sftp|ssh|http|https|proxy|redis|mongo|mysql|mariadb|postgres|pg|rabbitmq|amqp|mqtt|ldap|vpn|wifi|docker|keystore)[_-]?pass|pwd|(?:api|private|secret|access|signing|encryption|ssh|master|auth|account|subscription|license)[_-]?keys?|(?:[a-z]{0,20}[_-]?)?secrets?|(?:[a-z]+[_-])?(?:auth|access|refresh|session|id|bearer|api|csrf|xsrf|bot|user|app|device|sas)?(?<!next[_-])(?<!page[_-])(?<!eos[_-])(?<!bos[_-])(?<!pad[_-])(?<!unk[_-])(?<!sep[_-])(?<!cls[_-])(?<!mask[_-])token|(?:access|refresh|auth|api|bearer|csrf|xsrf|secret|security|oauth|id)[_-]?tokens|credentials?)(?:_?[0-9]{1,2}|[_-](?:value|prod|production|dev|test|staging|live|old|main|default))?)\\n[ \\t]{1,4}[^\\n]{0,300}input_value=(?:\\[?(?:[Bb]asic|[Bb]earer|[Tt]oken|[Dd]igest|[Aa]pi-?[Kk]ey)[ \\t]+)?)(?:'[^'\\n]{0,2000}'|\"[^\"\\n]{0,2000}\"|[\\[{(](?:[^\\[\\]{}()\"']|'[^']{0,2000}'|\"[^\"]{0,2000}\"|[\\[{(](?:[^\\[\\]{}()\"']|'[^']{0,2000}'|\"[^\"]{0,2000}\"){0,2000}[\\]})]){0,2000}[\\]})]|[^\\s,\\]]+)",
)
HINTS = (
    ("-", ("sk-", "xox", "k-", "glpat-", "-----BEGIN", "xai-", "lsv2-", "pplx-", "tvly-", "nvapi-", "fc-", "xapp-", "GOCSPX-", "pypi-",)),
    ("_", ("k_", "gh", "github_pat_", "hf_", "npm_", "lsv2_", "xai_", "pplx_", "jina_", "e2b_", "r8_", "whsec_", "lin_api_",)),
    ("G", ("SG.",)),
    ("J", ("eyJ",)),
    ("A", ("AKIA", "ASIA", "AIza",)),
    ("B", ("Basic", "earer", "EARER",)),
    ("b", ("earer", "EARER",)),
)
NAME_HINT = "pass|pwd|secret|token|key|credential|authori|cookie|[?&;](?:sig|hmac|jwt|auth|x-|code=|assertion=|ticket=|s)"
