/*
 * Where in a text a secret may begin, as `_secret_places.py` says it: a place too many costs time, a place too few would show a secret. Part of
 * `_compiled.c`.
 *
 * Bytes stand for themselves, and those of 0x80 and more for anything that may be there: a letter, or a space. Each pattern of `protocol/secrets.ts`
 * has some part of three characters by which it is found, 32 places at a time where the processor can; what is found is looked at more closely.
 */

typedef struct {
    const unsigned char *text;
    Py_ssize_t size;
    Py_ssize_t *places;
    Py_ssize_t count;
    Py_ssize_t room;
    Py_ssize_t most; /* with more places than this one, Python is to look */
    Py_ssize_t done; /* the last name of a secret */
} Places;

/* For each character, of which groups it may be the first, the second and the third. */
static unsigned char anchors[3][256];
/* The same by the two halves of a character's number, twice. */
static unsigned char halves[3][2][32];

static void add_anchors(unsigned char group, const char *const *sets)
{
    for (int at = 0; at < 3; at++)
        for (int byte = 0; byte < 256; byte++)
            if (sets[at] == NULL || (byte && strchr(sets[at], byte) != NULL))
                anchors[at][byte] |= group;
}

static void make_anchors(void)
{
    static const char *const groups[8][3] = {
        {"pPsStT", "aAwWeEoO", "sSdDcCkK"},                                  /* password, passwd, passphrase, pwd, secret, token */
        {"@", NULL, NULL},                                                   /* user:password@ */
        {"cC\"'", "rRoOnNkKhHfFsSeElLxXpP", "eEoOaAiIlLpPcC"},               /* credential, cookie, and names of rows such as "name", "key", "selector" */
        {"kKbB", "eEaA", "yYaAsS"},                                          /* key, bearer, Basic */
        {"aAet", "uUKSIyv2", "tTIzJlb"},                                     /* authori, AKIA, ASIA, AIza, eyJ, tvly-, e2b_ */
        {"?&;", "sShHjJaAxXkKcCtT", NULL},                                   /* &sig= */
        {"srph-:fnSeP", "kf-/ci8aGX", "-_/."},                               /* sk-, hf_, -----BEGIN, ://, fc-, nvapi-, r8_, jina_, whsec_, SG., GOCSPX- */
        {"xplgn", "oapsilh", "xilvtpousrm"},                                 /* xox, xai, pplx, lsv2, github_pat_, glpat-, ghp_, npm_ */
    };
    for (int group = 0; group < 8; group++)
        add_anchors(1 << group, groups[group]);
    for (int at = 0; at < 3; at++)
        for (int byte = 0; byte < 256; byte++)
            for (int twice = 0; twice < 32; twice += 16) {
                halves[at][0][twice + (byte & 15)] |= anchors[at][byte];
                halves[at][1][twice + (byte >> 4)] |= anchors[at][byte];
            }
}

/* ---------------------------------------------------------------- characters */

static unsigned char at_place(const Places *self, Py_ssize_t at)
{
    return at >= 0 && at < self->size ? self->text[at] : 0;
}

static int is_letter(unsigned char byte)
{
    return (byte | 32) >= 'a' && (byte | 32) <= 'z';
}

static int is_digit(unsigned char byte)
{
    return byte >= '0' && byte <= '9';
}

static int is_space(unsigned char byte)
{
    return byte == ' ' || (byte >= 9 && byte <= 13) || (byte >= 28 && byte <= 31) || byte >= 128;
}

static int is_quote(unsigned char byte)
{
    return byte == '"' || byte == '\'';
}

/* Whether the text goes on with this one. */
static int is_at(const Places *self, Py_ssize_t at, const char *wanted)
{
    Py_ssize_t size = strlen(wanted);
    return at >= 0 && at + size <= self->size && memcmp(self->text + at, wanted, size) == 0;
}

/* The same without case; `wanted` is in small letters. */
static int is_like(const Places *self, Py_ssize_t at, const char *wanted)
{
    if (at < 0)
        return 0;
    for (; *wanted; wanted++, at++) {
        if (at >= self->size)
            return 0;
        unsigned char byte = self->text[at];
        if ((byte >= 'A' && byte <= 'Z' ? byte | 32 : byte) != (unsigned char)*wanted)
            return 0;
    }
    return 1;
}

/* How many of the next characters are ASCII letters, digits, or of `more`. */
static Py_ssize_t run_of(const Places *self, Py_ssize_t at, const char *more, Py_ssize_t most)
{
    Py_ssize_t end = at;
    while (end < self->size && end - at < most && (is_letter(self->text[end]) || is_digit(self->text[end]) || (self->text[end] && strchr(more, self->text[end]) != NULL)))
        end++;
    return end - at;
}

/* ---------------------------------------------------------------- what may be a secret */

/* -1: there are too many. */
static int add_place(Places *self, Py_ssize_t at)
{
    if (at < 0)
        at = 0;
    if (self->count && self->places[self->count - 1] == at)
        return 0;
    if (self->count >= self->most)
        return -1;
    if (self->count == self->room) {
        Py_ssize_t room = self->room ? self->room * 2 : 64;
        Py_ssize_t *places = PyMem_Realloc(self->places, room * sizeof *places);
        if (places == NULL)
            return -1;
        self->places = places;
        self->room = room;
    }
    self->places[self->count++] = at;
    return 0;
}

/* A token that tells itself by how it begins: no letter and no digit before it, and so many characters behind. */
static int add_token(Places *self, Py_ssize_t at, Py_ssize_t size, const char *more, Py_ssize_t least)
{
    unsigned char before = at_place(self, at - 1);
    if (is_letter(before) || is_digit(before) || run_of(self, at + size, more, least) < least)
        return 0;
    return add_place(self, at);
}

/* Behind the backslashes of a text that is quoted in others. */
static Py_ssize_t behind_escapes(const Places *self, Py_ssize_t at)
{
    for (int left = 7; left > 0 && at_place(self, at) == '\\'; left--)
        at++;
    return at;
}

/* How long is what may still belong to the name of a secret: `_1`, `_value`, `_prod`. */
static Py_ssize_t ending_of(const Places *self, Py_ssize_t at)
{
    static const char *const endings[] = {"value", "prod", "dev", "test", "staging", "live", "old", "main", "default", NULL};
    unsigned char first = at_place(self, at);
    if (is_digit(first))
        return run_of(self, at, "", 16);
    if (first != '_' && first != '-')
        return 0;
    Py_ssize_t size = run_of(self, at + 1, "", 16);
    int belongs = is_digit(at_place(self, at + 1));
    for (const char *const *ending = endings; *ending; ending++)
        belongs = belongs || is_like(self, at + 1, *ending);
    return belongs ? size + 1 : 0;
}

/* The name of a secret from `at` to `end`, if what stands behind it may be the secret: what belongs to it may begin before it. */
static int add_name(Places *self, Py_ssize_t at, Py_ssize_t end)
{
    end += ending_of(self, end);
    Py_ssize_t next = behind_escapes(self, end);
    int spaced = next < self->size && is_space(self->text[next]);
    if (is_quote(at_place(self, next)))
        next++;
    int listed = next > end && at_place(self, next) == ',';
    /* `config["password"] = ` */
    next += next > end && at_place(self, next) == ']';
    while (next < self->size && is_space(self->text[next]))
        next++;
    int named = at_place(self, next) == '=' || at_place(self, next) == ':' || at_place(self, next) == '>';
    /* What pydantic says of a field stands below its name. */
    named = named || at_place(self, end) == '\n';
    if (!named && !listed && !spaced)
        return 0;
    Py_ssize_t start = at;
    while (start > self->done) {
        unsigned char before = self->text[start - 1];
        if (!is_letter(before) && before != '_' && before != '-')
            break;
        start--;
    }
    /* An option of a command line is followed by a space, and so is the name of an element that has attributes. */
    if (!named && !listed && start > self->done && !is_at(self, start, "--") && at_place(self, start - 1) != '<' && at_place(self, start - 1) != ':')
        return 0;
    for (Py_ssize_t place = start > 3 ? start - 3 : 0; place < at; place++) {
        unsigned char byte = self->text[place];
        int begins = is_letter(byte) ? !(place > 0 && is_letter(self->text[place - 1])) : byte >= 128 || strchr("\"'([-_", byte) != NULL;
        if (begins && add_place(self, place))
            return -1;
    }
    self->done = at;
    return add_place(self, at);
}

static int add_plural(Places *self, Py_ssize_t at, Py_ssize_t size)
{
    return add_name(self, at, at + size + ((at_place(self, at + size) | 32) == 's'));
}

/* `password`, and what may stand behind it in a name: `passwords`, `password2`, `password_hash`. */
static int add_password(Places *self, Py_ssize_t at, Py_ssize_t size)
{
    return add_name(self, at, at + size + run_of(self, at + size, "_-", 64));
}

static int ends_before(const Places *self, Py_ssize_t at, const char *const *words)
{
    if (at_place(self, at - 1) == '_' || at_place(self, at - 1) == '-')
        at--;
    for (; *words; words++)
        if (is_like(self, at - (Py_ssize_t)strlen(*words), *words))
            return 1;
    return 0;
}

/* `token` is one, and `tokens` of some kinds: what models count is none. */
static int add_tokens(Places *self, Py_ssize_t at)
{
    if ((at_place(self, at + 5) | 32) != 's')
        return add_name(self, at, at + 5);
    return ends_before(self, at, words_before_tokens) ? add_name(self, at, at + 6) : 0;
}

static int add_key(Places *self, Py_ssize_t at)
{
    return ends_before(self, at, words_before_key) ? add_plural(self, at, 3) : 0;
}

/* `db_pass`; `pass` alone is none. */
static int add_pass(Places *self, Py_ssize_t at)
{
    return ends_before(self, at, words_before_pass) ? add_name(self, at, at + 4) : 0;
}

/* `Bearer` and `Basic`, and the space behind. */
static int add_scheme(Places *self, Py_ssize_t at, Py_ssize_t size)
{
    return at + size < self->size && is_space(self->text[at + size]) ? add_place(self, at) : 0;
}

/* `?sig=` */
static int add_query(Places *self, Py_ssize_t at)
{
    Py_ssize_t size = 1;
    while (size < 48 && (is_letter(at_place(self, at + size)) || at_place(self, at + size) == '-' || at_place(self, at + size) == '_'))
        size++;
    return at_place(self, at + size) == '=' ? add_place(self, at) : 0;
}

/* `"name": "api_key", "value":` */
static int add_row(Places *self, Py_ssize_t at, Py_ssize_t size)
{
    Py_ssize_t next = behind_escapes(self, at + size);
    if (!is_quote(at_place(self, next++)) || at_place(self, next++) != ':')
        return 0;
    while (next < self->size && is_space(self->text[next]))
        next++;
    next = behind_escapes(self, next);
    if (!is_quote(at_place(self, next++)))
        return 0;
    next += at_place(self, next) == '#';
    next += run_of(self, next, "_-", self->size);
    next = behind_escapes(self, next);
    return is_quote(at_place(self, next)) && at_place(self, next + 1) == ',' ? add_place(self, at) : 0;
}

/* `://user:password@`, `://token@` */
static int add_address(Places *self, Py_ssize_t at)
{
    Py_ssize_t next = at + 3;
    unsigned char byte;
    while ((byte = at_place(self, next)) && (!is_space(byte) || byte >= 128) && byte != '/' && byte != ':' && byte != '@' && !is_quote(byte))
        next++;
    if (at_place(self, next) == 0 && next < self->size)
        return add_place(self, at); /* A zero, which is as good as any other character. */
    if (next - at - 3 >= 20 && (at_place(self, next) == '@' || at_place(self, next) == ':'))
        return add_place(self, at);
    if (at_place(self, next) != ':')
        return 0;
    for (next++; next < self->size; next++) {
        byte = self->text[next];
        if (byte == '@')
            return add_place(self, at);
        if ((is_space(byte) && byte < 128) || byte == '/' || is_quote(byte))
            return 0;
    }
    return 0;
}

static int is_of_login(unsigned char byte)
{
    return is_letter(byte) || is_digit(byte) || byte == '_' || byte == '.' || byte == '-' || byte >= 128;
}

/* `user:password@host/`, found by its `@`. */
static int add_login(Places *self, Py_ssize_t at)
{
    Py_ssize_t next = at + 1, colon = at - 1;
    while (next < self->size && is_of_login(self->text[next]))
        next++;
    unsigned char behind = at_place(self, next);
    if (next == at + 1 || !(behind == '/' || behind == '(' || (behind == ':' && is_digit(at_place(self, next + 1)))))
        return 0;
    for (; colon >= 0; colon--) {
        unsigned char byte = self->text[colon];
        if (byte == ':')
            break;
        if ((is_space(byte) && byte < 128) || byte == '/' || byte == '@' || is_quote(byte) || byte == ',')
            return 0;
    }
    if (colon < 0 || at - colon < 4)
        return 0;
    for (Py_ssize_t start = colon; start >= 0; start--) {
        if (start < colon && !is_of_login(self->text[start]))
            break;
        /* Characters of 0x80 and more take up to four bytes. */
        if (colon - start > 4 * 64)
            break;
        if (add_place(self, start))
            return -1;
    }
    return 0;
}

/* Looks closely at what begins with one of the anchors. -1: there are too many places. */
static int look_at(Places *self, Py_ssize_t at)
{
    switch (self->text[at]) {
    case 'p':
    case 'P':
        if (is_like(self, at, "password"))
            return add_password(self, at, 8);
        if (is_like(self, at, "passwd"))
            return add_password(self, at, 6);
        if (is_like(self, at, "passphrase"))
            return add_password(self, at, 10);
        if (is_like(self, at, "passcode"))
            return add_password(self, at, 8);
        if (is_like(self, at, "pass"))
            return add_pass(self, at);
        if (is_like(self, at, "pwd"))
            return add_name(self, at, at + 3);
        if (is_at(self, at, "pplx-") || is_at(self, at, "pplx_"))
            return add_token(self, at, 5, "_-", 14);
        if (is_at(self, at, "pk-") || is_at(self, at, "pk_"))
            return add_token(self, at, 3, "_-", 14);
        if (is_at(self, at - 3, "nvapi-"))
            return add_token(self, at - 3, 6, "_-", 30);
        if (is_at(self, at - 2, "pypi-"))
            return add_token(self, at - 2, 5, "_-", 50);
        if (is_at(self, at - 4, "GOCSPX-"))
            return add_token(self, at - 4, 7, "_-", 20);
        return is_at(self, at - 5, "lin_api_") ? add_token(self, at - 5, 8, "_-", 20) : 0;
    case 's':
    case 'S':
        if (is_like(self, at, "secret"))
            return add_plural(self, at, 6);
        if (is_at(self, at, "SG."))
            return add_token(self, at, 3, "_-", 16);
        if (is_at(self, at, "sk-") || is_at(self, at, "sk_")) {
            int before = at_place(self, at - 1) == 'g' ? add_token(self, at - 1, 4, "_-", 14) : is_at(self, at - 2, "pcsk_") ? add_token(self, at - 2, 5, "_", 30) : 0;
            return before ? before : add_token(self, at, 3, "_-", 14);
        }
        return 0;
    case 'r':
        if (is_at(self, at, "r8_"))
            return add_token(self, at, 3, "_", 30);
        return is_at(self, at, "rk-") || is_at(self, at, "rk_") ? add_token(self, at, 3, "_-", 14) : 0;
    case 't':
    case 'T':
        if (is_at(self, at, "tvly-"))
            return add_token(self, at, 5, "-", 20);
        return is_like(self, at, "token") ? add_tokens(self, at) : 0;
    case 'f':
        return is_at(self, at, "fc-") ? add_token(self, at, 3, "", 30) : 0;
    case 'c':
    case 'C':
        if (is_like(self, at, "credential"))
            return add_plural(self, at, 10);
        return is_like(self, at, "cookie") ? add_plural(self, at, 6) : 0;
    case 'k':
    case 'K':
        return is_like(self, at, "key") ? add_key(self, at) : 0;
    case 'a':
    case 'A':
        if (is_like(self, at, "authorization"))
            return add_name(self, at, at + 13);
        return is_at(self, at, "AKIA") || is_at(self, at, "ASIA") || is_at(self, at, "AIza") ? add_token(self, at, 4, "_-", 12) : 0;
    case 'b':
    case 'B':
        if (is_like(self, at, "bearer"))
            return add_scheme(self, at, 6);
        return is_at(self, at, "Basic") ? add_scheme(self, at, 5) : 0;
    case 'e':
        if (is_at(self, at - 3, "whsec_"))
            return add_token(self, at - 3, 6, "+/", 24);
        if (is_at(self, at, "e2b_"))
            return add_token(self, at, 4, "", 30);
        return is_at(self, at, "eyJ") ? add_token(self, at, 3, "_-", 8) : 0;
    case 'x':
        if (is_at(self, at, "xox"))
            return add_token(self, at, 3, "-", 9);
        if (is_at(self, at, "xapp-"))
            return add_token(self, at, 5, "-", 8);
        return is_at(self, at, "xai-") || is_at(self, at, "xai_") ? add_token(self, at, 4, "_-", 14) : 0;
    case 'l':
        return is_at(self, at, "lsv2-") || is_at(self, at, "lsv2_") ? add_token(self, at, 5, "_-", 14) : 0;
    case 'g':
        if (is_at(self, at, "github_pat_"))
            return add_token(self, at, 11, "_", 20);
        if (is_at(self, at, "glpat-"))
            return add_token(self, at, 6, "_-", 16);
        return is_at(self, at, "gh") && at_place(self, at + 3) == '_' ? add_token(self, at, 4, "", 16) : 0;
    case 'h':
        return is_at(self, at, "hf_") ? add_token(self, at, 3, "", 20) : 0;
    case 'n':
        if (is_at(self, at - 2, "jina_"))
            return add_token(self, at - 2, 5, "", 30);
        return is_at(self, at, "npm_") ? add_token(self, at, 4, "", 30) : 0;
    case '-':
        return is_at(self, at, "-----BEGIN ") ? add_place(self, at) : 0;
    case ':':
        return is_at(self, at, "://") ? add_address(self, at) : 0;
    case '?':
    case '&':
    case ';':
        return add_query(self, at);
    case '"':
    case '\'':
        for (const char *const *name = names_of_rows; *name; name++)
            if (is_like(self, at + 1, *name))
                return name < names_of_rows + SELECTORS ? add_place(self, at) : add_row(self, at, 1 + strlen(*name));
        return 0;
    case '@':
        return add_login(self, at);
    }
    return 0;
}

/* ---------------------------------------------------------------- finding them */

/* From `at` to `end`. What is behind the text counts as zeros. */
static int find_one_by_one(Places *self, Py_ssize_t at, Py_ssize_t end)
{
    for (; at < end; at++) {
        unsigned char first = anchors[0][self->text[at]];
        if (first && (first & anchors[1][at_place(self, at + 1)] & anchors[2][at_place(self, at + 2)]) && look_at(self, at))
            return -1;
    }
    return 0;
}

#ifdef HAS_WIDE
/* Of 32 characters, of which groups each may be the one at `part`. */
WIDE static __m256i groups_of(const unsigned char *text, int part)
{
    const __m256i half = _mm256_set1_epi8(15);
    __m256i bytes = _mm256_loadu_si256((const __m256i *)text);
    __m256i low = _mm256_shuffle_epi8(_mm256_loadu_si256((const __m256i *)halves[part][0]), _mm256_and_si256(bytes, half));
    __m256i high = _mm256_shuffle_epi8(_mm256_loadu_si256((const __m256i *)halves[part][1]), _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half));
    return _mm256_and_si256(low, high);
}

/* At which of 32 characters one of the anchors may begin. Two more are looked at. */
WIDE static uint32_t found_in(const unsigned char *text)
{
    __m256i found = _mm256_and_si256(_mm256_and_si256(groups_of(text, 0), groups_of(text + 1, 1)), groups_of(text + 2, 2));
    return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(found, _mm256_setzero_si256()));
}

/* What was found in `text`, which is the text from `at` on. Halves of several characters make up others. */
static int look_at_found(Places *self, Py_ssize_t at, const unsigned char *text, uint32_t mask)
{
    for (; mask; mask &= mask - 1) {
        int place = __builtin_ctz(mask);
        const unsigned char *one = text + place;
        if ((anchors[0][one[0]] & anchors[1][one[1]] & anchors[2][one[2]]) && look_at(self, at + place))
            return -1;
    }
    return 0;
}

/* Answers how far, or -1. */
WIDE static Py_ssize_t find_wide(Places *self)
{
    Py_ssize_t at = 0;
    for (; at + 34 <= self->size; at += 32) {
        uint32_t mask = found_in(self->text + at);
        if (mask && look_at_found(self, at, self->text + at, mask))
            return -1;
    }
    if (at >= self->size)
        return at;
    /* What is behind the text counts as zeros. */
    unsigned char rest[34] = {0};
    memcpy(rest, self->text + at, self->size - at);
    uint32_t mask = found_in(rest);
    return mask && look_at_found(self, at, rest, mask) ? -1 : at + 32;
}

#else
static Py_ssize_t find_wide(Places *self)
{
    return 0;
}
#endif

/* -1: there are too many. */
static int find_places(Places *self)
{
    Py_ssize_t at = is_wide ? find_wide(self) : 0;
    return at < 0 ? -1 : find_one_by_one(self, at, self->size);
}

/* Whether UTF-8 has a letter that an expression without case takes for one of a-z: those of `_OTHER_CASES`, and the sign of Kelvin. */
static int has_other_case(const unsigned char *text, Py_ssize_t size)
{
    for (Py_ssize_t at = 0; at + 1 < size; at++) {
        if (text[at] < 0xC4)
            continue;
        if (text[at] == 0xC4 && (text[at + 1] == 0xB0 || text[at + 1] == 0xB1))
            return 1;
        if (text[at] == 0xC5 && text[at + 1] == 0xBF)
            return 1;
        if (text[at] == 0xE2 && at + 2 < size && text[at + 1] == 0x84 && text[at + 2] == 0xAA)
            return 1;
    }
    return 0;
}

/* Whether no secret can begin anywhere in this UTF-8. */
static int has_no_place(const unsigned char *text, Py_ssize_t size, int is_ascii)
{
    Places places = {text, size, NULL, 0, 0, 0, 0};
    return (is_ascii || !has_other_case(text, size)) && find_places(&places) == 0;
}

static int compare_places(const void *one, const void *other)
{
    Py_ssize_t first = *(const Py_ssize_t *)one, second = *(const Py_ssize_t *)other;
    return (first > second) - (first < second);
}

/*
 * secret_places(text, most=-1) -> list | None: where in a text or bytes a secret may begin, in their order. Bytes are looked at as latin-1, the first
 * `most` of them. None: Python code is to look.
 */
static PyObject *secret_places(PyObject *module, PyObject *args)
{
    PyObject *value;
    Py_ssize_t most = -1;
    if (!PyArg_ParseTuple(args, "O|n", &value, &most))
        return NULL;
    PyObject *encoded = NULL, *made = NULL;
    const unsigned char *text;
    Py_ssize_t size;
    int is_ascii = 1;
    if (Py_TYPE(value) == &PyUnicode_Type) {
        encoded = PyUnicode_AsUTF8String(value);
        if (encoded == NULL) {
            PyErr_Clear(); /* Half of a pair. */
            return none();
        }
        text = (const unsigned char *)PyBytes_AsString(encoded);
        size = PyBytes_Size(encoded);
        is_ascii = PyUnicode_GetLength(value) == size;
        if (!is_ascii && has_other_case(text, size)) {
            Py_DecRef(encoded);
            return none();
        }
    } else if (Py_TYPE(value) == &PyBytes_Type) {
        text = (const unsigned char *)PyBytes_AsString(value);
        size = PyBytes_Size(value);
        if (most >= 0 && most < size)
            size = most;
    } else
        return none();
    Places places = {text, size, NULL, 0, 0, size + 100, 0};
    if (find_places(&places) == 0) {
        if (places.count)
            qsort(places.places, places.count, sizeof *places.places, compare_places);
        made = PyList_New(places.count);
        Py_ssize_t behind_first = 0, seen = 0; /* Bytes that are not the first of their character, in what was seen. */
        for (Py_ssize_t at = 0; made != NULL && at < places.count; at++) {
            for (; !is_ascii && seen < places.places[at]; seen++)
                behind_first += (text[seen] & 0xC0) == 0x80;
            PyObject *number = PyLong_FromSsize_t(places.places[at] - behind_first);
            if (number == NULL || PyList_SetItem(made, at, number)) {
                Py_DecRef(made);
                made = NULL;
            }
        }
    }
    PyMem_Free(places.places);
    Py_DecRef(encoded);
    if (made != NULL)
        return made;
    PyErr_Clear();
    return none();
}
