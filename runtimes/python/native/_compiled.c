/*
 * What `_memo.py` and `_spool.py` do most often, in C: whether a remembered value still consists of the same objects, and frames of plain values.
 *
 * A help, never a need: without it Python code does the same, and writes the same bytes. Only the stable interface of Python 3.10, so that one file
 * serves every later Python of this system; where its own checks fail when it is imported, it is not used.
 *
 * No code of the app runs here. All that is called are descriptors of the interpreter. References are counted by functions of the interpreter that
 * loads this, not by the macros of the one whose headers are at hand: only it knows which objects are immortal.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030A0000
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <structmember.h>

#if PY_VERSION_HEX >= 0x030D0000
/* In the stable interface still, though not in these headers. The one for buffers came with 3.11. */
extern int PyObject_AsWriteBuffer(PyObject *object, void **buffer, Py_ssize_t *size);
#endif

/* Not `Py_RETURN_NONE`: that is a macro which counts. */
static PyObject *none(void)
{
    Py_IncRef(Py_None);
    return Py_None;
}

/* Functions for processors with registers of 32 bytes. */
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#include <immintrin.h>
#define HAS_WIDE
#define WIDE __attribute__((target("avx2")))
static int is_wide;

static void look_for_wide(void)
{
    __builtin_cpu_init();
    is_wide = __builtin_cpu_supports("avx2");
}
#else
#define WIDE
static const int is_wide = 0;

static void look_for_wide(void)
{
}
#endif

/* Where a list keeps the address of its items. The stable interface has no way to compare them at once; `checked_layout` proves it. */
static Py_ssize_t items_at;

static PyObject **items_of(PyObject *list)
{
    return *(PyObject ***)((char *)list + items_at);
}

/* Where a text of ASCII keeps its characters, and by which bits of a word it is known; `find_ascii` proves it. 0: that could not be. */
static Py_ssize_t ascii_at;
static uint32_t ascii_bits;

static uint32_t state_of(PyObject *text)
{
    uint32_t state;
    memcpy(&state, (char *)text + sizeof(PyObject) + sizeof(Py_ssize_t) + sizeof(Py_hash_t), sizeof state);
    return state;
}

/* The characters of an exact `str`; NULL: they have to be encoded. */
static const char *ascii_of(PyObject *text)
{
    return ascii_at && (state_of(text) & ascii_bits) == ascii_bits ? (const char *)text + ascii_at : NULL;
}

/* Where a dict keeps a number that is a new one with each change of it (PEP 509); 0 where it has none that can be relied on. */
static Py_ssize_t version_at;

static uint64_t version_of(PyObject *dict)
{
    uint64_t version = 0;
    if (version_at)
        memcpy(&version, (char *)dict + version_at, sizeof version);
    return version;
}

/* ---------------------------------------------------------------- Snapshot */

/* Where the contents of a container are in `held`. */
typedef struct {
    uint32_t start;
    uint32_t size;
} Part;

typedef struct {
    PyObject *list;
    Part part;
} Listed;

typedef struct {
    PyObject *dict;
    uint64_t version; /* when it consisted of these */
    Part part;
} Versioned;

typedef struct {
    PyObject *object; /* a dict without such a number, or an object whose contents the garbage collector can see */
    PyObject *read;   /* where it is set: what answers the fields of the object, which then are the contents */
    Part part;
} Other;

/* A look takes what it reads: each kind lies together, as small as can be. */
typedef struct {
    PyObject_HEAD
    Listed *lists;
    Versioned *dicts;
    Other *others;
    PyObject **held; /* all contents, kept alive, so that an address cannot stand for two objects */
    Py_ssize_t list_count, dict_count, other_count, size;
    Py_ssize_t list_room, dict_room, other_room, room;
    int failed;
} Snapshot;

/* Room for `more` entries behind `count`. 0: there is none. */
static int make_room(void **entries, Py_ssize_t entry, Py_ssize_t count, Py_ssize_t *room, Py_ssize_t more)
{
    if (*room - count >= more)
        return 1;
    if (more >= UINT32_MAX - count)
        return 0;
    Py_ssize_t larger = *room ? *room * 2 : 8;
    while (larger - count < more)
        larger *= 2;
    void *made = PyMem_Realloc(*entries, larger * entry);
    if (made == NULL)
        return 0;
    *entries = made;
    *room = larger;
    return 1;
}

static int hold_room(Snapshot *self, Py_ssize_t more)
{
    int has = make_room((void **)&self->held, sizeof *self->held, self->size, &self->room, more);
    if (!has)
        self->failed = 1;
    return has;
}

static int hold(PyObject *item, void *self_)
{
    Snapshot *self = self_;
    if (!hold_room(self, 1))
        return 1;
    Py_IncRef(item);
    self->held[self->size++] = item;
    return 0;
}

typedef struct {
    PyObject **next;
    PyObject **end;
} Compared;

static int compare(PyObject *item, void *compared_)
{
    Compared *compared = compared_;
    if (compared->next == compared->end || *compared->next != item)
        return 1;
    compared->next++;
    return 0;
}

/* Hands every object that `object` contains to `visit`; ends when that answers other than 0. */
static int go_through(PyObject *object, PyObject *read, visitproc visit, void *with)
{
    int ended = 0;
    if (read != NULL) {
        PyObject *fields = PyObject_CallFunctionObjArgs(read, object, NULL);
        if (fields == NULL) {
            PyErr_Clear();
            return 1;
        }
        ended = visit((PyObject *)Py_TYPE(object), with);
        if (!ended)
            ended = visit(fields, with);
        Py_DecRef(fields);
        return ended;
    }
    if (PyDict_CheckExact(object)) {
        PyObject *key, *value;
        Py_ssize_t at = 0;
        while (!ended && PyDict_Next(object, &at, &key, &value)) {
            ended = visit(key, with);
            if (!ended)
                ended = visit(value, with);
        }
        return ended;
    }
    traverseproc traverse = (traverseproc)PyType_GetSlot(Py_TYPE(object), Py_tp_traverse);
    return traverse == NULL ? 1 : traverse(object, visit, with);
}

static void snapshot_dealloc(Snapshot *self)
{
    PyTypeObject *type = Py_TYPE(self);
    for (Py_ssize_t at = 0; at < self->list_count; at++)
        Py_DecRef(self->lists[at].list);
    for (Py_ssize_t at = 0; at < self->dict_count; at++)
        Py_DecRef(self->dicts[at].dict);
    for (Py_ssize_t at = 0; at < self->other_count; at++) {
        Py_DecRef(self->others[at].object);
        Py_DecRef(self->others[at].read);
    }
    for (Py_ssize_t at = 0; at < self->size; at++)
        Py_DecRef(self->held[at]);
    PyMem_Free(self->lists);
    PyMem_Free(self->dicts);
    PyMem_Free(self->others);
    PyMem_Free(self->held);
    PyObject_Free(self);
    Py_DecRef((PyObject *)type);
}

/* The place of one more entry; NULL: there is no room. */
#define NEXT(self, entries, count, room)                                                                                    \
    (make_room((void **)&(self)->entries, sizeof *(self)->entries, (self)->count, &(self)->room, 1) ? &(self)->entries[(self)->count] \
                                                                                                    : ((self)->failed = 1, NULL))

static int take_list(Snapshot *self, PyObject *list)
{
    Py_ssize_t size = PyList_Size(list);
    Listed *place = NEXT(self, lists, list_count, list_room);
    if (place == NULL || !hold_room(self, size))
        return -1;
    *place = (Listed){list, {(uint32_t)self->size, (uint32_t)size}};
    self->list_count++;
    Py_IncRef(list);
    for (PyObject **items = items_of(list), **end = items + size; items < end; items++) {
        Py_IncRef(*items);
        self->held[self->size++] = *items;
    }
    return 0;
}

static int take(Snapshot *self, PyObject *object, PyObject *read)
{
    if (read == NULL && PyList_CheckExact(object))
        return take_list(self, object);
    uint64_t version = read == NULL && PyDict_CheckExact(object) ? version_of(object) : 0;
    Part part = {(uint32_t)self->size, 0};
    if (go_through(object, read, hold, self))
        return -1;
    part.size = (uint32_t)self->size - part.start;
    if (version) {
        Versioned *place = NEXT(self, dicts, dict_count, dict_room);
        if (place == NULL)
            return -1;
        *place = (Versioned){object, version, part};
        self->dict_count++;
    } else {
        Other *place = NEXT(self, others, other_count, other_room);
        if (place == NULL)
            return -1;
        *place = (Other){object, read, part};
        self->other_count++;
        Py_IncRef(read);
    }
    Py_IncRef(object);
    return 0;
}

static Snapshot *new_snapshot(PyTypeObject *type)
{
    /* PyObject_New gives the type of a heap type a reference from Python 3.8 on. */
    Snapshot *self = PyObject_New(Snapshot, type);
    if (self != NULL)
        memset(&self->lists, 0, sizeof(Snapshot) - offsetof(Snapshot, lists));
    return self;
}

/* Snapshot(containers, fields): `containers` are dicts, lists and objects that show what they hold; `fields` pairs of a reader and a list of objects. */
static PyObject *snapshot_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *containers, *fields;
    if (keywords != NULL && PyDict_Size(keywords) > 0) {
        PyErr_SetString(PyExc_TypeError, "Snapshot takes no keywords");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &containers, &PyList_Type, &fields))
        return NULL;
    for (Py_ssize_t at = 0; at < PyList_Size(fields); at++) {
        PyObject *pair = PyList_GetItem(fields, at);
        if (!PyTuple_CheckExact(pair) || PyTuple_Size(pair) != 2 || !PyList_CheckExact(PyTuple_GetItem(pair, 1))) {
            PyErr_SetString(PyExc_TypeError, "fields: pairs of a reader and a list of objects");
            return NULL;
        }
    }
    Snapshot *self = new_snapshot(type);
    if (self == NULL)
        return NULL;
    for (Py_ssize_t at = 0; at < PyList_Size(containers); at++)
        if (take(self, PyList_GetItem(containers, at), NULL))
            goto changed;
    for (Py_ssize_t at = 0; at < PyList_Size(fields); at++) {
        PyObject *read = PyTuple_GetItem(PyList_GetItem(fields, at), 0);
        PyObject *objects = PyTuple_GetItem(PyList_GetItem(fields, at), 1);
        for (Py_ssize_t each = 0; each < PyList_Size(objects); each++)
            if (take(self, PyList_GetItem(objects, each), read))
                goto changed;
    }
    return (PyObject *)self;
changed:
    if (self->failed)
        PyErr_NoMemory();
    else
        PyErr_SetString(PyExc_ValueError, "its contents cannot be read");
    Py_DecRef((PyObject *)self);
    return NULL;
}

static int consists_of(Snapshot *self, PyObject *object, PyObject *read, Part part)
{
    Compared compared = {self->held + part.start, self->held + part.start + part.size};
    return !go_through(object, read, compare, &compared) && compared.next == compared.end;
}

/* One address, and four at a time: wide registers where the function that this goes into may use them. */
typedef uint64_t One __attribute__((may_alias));
typedef uint64_t Four __attribute__((vector_size(32), aligned(8), may_alias));

/*
 * Whether the lists consist of the very objects that they consisted of. There is one answer at the end of them all: that one was changed is rare, and
 * what is not asked need not be waited for.
 */
static inline __attribute__((always_inline)) int are_lists_same(const Snapshot *self)
{
    Four changed = {0};
    uint64_t rest = 0;
    for (const Listed *place = self->lists, *end = place + self->list_count; place < end; place++) {
        Py_ssize_t size = place->part.size;
        if (Py_SIZE(place->list) != size)
            return 0;
        char *items = (char *)items_of(place->list), *held = (char *)(self->held + place->part.start);
        if (sizeof(PyObject *) != 8) {
            rest |= size && memcmp(items, held, size * sizeof(PyObject *));
            continue;
        }
        if (size < 4) {
            for (Py_ssize_t at = 0; at < size; at++)
                rest |= ((const One *)items)[at] ^ ((const One *)held)[at];
            continue;
        }
        /* The last four may have been among those before. */
        Py_ssize_t last = (size - 4) * 8;
        for (Py_ssize_t at = 0; at < last; at += 32)
            changed |= *(const Four *)(items + at) ^ *(const Four *)(held + at);
        changed |= *(const Four *)(items + last) ^ *(const Four *)(held + last);
    }
    return !(rest | changed[0] | changed[1] | changed[2] | changed[3]);
}

WIDE static int are_lists_same_wide(const Snapshot *self)
{
    return are_lists_same(self);
}

/* Whether everything consists of the very objects that it consisted of. */
static int is_same(Snapshot *self)
{
    uint64_t changed = 0;
    if (!(is_wide ? are_lists_same_wide(self) : are_lists_same(self)))
        return 0;
    for (const Versioned *place = self->dicts, *end = place + self->dict_count; place < end; place++)
        changed |= version_of(place->dict) ^ place->version;
    for (Versioned *place = self->dicts, *end = place + self->dict_count; changed && place < end; place++) {
        uint64_t version = version_of(place->dict);
        if (version == place->version)
            continue;
        if (!consists_of(self, place->dict, NULL, place->part))
            return 0;
        place->version = version;
    }
    for (const Other *place = self->others, *end = place + self->other_count; place < end; place++)
        if (!consists_of(self, place->object, place->read, place->part))
            return 0;
    return 1;
}

/* Whether nothing in it can change, and nothing has to be looked at inside. */
static int is_atom(PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    return type == &PyUnicode_Type || type == &PyLong_Type || type == &PyFloat_Type || value == Py_None || type == &PyBool_Type || type == &PyBytes_Type ||
           type == &PyComplex_Type;
}

/* Takes all that a plain value consists of. -1: it is not plain, or consists of too much. */
static int take_all(Snapshot *self, PyObject *value, Py_ssize_t levels, Py_ssize_t *left)
{
    if (--*left < 0 || levels <= 0)
        return -1;
    if (PyTuple_CheckExact(value)) {
        for (Py_ssize_t at = 0; at < PyTuple_Size(value); at++) {
            PyObject *item = PyTuple_GetItem(value, at);
            if (!is_atom(item) && take_all(self, item, levels - 1, left))
                return -1;
        }
        return 0;
    }
    int is_dict = PyDict_CheckExact(value);
    if (!is_dict && !PyList_CheckExact(value))
        return -1;
    Py_ssize_t at = self->size + is_dict;
    if (take(self, value, NULL))
        return -1;
    /* Of a dict, keys and values in turn. What the items hold is put behind them. */
    for (Py_ssize_t end = self->size; at < end; at += 1 + is_dict)
        if (!is_atom(self->held[at]) && take_all(self, self->held[at], levels - 1, left))
            return -1;
    return 0;
}

/*
 * of(value, levels, most) -> Snapshot | None: of a value of dicts, lists, tuples, texts and numbers, at most so deep and with at most so many containers.
 * Nothing else runs meanwhile, so that it is of one moment.
 */
static PyObject *snapshot_of(PyObject *type, PyObject *args)
{
    PyObject *value;
    Py_ssize_t levels, most;
    if (!PyArg_ParseTuple(args, "Onn", &value, &levels, &most))
        return NULL;
    Snapshot *self = new_snapshot((PyTypeObject *)type);
    if (self == NULL)
        return NULL;
    if (take_all(self, value, levels, &most) == 0)
        return (PyObject *)self;
    Py_DecRef((PyObject *)self);
    PyErr_Clear();
    return none();
}

static PyObject *snapshot_same(Snapshot *self, PyObject *nothing)
{
    return PyBool_FromLong(is_same(self));
}

static Py_ssize_t snapshot_length(PyObject *self)
{
    return ((Snapshot *)self)->size;
}

static PyMethodDef snapshot_methods[] = {
    {"same", (PyCFunction)snapshot_same, METH_NOARGS, "Whether everything consists of the very objects that it consisted of."},
    {"of", (PyCFunction)snapshot_of, METH_VARARGS | METH_CLASS, "All that a plain value consists of."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot snapshot_slots[] = {
    {Py_tp_new, snapshot_new},
    {Py_tp_dealloc, snapshot_dealloc},
    {Py_tp_methods, snapshot_methods},
    {Py_sq_length, snapshot_length},
    {0, NULL},
};

static PyType_Spec snapshot_spec = {"toolbreak._compiled.Snapshot", sizeof(Snapshot), 0, Py_TPFLAGS_DEFAULT, snapshot_slots};

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

/* What `_masking.NAME_HINT` looks for, and more: the beginnings of names of secrets, and what stands in front of them in an address. */
static int hints_at_name(const char *text, Py_ssize_t size)
{
    static const char *const words[] = {"pass", "pwd", "secret", "token", "key", "credential", "authori", "cookie"};
    for (Py_ssize_t at = 0; at < size; at++) {
        char now = text[at];
        if (now == '?' || now == '&' || now == ';' || now == '@')
            return 1;
        now |= 32;
        if (now != 'p' && now != 's' && now != 't' && now != 'k' && now != 'c' && now != 'a')
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
    if (length < 0 || length > rules->longest)
        return NOT_PLAIN;
    const char *bytes = ascii_of(text);
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

static int put_int(Output *out, PyObject *value)
{
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow || number == LLONG_MIN)
        return NOT_PLAIN;
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

static int put_value(Output *out, PyObject *value, Py_ssize_t depth);
static int put_given(Output *out, PyObject *value, Py_ssize_t depth);

#define NAMES 4
static PyObject *names[NAMES]; /* what says in a row whose value it is */

/* Whether the key of a dict tells nothing about any value in it. */
static int is_harmless_key(PyObject *key, PyObject *fields, Rules *rules)
{
    if (PySet_Contains(rules->harmless, key) == 1)
        return 1;
    if (PySet_Contains(rules->rows, key) != 1)
        return 0;
    /* Keys of the app's own classes would be asked whether they are equal. */
    PyObject *other, *item;
    Py_ssize_t next = 0;
    while (PyDict_Next(fields, &next, &other, &item))
        if (Py_TYPE(other) != &PyUnicode_Type)
            return 0;
    for (int at = 0; at < NAMES; at++)
        if (PyDict_Contains(fields, names[at]) != 0)
            return 0;
    return 1;
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

/* Whether the text after this one may be a secret because this one says so: `_masking.secret_after` is to look. */
static int announces(PyObject *item, PyObject *next, Py_ssize_t at, Py_ssize_t size)
{
    if (Py_TYPE(item) != &PyUnicode_Type || next == NULL || Py_TYPE(next) != &PyUnicode_Type)
        return 0;
    return (size == 2 && at == 0) || (PyUnicode_GetLength(item) > 0 && PyUnicode_ReadChar(item, 0) == '-');
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
        if (announces(item, next, at, size))
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

/* ---------------------------------------------------------------- Cursor */

#include "_crc.c"

/* The part of a `Segment` that appends: where in its mapped file the next frame begins. */
typedef struct {
    PyObject_HEAD
    unsigned char *memory;
    Py_ssize_t mapped;
    Py_ssize_t place;
    Py_ssize_t end;
    char busy;
} Cursor;

static PyObject *recorded_name;

/* How many of these are gone: what only borrows one asks whether that may have been it. */
static unsigned long cursors_gone;

static void cursor_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    cursors_gone++;
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DecRef((PyObject *)type);
}

/* A start has eight parts, among them the arguments, and an end six, among them the result; states and events have fewer. */
enum { START_PARTS = 8, ARGUMENTS = 6, END_PARTS = 6, RESULT = 4 };

/* Encodes a frame behind its head of 8 bytes at `place`; its length is not written. `large`: what is to be noted once the frame is there, or NULL. */
static int encode(Cursor *self, Rules *rules, PyObject *frame, Py_ssize_t taken, Py_ssize_t place, Py_ssize_t *size, PyObject **large)
{
    Py_ssize_t room = self->end - place - 8;
    Py_ssize_t largest = rules->largest - taken;
    if (room <= 0)
        return NO_ROOM;
    if (largest <= 0)
        return NOT_PLAIN;
    unsigned char *begin = self->memory + place + 8;
    Py_ssize_t count = PyTuple_Size(frame);
    Output out = {begin, begin + (room < largest ? room : largest), rules, rules->items, NULL, 0};
    int done = put_sized(&out, '(', count);
    for (Py_ssize_t at = 0; done == WRITTEN && at < count; at++) {
        out.left = rules->items;
        out.are_given = large != NULL && count == START_PARTS && at == ARGUMENTS;
        PyObject *part = PyTuple_GetItem(frame, at);
        done = large != NULL && count == END_PARTS && at == RESULT ? put_given(&out, part, 0) : put_value(&out, part, 0);
    }
    *size = out.next - begin;
    if (large != NULL && out.large != NULL)
        *large = out.large;
    if (done == NO_ROOM && room >= largest)
        return NOT_PLAIN;
    return done;
}

static void commit(Cursor *self, Py_ssize_t place, Py_ssize_t size)
{
    uint32_t *words = (uint32_t *)(self->memory + place);
    words[1] = crc_of(self->memory + place + 8, size);
    __atomic_store_n(words, (uint32_t)size, __ATOMIC_RELEASE);
}

static Py_ssize_t behind(Py_ssize_t place, Py_ssize_t size)
{
    return (place + 8 + size + 3) & -4;
}

/*
 * put(rules, call, recorded, frame, second=None, taken=0, notes=True) -> int: appends one frame, or two that belong together, and sets `call.recorded`.
 * Each may have the bytes of the rules without those that are `taken`. `notes`: large values are noted, and those that were are not plain. 0: done.
 * 1: not everything in them is plain, 2: there is no room, and nothing was written.
 */
static PyObject *cursor_put(Cursor *self, PyObject *args)
{
    PyObject *rules_, *call, *recorded, *frame, *second = Py_None;
    Py_ssize_t taken = 0;
    int notes = 1;
    if (!PyArg_ParseTuple(args, "O!OOO!|Onp", rules_type, &rules_, &call, &recorded, &PyTuple_Type, &frame, &second, &taken, &notes))
        return NULL;
    Rules *rules = (Rules *)rules_;
    if (second != Py_None && !PyTuple_CheckExact(second)) {
        PyErr_SetString(PyExc_TypeError, "second: a tuple or None");
        return NULL;
    }
    if (self->busy || self->memory == NULL)
        return PyLong_FromLong(NOT_PLAIN);
    if (self->end > self->mapped || self->place < 8 || self->place & 3)
        return PyLong_FromLong(NO_ROOM);
    self->busy = 1;
    Py_ssize_t place = self->place, size = 0, middle = 0, more = 0;
    PyObject *large = NULL;
    int done = encode(self, rules, frame, taken, place, &size, notes ? &large : NULL);
    if (done == WRITTEN && second != Py_None) {
        middle = behind(place, size);
        done = encode(self, rules, second, taken, middle, &more, notes ? &large : NULL);
    }
    if (done == WRITTEN) {
        /* A reader sees none of them before the length of the first. */
        if (second != Py_None)
            commit(self, middle, more);
        commit(self, place, size);
        self->place = second != Py_None ? behind(middle, more) : behind(place, size);
        if (call != Py_None && PyObject_SetAttr(call, recorded_name, recorded))
            PyErr_Clear();
        note_large(rules, large);
    } else if (place + 8 <= self->end) {
        /* What was begun must not be taken for the head of a frame by whoever writes a shorter one here. */
        Py_ssize_t last = self->end;
        Py_ssize_t touched = middle ? middle + 8 + more : place + 8 + size;
        memset(self->memory + place, 0, (touched < last ? touched : last) - place);
    }
    PyErr_Clear(); /* Of what is not plain only. */
    self->busy = 0;
    return PyLong_FromLong(done);
}

/* open(map): appends go into this writable buffer from now on. Its owner keeps it until `end` is 0. */
static PyObject *cursor_open(Cursor *self, PyObject *buffer)
{
    void *memory;
    Py_ssize_t size;
    if (PyObject_AsWriteBuffer(buffer, &memory, &size))
        return NULL;
    if ((size_t)memory & 3) {
        PyErr_SetString(PyExc_ValueError, "the buffer is not aligned");
        return NULL;
    }
    self->memory = memory;
    self->mapped = size;
    return none();
}

static PyMethodDef cursor_methods[] = {
    {"put", (PyCFunction)cursor_put, METH_VARARGS, "Appends one or two frames. 0: done, 1: not plain, 2: no room."},
    {"open", (PyCFunction)cursor_open, METH_O, "Appends go into this writable buffer from now on."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef cursor_members[] = {
    {"place", T_PYSSIZET, offsetof(Cursor, place), 0, NULL},
    {"end", T_PYSSIZET, offsetof(Cursor, end), 0, NULL},
    {"busy", T_BOOL, offsetof(Cursor, busy), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot cursor_slots[] = {{Py_tp_dealloc, cursor_dealloc}, {Py_tp_methods, cursor_methods}, {Py_tp_members, cursor_members}, {0, NULL}};
static PyType_Spec cursor_spec = {"toolbreak._compiled.Cursor", sizeof(Cursor), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, cursor_slots};

#include "_calls.c"
#include "_functions.c"
#include "_nodes.c"
#include "_hooks.c"

/* ---------------------------------------------------------------- the module */

/* Whether a list keeps the address of its items where its size says: before the number of places that it has. */
static int checked_layout(void)
{
    PyObject *size = PyObject_GetAttrString((PyObject *)&PyList_Type, "__basicsize__");
    if (size == NULL)
        return -1;
    items_at = PyLong_AsSsize_t(size) - 2 * (Py_ssize_t)sizeof(void *);
    Py_DecRef(size);
    if (items_at < (Py_ssize_t)sizeof(PyObject) || items_at > 64)
        return 0;
    PyObject *sample = PyList_New(3);
    if (sample == NULL)
        return -1;
    PyObject *expected[3] = {Py_None, Py_True, (PyObject *)&PyList_Type};
    for (Py_ssize_t at = 0; at < 3; at++) {
        Py_IncRef(expected[at]);
        if (PyList_SetItem(sample, at, expected[at])) {
            Py_DecRef(sample);
            return -1;
        }
    }
    PyObject **items = items_of(sample);
    int fits = items != NULL && ((size_t)items & (sizeof(void *) - 1)) == 0 && memcmp(items, expected, sizeof expected) == 0;
    Py_DecRef(sample);
    return fits;
}

/* Looks by texts of every kind which bits say that one is ASCII, and that its characters follow at once, and where that is. */
static void find_ascii(void)
{
    static const char *const plain[] = {"", "a", "a text", "one that is longer than those, and nowhere else", "\x7f"};
    static const char *const others[] = {"\xc3\xa9", "a \xc3\xbc", "\xe4\xb8\xad", "\xf0\x9f\x98\x80 and more"};
    PyObject *empty = PyUnicode_FromString(""), *size = empty == NULL ? NULL : PyObject_CallMethod(empty, "__sizeof__", NULL);
    PyObject *derived = PyObject_CallFunction((PyObject *)&PyType_Type, "s(O){}", "text", &PyUnicode_Type);
    PyObject *far = derived == NULL ? NULL : PyObject_CallFunction(derived, "s", "a text");
    Py_ssize_t place = size == NULL ? -1 : PyLong_AsSsize_t(size) - 1, least = sizeof(PyObject) + sizeof(Py_ssize_t) + sizeof(Py_hash_t) + 4;
    uint32_t all = ~0u, compact = ~0u, ascii = ~0u;
    int fits = far != NULL && place >= least && place <= 128;
    for (size_t at = 0; fits && at < sizeof plain / sizeof *plain; at++) {
        PyObject *text = PyUnicode_FromString(plain[at]);
        fits = text != NULL && memcmp((char *)text + place, plain[at], strlen(plain[at]) + 1) == 0;
        all &= fits ? state_of(text) : 0;
        Py_DecRef(text);
    }
    for (size_t at = 0; fits && at < sizeof others / sizeof *others; at++) {
        PyObject *text = PyUnicode_FromString(others[at]);
        fits = text != NULL;
        compact &= fits ? state_of(text) : 0;
        ascii &= fits ? ~state_of(text) : 0;
        Py_DecRef(text);
    }
    if (fits) {
        compact &= all & ~state_of(far);
        ascii &= all;
        ascii_at = compact && ascii ? place : 0;
        ascii_bits = compact | ascii;
    }
    PyErr_Clear();
    Py_DecRef(far);
    Py_DecRef(derived);
    Py_DecRef(size);
    Py_DecRef(empty);
}

/* Whether that number is where it was from Python 3.6 to 3.12. Later ones do not keep it for the attributes of objects. */
static int find_version(void)
{
    PyObject *number = PySys_GetObject("hexversion");
    if (number == NULL || PyLong_AsLong(number) >= 0x030D0000)
        return 0;
    Py_ssize_t place = sizeof(PyObject) + sizeof(Py_ssize_t);
    PyObject *size = PyObject_GetAttrString((PyObject *)&PyDict_Type, "__basicsize__");
    PyObject *dict = PyDict_New();
    int fits = size != NULL && dict != NULL && PyLong_AsSsize_t(size) >= place + (Py_ssize_t)sizeof(uint64_t);
    Py_DecRef(size);
    static const char *const keys[] = {"a", "a", "b", "a", "c"};
    PyObject *values[] = {Py_None, Py_True, Py_None, NULL, Py_None};
    uint64_t last = 0;
    for (size_t at = 0; fits && at < sizeof keys / sizeof *keys; at++) {
        fits = (values[at] == NULL ? PyDict_DelItemString(dict, keys[at]) : PyDict_SetItemString(dict, keys[at], values[at])) == 0;
        uint64_t now, again;
        memcpy(&now, (char *)dict + place, sizeof now);
        fits = fits && PyDict_GetItemString(dict, "b") == (at > 1 ? Py_None : NULL);
        memcpy(&again, (char *)dict + place, sizeof again);
        fits = fits && now != 0 && now != last && now == again;
        last = now;
    }
    Py_DecRef(dict);
    PyErr_Clear();
    if (fits)
        version_at = place;
    return fits;
}

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "toolbreak._compiled", "See `runtimes/python/native`.", -1, functions_of_module, NULL, NULL, NULL, NULL};

static int add(PyObject *made, const char *name, PyType_Spec *spec, PyTypeObject **kept)
{
    PyObject *type = PyType_FromSpec(spec);
    if (type == NULL)
        return -1;
    if (kept != NULL) {
        Py_IncRef(type);
        *kept = (PyTypeObject *)type;
    }
    if (PyModule_AddObject(made, name, type)) {
        Py_DecRef((PyObject *)type);
        return -1;
    }
    return 0;
}

PyMODINIT_FUNC PyInit__compiled(void)
{
    const uint16_t one = 1;
    int fits = *(const unsigned char *)&one ? checked_layout() : 0;
    if (fits != 1) {
        if (fits == 0)
            PyErr_SetString(PyExc_ImportError, "this Python lays its lists or numbers out in another way");
        return NULL;
    }
    find_version();
    find_ascii();
    make_crc_tables();
    make_anchors();
    look_for_wide();
    look_for_folding();
    for (const char *each = "=:([-_/.hxJAarRc"; *each; each++)
        looked_at[(unsigned char)*each] = 1;
    recorded_name = PyUnicode_InternFromString("recorded");
    static const char *const about[NAMES] = {"name", "key", "Name", "Key"};
    for (int at = 0; at < NAMES; at++)
        if ((names[at] = PyUnicode_InternFromString(about[at])) == NULL)
            return NULL;
    PyObject *made = PyModule_Create(&module);
    if (recorded_name == NULL || made == NULL || add(made, "Snapshot", &snapshot_spec, NULL) ||
        add(made, "Rules", &rules_spec, &rules_type) || add(made, "Same", &same_spec, &same_type) || add(made, "Keep", &keep_spec, &keep_type) ||
        add(made, "Cursor", &cursor_spec, NULL) || add(made, "Way", &way_spec, NULL)) {
        Py_DecRef(made);
        return NULL;
    }
    return made;
}
