/*
 * Plain values as they stand in a frame: what `_values.py` does, under the rules of one configuration. What is not exactly plain, or has keys or texts that
 * masking might have something to say about, is left to it.
 */

/* ---------------------------------------------------------------- Rules, Same */

/* What `_values.py` knows of one configuration. */
typedef struct {
    PyObject_HEAD
    PyObject *harmless;  /* set of keys that tell nothing about what stands under them */
    PyObject *rows;      /* set of such keys where nothing beside them does: `value` of `{"name": ..., "value": ...}` */
    PyObject *clean;     /* dict with the texts that were looked at */
    PyObject *noted;     /* set of the ids of values that were large when they were written; NULL where nothing is referred to */
    Py_ssize_t shorter;  /* a text of at most this length cannot hold a secret */
    Py_ssize_t longest;  /* the longest text that is taken */
    Py_ssize_t numbers;  /* the longest list */
    Py_ssize_t items;    /* how much all containers of a value may hold */
    Py_ssize_t depth;    /* and how deep they may be nested */
    Py_ssize_t largest;  /* bytes of a frame */
    Py_ssize_t large;    /* bytes of a value from which on it is noted */
} Rules;

static void drop(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_Free(self);
    Py_DecRef((PyObject *)type);
}

static int has_keywords(PyObject *keywords)
{
    if (keywords == NULL || PyDict_Size(keywords) == 0)
        return 0;
    PyErr_SetString(PyExc_TypeError, "no keywords are taken");
    return 1;
}

/* Rules(harmless, rows, clean, noted, shorter, longest, numbers, items, depth, largest, large) */
static PyObject *rules_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    Rules made;
    if (has_keywords(keywords) ||
        !PyArg_ParseTuple(args, "O!O!O!Onnnnnnn", &PySet_Type, &made.harmless, &PySet_Type, &made.rows, &PyDict_Type, &made.clean, &made.noted, &made.shorter, &made.longest,
                          &made.numbers, &made.items, &made.depth, &made.largest, &made.large))
        return NULL;
    if (made.noted == Py_None)
        made.noted = NULL;
    else if (!PyObject_TypeCheck(made.noted, &PySet_Type)) {
        PyErr_SetString(PyExc_TypeError, "noted: a set or None");
        return NULL;
    }
    Rules *self = PyObject_New(Rules, type);
    if (self == NULL)
        return NULL;
    Py_IncRef(made.harmless);
    Py_IncRef(made.rows);
    Py_IncRef(made.clean);
    Py_IncRef(made.noted);
    memcpy(&self->harmless, &made.harmless, sizeof(Rules) - offsetof(Rules, harmless));
    return (PyObject *)self;
}

static void rules_dealloc(PyObject *self)
{
    Py_DecRef(((Rules *)self)->harmless);
    Py_DecRef(((Rules *)self)->rows);
    Py_DecRef(((Rules *)self)->clean);
    Py_DecRef(((Rules *)self)->noted);
    drop(self);
}

static PyObject *rules_encode(PyObject *self, PyObject *value);
static PyObject *rules_measured(PyObject *self, PyObject *args);

static PyMethodDef rules_methods[] = {
    {"encode", rules_encode, METH_O, "A plain value, encoded."},
    {"measured", rules_measured, METH_VARARGS, "The same, of a value that deep in a frame, with the number of its items."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot rules_slots[] = {{Py_tp_new, rules_new}, {Py_tp_dealloc, rules_dealloc}, {Py_tp_methods, rules_methods}, {0, NULL}};
static PyType_Spec rules_spec = {"toolbreak._compiled.Rules", sizeof(Rules), 0, Py_TPFLAGS_DEFAULT, rules_slots};
static PyTypeObject *rules_type;

/* Stands for a value that is written as these bytes. No app has one. */
typedef struct {
    PyObject_HEAD
    PyObject *bytes;
    Py_ssize_t items; /* what the value's containers hold */
} Same;

static PyObject *same_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *bytes;
    Py_ssize_t items = 0;
    if (has_keywords(keywords) || !PyArg_ParseTuple(args, "O!|n", &PyBytes_Type, &bytes, &items))
        return NULL;
    Same *self = PyObject_New(Same, type);
    if (self == NULL)
        return NULL;
    Py_IncRef(bytes);
    self->bytes = bytes;
    self->items = items;
    return (PyObject *)self;
}

static void same_dealloc(PyObject *self)
{
    Py_DecRef(((Same *)self)->bytes);
    drop(self);
}

static PyType_Slot same_slots[] = {{Py_tp_new, same_new}, {Py_tp_dealloc, same_dealloc}, {0, NULL}};
static PyType_Spec same_spec = {"toolbreak._compiled.Same", sizeof(Same), 0, Py_TPFLAGS_DEFAULT, same_slots};
static PyTypeObject *same_type;

/* Stands for a value that is written with these bytes before it, and says what it took. */
typedef struct {
    PyObject_HEAD
    PyObject *bytes;
    PyObject *value;
    Py_ssize_t size;
    Py_ssize_t items;
} Keep;

/* Keep(bytes, value) */
static PyObject *keep_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *bytes, *value;
    if (has_keywords(keywords) || !PyArg_ParseTuple(args, "O!O", &PyBytes_Type, &bytes, &value))
        return NULL;
    Keep *self = PyObject_New(Keep, type);
    if (self == NULL)
        return NULL;
    Py_IncRef(bytes);
    Py_IncRef(value);
    self->bytes = bytes;
    self->value = value;
    self->size = self->items = 0;
    return (PyObject *)self;
}

static void keep_dealloc(PyObject *self)
{
    Py_DecRef(((Keep *)self)->bytes);
    Py_DecRef(((Keep *)self)->value);
    drop(self);
}

static PyMemberDef keep_members[] = {
    {"size", T_PYSSIZET, offsetof(Keep, size), READONLY, NULL},
    {"items", T_PYSSIZET, offsetof(Keep, items), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot keep_slots[] = {{Py_tp_new, keep_new}, {Py_tp_dealloc, keep_dealloc}, {Py_tp_members, keep_members}, {0, NULL}};
static PyType_Spec keep_spec = {"toolbreak._compiled.Keep", sizeof(Keep), 0, Py_TPFLAGS_DEFAULT, keep_slots};
static PyTypeObject *keep_type;

/* ---------------------------------------------------------------- values */

/* Whether there is one of the words in it of which each name of a secret has one: without, `_masking.is_secret_name` says no. */
static int may_name_secret(const char *text, Py_ssize_t size)
{
    static const char *const words[] = {"pass", "pwd", "secret", "token", "key", "credential", "authori", "cookie", "bearer", "jwt"};
    for (Py_ssize_t at = 0; at < size; at++) {
        char now = text[at] | 32;
        if (now != 'p' && now != 's' && now != 't' && now != 'k' && now != 'c' && now != 'a' && now != 'b' && now != 'j')
            continue;
        for (size_t word = 0; word < sizeof words / sizeof *words; word++) {
            const char *wanted = words[word];
            Py_ssize_t same = 0;
            while (wanted[same] && at + same < size && (text[at + same] | 32) == wanted[same])
                same++;
            if (!wanted[same])
                return 1;
        }
    }
    return 0;
}

/* What `_masking.NAME_HINT` looks for, and more: the beginnings of names of secrets, and what stands in front of them in an address. */
static int hints_at_name(const char *text, Py_ssize_t size)
{
    for (Py_ssize_t at = 0; at < size; at++)
        if (text[at] == '?' || text[at] == '&' || text[at] == ';' || text[at] == '@')
            return 1;
    return may_name_secret(text, size);
}

/* Characters at which `is_harmless_ascii` looks at all. */
static unsigned char looked_at[256];

/* Whether `_masking.may_hold_secret` says no to a text of ASCII characters. Where this says no, that one may still say yes. */
static int is_harmless_ascii(const char *text, Py_ssize_t size)
{
    int underscore = 0, gh = 0, named = 0;
    for (Py_ssize_t at = 0; at < size; at++) {
        if (!looked_at[(unsigned char)text[at]])
            continue;
        char last = at ? text[at - 1] : 0;
        switch (text[at]) {
        case '=':
        case ':':
        case '(':
        case '[':
            named = 1;
            break;
        case '-':
            if (last && strchr("-kixtycpX2", last) != NULL)
                return 0;
            break;
        case '_':
            if (last && strchr("kfm2tab8cix", last) != NULL)
                return 0;
            underscore = 1;
            break;
        case '/':
            named |= last == '<';
            break;
        case '.':
            if (last == 'G')
                return 0;
            break;
        case 'h':
            gh |= last == 'g';
            break;
        case 'x':
            if (last == 'o' && at >= 2 && text[at - 2] == 'x')
                return 0;
            break;
        case 'J':
            if (last == 'y')
                return 0;
            break;
        case 'A':
            if (last == 'I')
                return 0;
            break;
        case 'a':
            if (last == 'z' && at >= 2 && text[at - 2] == 'I')
                return 0;
            break;
        case 'r':
        case 'R':
            if (at >= 4 && (last | 32) == 'e' && (text[at - 2] | 32) == 'r' && (text[at - 3] | 32) == 'a')
                return 0;
            break;
        case 'c':
            if (at >= 4 && memcmp(text + at - 4, "Basi", 4) == 0)
                return 0;
            break;
        }
    }
    return !(underscore && gh) && !(named && hints_at_name(text, size));
}

#include "_places.c"

typedef struct {
    unsigned char *next;
    unsigned char *end;
    Rules *rules;
    Py_ssize_t left;
    PyObject *large; /* the first value given to the call, or returned by it, that was large */
    int are_given;   /* whether the values of a dict are such */
} Output;

/* What becomes of a value or a frame. */
enum { WRITTEN, NOT_PLAIN, NO_ROOM };

static int put_bytes(Output *out, const void *bytes, Py_ssize_t size)
{
    if (out->end - out->next < size)
        return NO_ROOM;
    memcpy(out->next, bytes, size);
    out->next += size;
    return WRITTEN;
}

static int put_sized(Output *out, char kind, Py_ssize_t size)
{
    if (out->end - out->next < 5)
        return NO_ROOM;
    uint32_t word = (uint32_t)size;
    out->next[0] = kind;
    memcpy(out->next + 1, &word, 4);
    out->next += 5;
    return WRITTEN;
}

/* Bytes of a text below which it is looked at one by one, and from which on nothing is asked that takes its hash. */
enum { SHORT = 48, LONG_TO_HASH = 65536 };

static int put_text(Output *out, PyObject *text)
{
    Rules *rules = out->rules;
    Py_ssize_t length = PyUnicode_GetLength(text);
    const char *bytes = ascii_of(text);
    /* A character may take four bytes. */
    if (length < 0 || length > (bytes == NULL ? rules->longest : 4 * rules->longest))
        return NOT_PLAIN;
    Py_ssize_t size = length;
    PyObject *encoded = NULL;
    if (bytes == NULL) {
        /* Not PyUnicode_AsUTF8: the app's text would keep these bytes. */
        /* Half of a pair is no error, which would be an object whose making may run code of the app. */
        encoded = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
        if (encoded == NULL) {
            PyErr_Clear();
            return NOT_PLAIN;
        }
        bytes = PyBytes_AsString(encoded);
        size = PyBytes_Size(encoded);
    }
    int done = NOT_PLAIN;
    int is_ascii = size == length, is_short = is_ascii && size < SHORT;
    /* One by one only where 32 at once are not to be had, or found something that it knows better. */
    int is_harmless = length <= rules->shorter || (is_short && !is_wide && is_harmless_ascii(bytes, size)) ||
                      has_no_place((const unsigned char *)bytes, size, is_ascii) || (is_short && is_wide && is_harmless_ascii(bytes, size));
    if (is_harmless || (size < LONG_TO_HASH && PyDict_Contains(rules->clean, text) == 1)) {
        done = put_sized(out, 'u', size);
        if (done == WRITTEN)
            done = put_bytes(out, bytes, size);
    }
    Py_DecRef(encoded);
    return done;
}

/* Any but the smallest one. */
static int put_number(Output *out, long long number)
{
    if (number >= INT32_MIN && number <= INT32_MAX)
        return put_sized(out, 'i', (Py_ssize_t)(uint32_t)(int32_t)number);
    /* Digits of 15 bits, the lowest first; their number is negative for a negative value. */
    unsigned long long rest = number < 0 ? -(unsigned long long)number : (unsigned long long)number;
    uint16_t digits[5];
    int32_t count = 0;
    for (; rest; rest >>= 15)
        digits[count++] = rest & 0x7fff;
    int done = put_sized(out, 'l', (Py_ssize_t)(uint32_t)(number < 0 ? -count : count));
    return done == WRITTEN ? put_bytes(out, digits, count * 2) : done;
}

static int put_int(Output *out, PyObject *value)
{
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    return overflow || number == LLONG_MIN ? NOT_PLAIN : put_number(out, number);
}

static int put_value(Output *out, PyObject *value, Py_ssize_t depth);
static int put_given(Output *out, PyObject *value, Py_ssize_t depth);

enum { ROW_NAMES = sizeof names_of_rows / sizeof *names_of_rows - 1 };
static Py_ssize_t sizes_of_row_names[ROW_NAMES];

/* Whether one of the first `count` names of rows may be among the keys. Keys of the app's own classes would be asked whether they are equal. */
static int may_be_row(PyObject *fields, int count)
{
    PyObject *key, *item;
    Py_ssize_t next = 0;
    while (PyDict_Next(fields, &next, &key, &item)) {
        if (Py_TYPE(key) != &PyUnicode_Type)
            return 1;
        Py_ssize_t size = PyUnicode_GetLength(key);
        for (int at = 0; at < count; at++)
            if (sizes_of_row_names[at] == size && PyUnicode_CompareWithASCIIString(key, names_of_rows[at]) == 0)
                return 1;
    }
    return 0;
}

/* Whether the key of a dict tells nothing about any value in it. */
static int is_harmless_key(PyObject *key, PyObject *fields, Rules *rules)
{
    if (PySet_Contains(rules->harmless, key) == 1)
        return 1;
    if (PySet_Contains(rules->rows, key) != 1)
        return 0;
    /* Beside `text` and `keys` selectors alone say whose value it is. */
    return !may_be_row(fields, (PyUnicode_ReadChar(key, 0) | 0x20) == 'v' ? ROW_NAMES : SELECTORS);
}

/*
 * `parts`: by their places in the dict, those of `_memo.py` that stand for values; NULL for a value that is to be written, if it takes less than
 * `smallest` bytes.
 */
static int put_fields(Output *out, PyObject *value, Py_ssize_t depth, PyObject **parts, Py_ssize_t mark_at, Py_ssize_t smallest)
{
    PyObject *key, *item;
    Py_ssize_t at = 0;
    out->left -= PyDict_Size(value);
    if (out->left < 0 || depth > out->rules->depth)
        return NOT_PLAIN;
    int done = put_bytes(out, "{", 1);
    while (done == WRITTEN && PyDict_Next(value, &at, &key, &item)) {
        if (Py_TYPE(key) != &PyUnicode_Type || !is_harmless_key(key, value, out->rules))
            return NOT_PLAIN;
        /* Of a key that is not ASCII the interpreter keeps the bytes; harmless keys are short. */
        Py_ssize_t size;
        const char *name = PyUnicode_AsUTF8AndSize(key, &size);
        if (name == NULL) {
            PyErr_Clear();
            return NOT_PLAIN;
        }
        done = put_sized(out, 'u', size);
        if (done == WRITTEN)
            done = put_bytes(out, name, size);
        PyObject *part = parts == NULL ? NULL : *parts++;
        unsigned char *begin = out->next;
        if (done == WRITTEN)
            done = part != NULL   ? put_value(out, *(PyObject **)((char *)part + mark_at), depth)
                   : depth == 1 && out->are_given ? put_given(out, item, depth)
                                                   : put_value(out, item, depth);
        if (done == WRITTEN && parts != NULL && part == NULL && out->next - begin >= smallest)
            return NOT_PLAIN;
    }
    return done == WRITTEN ? put_bytes(out, "0", 1) : done;
}

enum { LONGEST_NAME = 200 };

/* Whether the first of two texts may be the name of the other one. What Python code found harmless as a key is none, nor what it knows for none by its letters. */
static int may_name_next(PyObject *item, Rules *rules)
{
    Py_ssize_t length = PyUnicode_GetLength(item);
    if (length > LONGEST_NAME)
        return 0;
    char letters[LONGEST_NAME];
    const char *text = ascii_of(item);
    if (text == NULL) {
        /* Names of secrets have their words in ASCII, whatever stands around them. */
        for (Py_ssize_t at = 0; at < length; at++) {
            Py_UCS4 letter = PyUnicode_ReadChar(item, at);
            letters[at] = letter < 128 ? (char)letter : 0;
        }
        text = letters;
    }
    return may_name_secret(text, length) && PySet_Contains(rules->harmless, item) != 1;
}

/* Whether the text after this one may be a secret because this one says so: `_masking.secret_after` is to look. */
static int announces(PyObject *item, PyObject *next, Py_ssize_t at, Py_ssize_t size, Rules *rules)
{
    if (Py_TYPE(item) != &PyUnicode_Type || next == NULL || Py_TYPE(next) != &PyUnicode_Type)
        return 0;
    if (PyUnicode_GetLength(item) > 0 && PyUnicode_ReadChar(item, 0) == '-')
        return 1;
    return size == 2 && at == 0 && may_name_next(item, rules);
}

static int is_small(PyObject *number)
{
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
    return !overflow && value > -(1LL << 62) && value < 1LL << 62;
}

/* Of a list or a tuple of the app. */
static int put_items(Output *out, PyObject *value, Py_ssize_t depth)
{
    int is_list = PyList_CheckExact(value);
    Py_ssize_t size = is_list ? PyList_Size(value) : PyTuple_Size(value);
    if (size > out->rules->numbers || depth > out->rules->depth)
        return NOT_PLAIN;
    /* As `_values.py` has it: of numbers alone, all whole or none, sixteen count as one. */
    Py_ssize_t left = out->left - 1;
    out->left -= 1 + size;
    PyTypeObject *numbers = NULL;
    if (size > 12)
        numbers = Py_TYPE(is_list ? items_of(value)[0] : PyTuple_GetItem(value, 0));
    if (numbers != &PyLong_Type && numbers != &PyFloat_Type)
        numbers = NULL;
    int done = put_sized(out, is_list ? '[' : '(', size);
    for (Py_ssize_t at = 0; done == WRITTEN && at < size; at++) {
        PyObject *item = is_list ? items_of(value)[at] : PyTuple_GetItem(value, at);
        if (Py_TYPE(item) == &PyLong_Type && (numbers == &PyLong_Type || out->left >= 0)) {
            /* Long lists are of these mostly. */
            int overflow;
            long long number = PyLong_AsLongLongAndOverflow(item, &overflow);
            if (!overflow && number >= INT32_MIN && number <= INT32_MAX) {
                if (numbers == &PyFloat_Type)
                    numbers = NULL;
                done = put_sized(out, 'i', (Py_ssize_t)(uint32_t)(int32_t)number);
                continue;
            }
        }
        PyObject *next = at + 1 == size ? NULL : is_list ? items_of(value)[at + 1] : PyTuple_GetItem(value, at + 1);
        if (announces(item, next, at, size, out->rules))
            return NOT_PLAIN;
        if (numbers != NULL && (Py_TYPE(item) != numbers || (numbers == &PyLong_Type && !is_small(item))))
            numbers = NULL;
        if (out->left < 0 && numbers == NULL)
            return NOT_PLAIN;
        done = put_value(out, item, depth);
    }
    if (numbers != NULL)
        out->left = left - (size >> 4);
    return out->left < 0 && done == WRITTEN ? NOT_PLAIN : done;
}

static int put_value(Output *out, PyObject *value, Py_ssize_t depth)
{
    PyTypeObject *type = Py_TYPE(value);
    if (type == &PyUnicode_Type)
        return put_text(out, value);
    if (type == &PyLong_Type)
        return put_int(out, value);
    if (value == Py_None)
        return put_bytes(out, "N", 1);
    if (type == &PyBool_Type)
        return put_bytes(out, value == Py_True ? "T" : "F", 1);
    if (type == &PyFloat_Type) {
        double number = PyFloat_AsDouble(value);
        int done = put_bytes(out, "g", 1);
        return done == WRITTEN ? put_bytes(out, &number, 8) : done;
    }
    if (type == &PyDict_Type)
        return put_fields(out, value, depth + 1, NULL, 0, 0);
    if (type == &PyList_Type || type == &PyTuple_Type)
        return put_items(out, value, depth + 1);
    if (type == same_type) {
        PyObject *bytes = ((Same *)value)->bytes;
        out->left -= ((Same *)value)->items;
        return out->left < 0 ? NOT_PLAIN : put_bytes(out, PyBytes_AsString(bytes), PyBytes_Size(bytes));
    }
    if (type == keep_type) {
        Keep *keep = (Keep *)value;
        int done = put_bytes(out, PyBytes_AsString(keep->bytes), PyBytes_Size(keep->bytes));
        unsigned char *begin = out->next;
        Py_ssize_t left = out->left;
        if (done == WRITTEN)
            done = put_value(out, keep->value, depth);
        keep->size = out->next - begin;
        keep->items = left - out->left;
        return done;
    }
    return NOT_PLAIN;
}

/* Whether the id of the value is among those of what was large: `_large.py` is to look whether it is the same. */
static int is_noted(Rules *rules, PyObject *value)
{
    if (rules->noted == NULL || PySet_Size(rules->noted) == 0)
        return 0;
    PyObject *id = PyLong_FromVoidPtr(value);
    int found = id != NULL && PySet_Contains(rules->noted, id) == 1;
    Py_DecRef(id);
    return found;
}

/* One value given to a call, or what it returned. */
static int put_given(Output *out, PyObject *value, Py_ssize_t depth)
{
    PyTypeObject *type = Py_TYPE(value);
    int may_be = type == &PyDict_Type || type == &PyList_Type || type == &PyTuple_Type ||
                 (type == &PyUnicode_Type && PyUnicode_GetLength(value) >= out->rules->large >> 2);
    if (may_be && is_noted(out->rules, value))
        return NOT_PLAIN;
    unsigned char *begin = out->next;
    int done = put_value(out, value, depth);
    if (may_be && done == WRITTEN && out->large == NULL && out->next - begin >= out->rules->large)
        out->large = value;
    return done;
}

#define MOST_NOTED 4000

/* Of a frame that is written: the next time of its large value is not to be missed. */
static void note_large(Rules *rules, PyObject *large)
{
    PyObject *noted = rules->noted;
    if (large == NULL || noted == NULL)
        return;
    PyObject *id = PyLong_FromVoidPtr(large);
    if (PySet_Size(noted) > MOST_NOTED)
        PySet_Clear(noted);
    if (id == NULL || PySet_Add(noted, id))
        PyErr_Clear();
    Py_DecRef(id);
}

#define FIRST_ROOM 65536

static PyObject *encode_alone(Rules *rules, PyObject *value, Py_ssize_t depth, Py_ssize_t *left);

/* encode(value) -> bytes | None: a value as it stands in a frame. None: not everything in it is plain. */
static PyObject *rules_encode(PyObject *self, PyObject *value)
{
    Py_ssize_t left;
    return encode_alone((Rules *)self, value, 0, &left);
}

/* measured(value, depth) -> (bytes, int) | None: the same, of a value that deep in the frame, and how much its containers hold. */
static PyObject *rules_measured(PyObject *self, PyObject *args)
{
    PyObject *value;
    Py_ssize_t depth, left = 0;
    if (!PyArg_ParseTuple(args, "On", &value, &depth))
        return NULL;
    PyObject *encoded = encode_alone((Rules *)self, value, depth, &left);
    return encoded == NULL || encoded == Py_None ? encoded : Py_BuildValue("Nn", encoded, ((Rules *)self)->items - left);
}

static PyObject *encode_alone(Rules *rules, PyObject *value, Py_ssize_t depth, Py_ssize_t *left)
{
    PyObject *encoded = NULL;
    unsigned char *memory = NULL;
    int done = NO_ROOM;
    for (Py_ssize_t room = FIRST_ROOM; done == NO_ROOM && (room == FIRST_ROOM || room / 4 <= rules->largest); room *= 4) {
        unsigned char *more = PyMem_Realloc(memory, room);
        if (more == NULL)
            break;
        memory = more;
        Output out = {memory, memory + (room < rules->largest ? room : rules->largest), rules, rules->items, NULL, 0};
        done = put_value(&out, value, depth);
        *left = out.left;
        if (done == WRITTEN)
            encoded = PyBytes_FromStringAndSize((char *)memory, out.next - memory);
    }
    PyMem_Free(memory);
    PyErr_Clear();
    if (encoded != NULL)
        return encoded;
    return none();
}
