/** What stands where a secret was, in all that is shown and recorded. Recordings of older runtimes have `•••` in texts. */
export const MASK = '***';

/**
 * What a secret is, by the name of its key and by its looks. The tables of the runtimes are generated from this: what one language masks, the
 * other masks, too.
 *
 * Names are compared as words: `apiKey`, `API-KEY` and `OPENAI_API_KEY` all end in the words "api", "key".
 */
export const SECRET_WORDS = {
  /** A name with one of these is a secret's. */
  anywhere:
    'password passwords passwd passphrase passphrases passcode passcodes pwd secret secrets credential credentials authorization cookie cookies apikey apikeys',
  /** A name with a word that ends so: `PGPASSWORD` is one word. */
  endings: 'password passwords passwd passphrase passphrases passcode passcodes',
  /** A name that ends so. */
  last:
    'token bearer jwt setcookie apitoken authtoken accesstoken refreshtoken idtoken sessiontoken privatekey secretkey accesskey clientsecret' +
    ' jwts apitokens authtokens accesstokens refreshtokens idtokens privatekeys secretkeys accesskeys clientsecrets',
  /** What makes secrets of a name that ends in "tokens": without one of these, they are a model's. */
  tokensBefore: 'access refresh auth api bearer csrf xsrf secret security oauth id',
  /** What makes a secret of a name that ends in "key". */
  keyBefore:
    'api private secret access signing encryption decryption ssh master auth account subscription license app application deploy hmac aes' +
    ' openai anthropic gemini groq mistral cohere huggingface tavily serper serpapi langsmith pinecone stripe sendgrid twilio aws',
  /** What makes a password of a name that ends in "pass": alone it is as often one of several passes, or the end of a test. */
  passBefore:
    'db database smtp imap mail email user login admin root ftp sftp ssh http https proxy redis mongo mysql mariadb postgres pg rabbitmq amqp mqtt ldap vpn wifi docker keystore',
  /** A name such as `password_length` or `token_count` speaks about a secret and is none. */
  about:
    'count counts length len min max limit budget policy required field fields hint prompt url uri expires expiry expiration type ttl usage used size' +
    ' strength attempts version enabled valid details changed updated created at label title reset name file path arn',
  /** `next_token` is a page mark, `eos_token` a word of a model's vocabulary. */
  tokensOfModels:
    'next page continuation eos bos pad unk sep cls mask max min stop end start special per first last new num total',
};

/** What says where something is typed in a page: `{"selector": "#password", "text": "..."}`, `{"element": "Password field", "text": "..."}`. */
export const SELECTORS = 'selector element locator xpath placeholder Selector';
/** What says in a row such as `{"name": "DB_PASSWORD", "value": "..."}` whose value it is. */
export const ROW_NAMES = `${SELECTORS} name key header field label Name Key Header Field Label`;
/** Under what the value of a row stands. */
export const ROW_VALUES = 'value Value';
/** Under what it stands only beside one of `SELECTORS`. */
export const TYPED_VALUES = 'text keys';

/** What a JSON schema of a secret's parameter has, and no secret: a dict of these alone that says a type. */
export const SCHEMA_KEYS = 'type title description format minLength maxLength nullable writeOnly';
export const SCHEMA_TYPES = 'string integer number boolean array object null';

const KEYS = SECRET_WORDS.keyBefore.replaceAll(' ', '|');
/** In texts, fewer of `tokensOfModels` are no secrets: `new_token=...` may be one, and nothing else tells. */
export const TOKENS_OF_TEXTS = 'next page eos bos pad unk sep cls mask'
  .split(' ')
  .map((word) => `(?<!${word}[_-])`)
  .join('');
const MANY_TOKENS = SECRET_WORDS.tokensBefore.replaceAll(' ', '|');
const ROWS = [...new Set(ROW_NAMES.toLowerCase().split(' '))].join('|');
const PLACES_TO_TYPE = [...new Set(SELECTORS.toLowerCase().split(' '))].join('|');
const PASSES = SECRET_WORDS.passBefore.replaceAll(' ', '|');
const NAMED = String.raw`(?:[a-z]{0,20}pass(?:word|wd|phrase|code)s?(?:[0-9]{1,2}|[_-]?(?:confirm(?:ation)?|again|repeat|verify|hash))?|(?:${PASSES})[_-]?pass|pwd|(?:${KEYS})[_-]?keys?|(?:[a-z]{0,20}[_-]?)?secrets?|(?:[a-z]+[_-])?(?:auth|access|refresh|session|id|bearer|api|csrf|xsrf|bot|user|app|device|sas)?${TOKENS_OF_TEXTS}token|(?:${MANY_TOKENS})[_-]?tokens|credentials?)(?:_?[0-9]{1,2}|[_-](?:value|prod|production|dev|test|staging|live|old|main|default))?`;
/** Words before `Token` that say that it is a model's, a page's or a program's own. */
const OTHER_TOKENS =
  `${SECRET_WORDS.tokensOfModels.replace(' new', '')} cancellation current unexpected parse peek curr`
    .split(' ')
    .map((word) => `(?<![${word[0]}${word[0]!.toUpperCase()}]${word.slice(1)})`)
    .join('');
/** `githubToken`, `SecretAccessKey`: in these, case tells where a word begins. */
const CAMEL =
  String.raw`[A-Za-z]{0,30}[a-z](?:${OTHER_TOKENS}Token` +
  String.raw`|(?<!\bis)(?<!\bhas)(?:${KEYS.replace(/\b[a-z]/g, (letter) => letter.toUpperCase())})Keys?)`;
const NAME = `(?:(?i:${NAMED})|${CAMEL})`;
/** Also with what a program puts before it: `OPENAI_API_KEY`. */
const PREFIXED = `(?:(?i:(?:[a-z]+_)?${NAMED})|${CAMEL})`;
/** A quote, in a text that may itself be quoted in others. */
const QUOTE = String.raw`\\{0,7}["']`;
/** Settings are often written below each other, with blanks to one column. */
const IS = String.raw`(?:[ \t]{2,20}|\s?)[=:]>?(?:[ \t]{2,20}|\s?)`;
/** `: str =`, `: Optional[str] =`, `: string =` */
const ANNOTATED = String.raw`:\s?&?[A-Za-z_][A-Za-z0-9_.]{0,40}(?:\[[A-Za-z0-9_., |\[\]()="']{0,60}\])?(?:\s?\|\s?None)?[ \t]{0,20}=`;
/** Before quotes also Go's, and what has a type in code. */
const IS_QUOTED = String.raw`(?:[ \t]{2,20}|\s?)(?:${ANNOTATED}|:=|[=:]>?)(?:[ \t]{2,20}|\s?)`;
/** Before the quotes of a text in code. */
const KIND_OF_TEXT = '(?:[bB][rR]?|[rR][bB]?|[uU@])?';

/** What is said of a secret where there is none, `secrets: none`, or of what kind it is, `password: str`. Written without case; a whole word up to its end, with what ends a sentence. */
export const NO_SECRET_WORD = String.raw`(?:none|null|nil|undefined|empty|unset|not|missing|absent|unknown|true|false|yes|no|valid|invalid|required|optional|expired|str|string|int|integer|bytes|bool|boolean|float|any|object|number|secretstr)[.!?]?`;
const NO_SECRET = NO_SECRET_WORD + String.raw`(?:[\s"'&,;\\)}\]]|$)`;
/** What in code has a secret in its fields, and what gives one when it is called or asked for an element. */
const HOLDERS = 'self|this|cls|config|settings|args|kwargs|request';
/** Words of every day as well: only what is assigned as in code. */
const OFTEN_HOLDERS =
  'cfg|conf|opts|options|req|response|resp|res|env|app|user|account|ctx|context|state|session|data|payload|body|params|props|form|secrets|event' +
  '|client|row|record|item|obj';
const GIVERS =
  'get|fetch|load|loads|read|next|create|generate|make|build|encode|decode|hash|sha|md5|encrypt|decrypt|sign|parse|env|require|find|pop|json|token_|choice|uuid|str|bytes|input';
const LISTS = 'tokens|secrets|keys|passwords|credentials|creds|headers|cookies|argv|parts';
/** A place that something else fills in: `${API_KEY}`, `$(cat token.txt)`, `{{ password }}`, `<your password>`, `%(password)s`. */
/** What ends a value of code. */
const END = String.raw`(?=[\s"'&,;)\]]|\\|$)`;
const TO_BE_FILLED = String.raw`\{\{\s?[A-Za-z_][A-Za-z_.\s|]{0,60}\}\}${END}`;
const PLACE = String.raw`\$\{\{?\s?[A-Za-z_][A-Za-z_.\s]{0,60}\}{1,2}${END}|\$\([a-z][a-z0-9_-]{0,20}[\s)]|${TO_BE_FILLED}|<[A-Za-z][A-Za-z_\s-]{0,40}>${END}|%(?:\([a-z_]{1,30}\))?s(?![A-Za-z0-9_])`;
/** Where a program gets the secret from, and not the secret: `os.environ["KEY"]`, `get_token(`, `self.tokens[i]`, `Optional[str]`, `token=token`. */
const CODE =
  String.raw`(?<!["'])(?:os\.(?:environ|getenv)|process\.env|getpass(?:\.getpass)?\(|Field\(|Optional\[` +
  String.raw`|(?:${HOLDERS}|(?:(?<= = )|(?<=:= ))(?:${OFTEN_HOLDERS}))(?:\??\.(?:[a-z_]{1,40}|[A-Z_]{1,40})){1,4}(?=[\s,;)\]}(\[]|$)` +
  String.raw`|(?:[A-Za-z_]{1,30}(?:\.|::)){0,3}_{0,2}(?:${GIVERS})(?:[A-Z0-9_][A-Za-z0-9_]{0,30})?\((?=[^\n]{0,300}\))` +
  String.raw`|(?:sys\.)?(?:${LISTS})\[(?:(?:-?[0-9]{1,3}|[a-z_]{1,20})\](?![A-Za-z0-9])|["'])` +
  String.raw`|(?:Input|Field|Value) (?:should|required|error)` +
  String.raw`|(?:await|new|yield|lambda|typeof)\s` +
  `|${PLACE}` +
  `|(?:${['token', 'password', 'api_key', 'secret'].map((name) => `(?:(?<=${name}=)|(?<=${name} = ))${name}`).join('|')})` +
  String.raw`(?=[\s,;)]|$))`;
const SOME = `(?!(?i:${NO_SECRET})|${CODE})`;
/** A model's word in JSON: `token": " the", "logprob": -0.3`. */
const WORD_OF_MODEL = String.raw`token\\?["']\s?:\s?\\?(?:"[^"\\\n]{0,60}\\?"|'[^'\\\n]{0,60}\\?'),\s{0,40}\\?["']logprob\\?["']\s?:\s?-?[0-9]`;
/** A JSON schema as text, in the place of a secret. */
export const SCHEMA_AS_TEXT = String.raw`\{(?=[^{}]{0,500}["']type\\?["']\s?:\s?\\?["'](?:${SCHEMA_TYPES.replaceAll(' ', '|')})\\?["'])(?:\s{0,99}\\?["'](?:${SCHEMA_KEYS.replaceAll(' ', '|')})\\?["']\s?:\s?(?:\\?"[^"\\]{0,300}\\?"|\\?'[^'\\]{0,300}\\?'|[A-Za-z0-9.]{1,20}),?){1,8}\s{0,99}\}`;
/** The name of a secret up to the quotes of its value, which may have blanks in it. */
const QUOTED = String.raw`(?<![A-Za-z])(?!${WORD_OF_MODEL})${PREFIXED}(?:${QUOTE}\]?)?${IS_QUOTED}`;
/** `[]` */
export const EMPTY_LIST = String.raw`[\[{(]\s*[\]})]`;

/** `sk-learn-based-models`: words with hyphens between them, and nothing else. */
export const WORDS = String.raw`[a-z]{1,15}(?:-[a-z]{1,15}){1,12}(?![A-Za-z0-9_-])`;

/** A list or a dictionary as text, with brackets in its texts, and one more level of them. */
const FLAT = String.raw`[^\[\]{}()"']|'[^']{0,2000}'|"[^"]{0,2000}"`;
export const LIST_AS_TEXT = String.raw`[\[{(](?:${FLAT}|[\[{(](?:${FLAT}){0,2000}[\]})]){0,2000}[\]})]`;

/** How what follows is to be read: it is no part of the secret. */
const SCHEME = String.raw`(?:\[?(?:[Bb]asic|[Bb]earer|[Tt]oken|[Dd]igest|[Aa]pi-?[Kk]ey)[ \t]+)?`;
/** Of the value of a header, which ends with its quote or its list. */
const OF_HEADER = String.raw`(?:[^\s"',;}\\]|\\(?!\\{0,7}["']))`;

/** What may stand between the name in a row and its value: `"type": "textbox", "ref": "e5", `. */
const FIELDS = String.raw`(?:${QUOTE}[A-Za-z_]{1,20}${QUOTE}:\s*(?:${QUOTE}[^"'\\\n]{0,60}${QUOTE}|[a-z0-9.]{1,20}),\s*){0,3}`;

/** Of a selector in quotes, which may have others in it. */
const OF_SELECTOR = String.raw`(?:[^"'\\\n]|\\{0,7}["'](?![,:]))`;

/** With what each of `NAMED_SECRETS` begins: where it is not, none of them has to find that out by itself. */
const NAMED_AT_ALL = String.raw`(?<![A-Za-z])(?:${PREFIXED}|(?i:cookies))(?:${QUOTE}\]?)?(?:[ \t]{2,20}|\s?)[=:]`;
/** A secret behind its name: a list or a dictionary as text, what stands in quotes, a word. */
const NAMED_SECRETS = [
  String.raw`(?<k7>(?<![A-Za-z])(?:${PREFIXED}|(?i:cookies))(?:${QUOTE})?${IS})(?!${EMPTY_LIST}|${SCHEMA_AS_TEXT}|${TO_BE_FILLED})(?:${LIST_AS_TEXT}|[\[{(][^\[\]{}()]*[\]})])`,
  String.raw`(?<k15>${QUOTED}${KIND_OF_TEXT}(?:"""|'''|["']))(?:(?<=')(?!(?i:${NO_SECRET_WORD})')(?:[^'\\\n]|\\[^\n]){3,2000}(?=')|(?<=")(?!(?i:${NO_SECRET_WORD})")(?:[^"\\\n]|\\[^\n]){3,2000}(?="))`,
  String.raw`(?<k16>${QUOTED}${KIND_OF_TEXT}\\{1,7}["'])(?:(?<=')(?!(?i:${NO_SECRET_WORD})\\)[^'\\\n]{3,2000}(?=\\{1,7}')|(?<=")(?!(?i:${NO_SECRET_WORD})\\)[^"\\\n]{3,2000}(?=\\{1,7}"))`,
  String.raw`(?<k5>(?<![A-Za-z])(?!${WORD_OF_MODEL})${NAME}(?:${QUOTE})?${IS}(?:${QUOTE})?${SCHEME})${SOME}[^\s"'&,;\\}\])]{3,}`,
  String.raw`(?<k6>(?<![A-Za-z])(?i:[a-z]+_${NAMED})(?:${QUOTE})?${IS}(?:${QUOTE})?${SCHEME})${SOME}[^\s"'&,;\\}\])]{3,}`,
  // What make assigns; in code a call, an element or another variable follows.
  String.raw`(?<k22>(?<![A-Za-z])${PREFIXED}[ \t]{0,20}:=[ \t]{0,20})${SOME}(?=[^\s"'&,;\\}\])([.]{0,200}[0-9])[^\s"'&,;\\}\])([.]{3,}(?=[\s"'&,;\\}\])]|$)`,
];

/**
 * Each keeps what stands before the secret in a group `k…` and what follows in none. A part that may be looked at again from the next place on has
 * an upper bound: without one, a text made of beginnings takes the square of its length, and the app stands still meanwhile.
 *
 * Where one may begin is known to `_secret_places.py` as well, which looks nowhere else: a new one has to be named there.
 *
 * Written so that both languages read it: groups are `(?<k1>…)`, and `(?i:…)` is the only switch.
 */
export const SECRET_PATTERNS = [
  String.raw`(?<![A-Za-z0-9])(?:sk|rk|pk|gsk|xai|pplx|lsv2)[-_](?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{14,}`,
  String.raw`(?<![A-Za-z0-9])(?:sk-(?!${WORDS})[A-Za-z0-9_-]{20,}|[srp]k_(?:live|test)_[A-Za-z0-9]{16,})`,
  String.raw`(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,})`,
  String.raw`(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{12,}`,
  String.raw`(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{30,}`,
  String.raw`(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?`,
  String.raw`(?<![A-Za-z0-9])(?:xox[a-z]|xapp)-[A-Za-z0-9-]{8,}`,
  String.raw`(?<![A-Za-z0-9])(?:tvly-[A-Za-z0-9-]{20,}|nvapi-[A-Za-z0-9_-]{30,}|(?:fc-|jina_|e2b_)[0-9a-f]{30,}|(?:r8|pcsk)_[A-Za-z0-9_]{30,}|whsec_[A-Za-z0-9+/]{24,}|(?:GOCSPX-|lin_api_)[A-Za-z0-9_-]{20,}|pypi-[A-Za-z0-9_-]{50,}|SG\.[A-Za-z0-9_-]{16,200}\.[A-Za-z0-9_-]{16,})`,
  String.raw`-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----))*(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?`,
  String.raw`(?<k1>(?i:authorization|cookie)(?:${QUOTE}\]?)?\s*[:=]\s*\[?\s?(?:b?${QUOTE})?${SCHEME})(?:${OF_HEADER}{4,}|(?=[^\s=;]{1,2}=)${OF_HEADER}{2,3}(?=;[ \t]*${OF_HEADER}))(?:;[ \t]*(?:(?i:expires)=[A-Za-z]{3},[^"';}\r\n]*|${OF_HEADER}+))*`,
  String.raw`(?<k2>[Bb][Ee][Aa][Rr][Ee][Rr]\s+)(?=[^\s]*[0-9]|[^\s]{20})[A-Za-z0-9._~+/=-]{6,}`,
  String.raw`(?<k3>Basic\s+)(?=[A-Za-z0-9+/]*[A-Z0-9=])[A-Za-z0-9+/]{12,}={0,2}`,
  // A token in the place of a user, and no words of which a user's name is made.
  String.raw`(?<k20>(?:(?<=http)|(?<=https))://)(?!(?:(?:[A-Za-z]{1,20}|[0-9]{1,4})[-_.]){1,9}[A-Za-z0-9]{1,8}[:@])(?=[^\s/:@"']{0,2000}[0-9])[A-Za-z0-9_.~%-]{20,2000}(?=:?@|:x-oauth-basic@)`,
  String.raw`(?<k4>://[^\s/:@"']*:)[^\s/"']+(?=@)`,
  String.raw`(?<k9>(?<![\w/.@:-])(?!mailto:)[\w.-]{1,64}:)[^\s/:@"',]{3,}(?=@(?:[\w.-]{1,253}(?::[0-9]|/)|[a-z]{1,8}\())`,
  String.raw`(?<k10>[?&;](?i:sig|signature|hmac|jwt|auth|x-(?:amz|goog|ms)-(?:signature|credential|security-token))=)[^\s"'&;#<>]+`,
  String.raw`(?<k11>[?&;](?i:key|code|assertion|ticket|session|sid|sessionid|session_id)=)[^\s"'&;#<>]{16,}`,
  `(?=${NAMED_AT_ALL})(?:${NAMED_SECRETS.join('|')})`,
  String.raw`(?<k17>(?<=[<:])(?i:(?:[a-z]+[_-]){0,4}[a-z]{0,20}${NAMED})(?:\s[^<>]{0,300})?>\s{0,200}(?:<!\[CDATA\[)?)(?!(?i:${NO_SECRET_WORD})\s{0,200}<)[^<>\s][^<>]{1,1998}[^<>\s](?=\s{0,200}(?:\]\]>\s{0,200})?</[^<>]{0,60}(?i:${NAMED})\s{0,9}>)`,
  String.raw`(?<k8>[(\[](?:b?["']|["']#)(?:(?i:(?:[a-z]+[_-])?(?:${NAMED}|authorization|cookie))|${CAMEL})["'],\s*b?)(?:'[^']*'|"[^"]*")`,
  String.raw`(?<k12>["']--?(?i:(?:[a-z]+-){0,4}${NAMED})["'],\s*)(?:'[^'-][^']*'|"[^"-][^"]*")`,
  String.raw`(?<k13>(?<![\w-])--(?i:(?:[a-z]+-){0,4}${NAMED})\s+)(?=[^\s"']*[0-9])[^\s"'-][^\s"']{3,}`,
  String.raw`(?<k14>["'](?i:${ROWS})${QUOTE}:\s*${QUOTE}#?(?:(?i:[a-z0-9]+[_-]){0,4}(?i:${NAMED}|authorization|cookie|set-cookie)|${CAMEL})${QUOTE},\s*${FIELDS}${QUOTE}(?i:value)${QUOTE}:\s*)(?:\\{0,7}'[^'\\]*\\{0,7}'|\\{0,7}"[^"\\]*\\{0,7}")`,
  // What is typed into a page's field for a password: `{"selector": "input[type='password']", "value": "..."}`; some name the element twice.
  String.raw`(?<k21>["'](?i:${PLACES_TO_TYPE})${QUOTE}:\s*${QUOTE}${OF_SELECTOR}{0,100}?(?i:pass(?:word|wd|phrase|code)|pwd)${OF_SELECTOR}{0,100}?${QUOTE},\s*${FIELDS}${QUOTE}(?i:value|${TYPED_VALUES.replaceAll(' ', '|')})${QUOTE}:\s*)(?:\\{0,7}'[^'\\]*\\{0,7}'|\\{0,7}"[^"\\]*\\{0,7}")`,
  String.raw`(?<k18>(?<![\w-])--(?i:(?:[a-z]+-){0,4}${NAMED})\s{1,9}\\?["'])(?:(?<=')(?!(?i:${NO_SECRET_WORD})\\?')[^'\\\n]{3,2000}(?=\\?')|(?<=")(?!(?i:${NO_SECRET_WORD})\\?")[^"\\\n]{3,2000}(?=\\?"))`,
  // What pydantic says of a field: its own text has what was given.
  String.raw`(?<k19>(?<![A-Za-z])(?i:(?:[a-z]+_)?${NAMED})\n[ \t]{1,4}[^\n]{0,300}input_value=${SCHEME})(?:'[^'\n]{0,2000}'|"[^"\n]{0,2000}"|${LIST_AS_TEXT}|[^\s,\]]+)`,
];

/** A cheap necessary condition: a text without any of these holds no secret. A single character comes before what it is looked for with. */
export const SECRET_HINTS: readonly (readonly [string, readonly string[]])[] = [
  [
    '-',
    [
      'sk-',
      'rk-',
      'pk-',
      'xox',
      'glpat-',
      '-----BEGIN',
      'xai-',
      'lsv2-',
      'pplx-',
      'tvly-',
      'nvapi-',
      'fc-',
      'xapp-',
      'GOCSPX-',
      'pypi-',
    ],
  ],
  [
    '_',
    ['k_', 'gh', 'github_pat_', 'hf_', 'npm_', 'lsv2_', 'xai_', 'pplx_', 'jina_', 'e2b_', 'r8_', 'whsec_', 'lin_api_'],
  ],
  ['G', ['SG.']],
  ['J', ['eyJ']],
  ['A', ['AKIA', 'ASIA', 'AIza']],
  ['B', ['Basic', 'earer', 'EARER']],
  ['b', ['earer', 'EARER']],
];

/** With `=`, `:`, a bracket before a quote, `--` or `</`, a text holds a secret only beside one of these. */
export const SECRET_NAME_HINT = String.raw`pass|pwd|secret|token|key|credential|authori|cookie|[?&;](?:sig|hmac|jwt|auth|x-|code=|assertion=|ticket=|s)`;
