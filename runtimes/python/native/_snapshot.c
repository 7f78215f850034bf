/* Whether a remembered value still consists of the same objects: what `_memo.py` asks before and after each step of a workflow. */

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
