/* What of a node is recorded, and where, and the state around it. Part of `_nodes.c`, which says what it knows. */

/* ---------------------------------------------------------------- what is recorded, and where */

typedef struct {
    PyObject *writer, *rules, *known, *memo, *parts, *segment;
    long clock; /* of the state to be written */
} Recording;

/* 0: this thread has no file that is this recording's. */
static int find_recording(Recording *here)
{
    if (!look_there() || Py_TYPE(now_there.writer) != at.writer)
        return 0;
    PyObject *writer = here->writer = shared(now_there.writer);
    PyObject *settings = slot(writer, at.writers.settings), *states = slot(writer, at.writers._states), *local = slot(writer, at.writers.local);
    PyObject *known = slot(writer, at.writers.known);
    if (settings == NULL || Py_TYPE(settings) != at.settings || states == NULL || Py_TYPE(states) != in.states || local == NULL || known == NULL ||
        Py_TYPE(known) != &PySet_Type || slot(settings, at.settings_.references) != Py_True)
        return 0;
    PyObject *rules = slot(settings, at.settings_.rules), *memo = slot(states, in.states_._memo);
    if (rules == NULL || Py_TYPE(rules) != rules_type || memo == NULL || Py_TYPE(memo) != in.memo)
        return 0;
    PyObject *parts = slot(memo, in.memos.parts), *clock = slot(memo, in.memos.clock);
    if (parts == NULL || !PyDict_CheckExact(parts) || clock == NULL || !PyLong_CheckExact(clock))
        return 0;
    here->rules = shared(rules);
    here->known = shared(known);
    here->memo = shared(memo);
    here->parts = shared(parts);
    here->clock = PyLong_AsLong(clock) + 1;
    if (here->clock <= 0)
        return 0;
    here->segment = segment_of(local, known);
    return here->segment != NULL;
}

/* Nothing is recorded: calls stop, and that is all. */
static int is_unrecorded(void)
{
    look_there();
    return now_there.writer == Py_None && now_there.decide != NULL && now_there.numbers != NULL;
}

/* Asked last: code of the app that an allocation set free may have run since. */
static int is_open(Recording *here)
{
    return look_there() && now_there.writer == here->writer && slot(here->segment, at.segments.known) == here->known &&
           slot(here->writer, at.writers.known) == here->known && slot(here->writer, at.writers.ended) == Py_False && has_place(here->segment);
}

/* Whether `_stops.decide` lets a call of this node pass. */
static int passes(PyObject *function, Py_ssize_t dots_at)
{
    return now_there.decide == Py_None || (now_there.decide == given_by.decide && is_let_through(function, dots_at));
}

static void leave_recording(Recording *here)
{
    PyObject *all[] = {here->writer, here->rules, here->known, here->memo, here->parts, here->segment};
    for (size_t index = 0; index < sizeof all / sizeof *all; index++)
        Py_DecRef(all[index]);
}

/* ---------------------------------------------------------------- states */

#define MOST_KEYS 64

/* A copy of a state, and which of its values are in the file already, by their place in it. */
typedef struct {
    PyObject *fields;
    PyObject *parts[MOST_KEYS];
    Py_ssize_t count;
    Py_ssize_t size; /* bytes that the marks stand for */
} Marked;

static void forget_marks(Marked *marked)
{
    for (Py_ssize_t index = 0; index < marked->count; index++)
        Py_DecRef(marked->parts[index]);
    Py_DecRef(marked->fields);
}

static int is_number(PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    return type == &PyLong_Type || value == Py_None || type == &PyBool_Type || type == &PyFloat_Type;
}

/* Whether no code of the app is asked anything when keys are looked up. */
static int has_text_keys(PyObject *dict)
{
    PyObject *key, *value;
    Py_ssize_t next = 0;
    while (PyDict_Next(dict, &next, &key, &value))
        if (Py_TYPE(key) != &PyUnicode_Type)
            return 0;
    return 1;
}

/* The same of LangGraph's channels, which are the same dict as long as the workflow runs. */
static int are_channels(PyObject *dict)
{
    static uint64_t known; /* No other dict, and no other state of this one, has that number. */
    uint64_t version = version_of(dict);
    if (version && version == known)
        return 1;
    if (!has_text_keys(dict))
        return 0;
    known = version;
    return 1;
}

/* Whether it may be written as it stands; what is too large, or not plain, is found when it is written. */
static int is_writable(PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    return type == &PyUnicode_Type ? PyUnicode_GetLength(value) < given_by.smallest : type == &PyList_Type || type == &PyDict_Type || type == &PyTuple_Type;
}

/* `StateEncoder.plain`: whether every value of `fields` is plain and small, or in the file and the same. Takes the reference. */
static int mark(Marked *marked, PyObject *fields, Recording *here)
{
    marked->fields = fields;
    marked->count = marked->size = 0;
    if (fields == NULL || PyDict_Size(fields) > MOST_KEYS || !has_text_keys(fields))
        return 0;
    PyObject *kept = slot(here->segment, at.segments.kept), *key, *value;
    Py_ssize_t next = 0;
    if (kept == NULL || !PySet_Check(kept))
        return 0;
    while (PyDict_Next(fields, &next, &key, &value)) {
        PyObject *part = NULL;
        if (!is_number(value)) {
            PyObject *id = PyLong_FromVoidPtr(value);
            part = id == NULL ? NULL : PyDict_GetItemWithError(here->parts, id);
            Py_DecRef(id);
            if (part == NULL || Py_TYPE(part) != in.part || slot(part, in.parts.root) != value) {
                if (!is_writable(value))
                    return 0;
                part = NULL;
            }
        }
        if (part != NULL) {
            PyObject *sized = slot(part, in.parts.sized), *snapshot = slot(part, in.parts.snapshot), *size = slot(part, in.parts.size);
            PyObject *serial = slot(part, in.parts.serial), *stands = slot(part, in.parts.mark);
            if (serial == NULL || PySet_Contains(kept, serial) != 1 || stands == NULL || Py_TYPE(stands) != same_type || sized == NULL || size == NULL ||
                snapshot == NULL || (sized != Py_None && Py_TYPE(snapshot) != given_by.snapshot))
                return 0;
            marked->size += PyLong_AsSsize_t(size);
        }
        Py_IncRef(part);
        marked->parts[marked->count++] = part;
    }
    for (Py_ssize_t index = 0; index < marked->count; index++) {
        PyObject *part = marked->parts[index];
        if (part == NULL || slot(part, in.parts.sized) == Py_None)
            continue;
        if (!is_same((Snapshot *)slot(part, in.parts.snapshot)))
            return 0;
    }
    return 1;
}

/* `Memo.sweep`. */
static void sweep_parts(Recording *here)
{
    PyObject *keys = PyDict_Keys(here->parts);
    for (Py_ssize_t index = 0; keys != NULL && index < PyList_Size(keys); index++) {
        PyObject *key = PyList_GetItem(keys, index), *part = PyDict_GetItemWithError(here->parts, key);
        if (part == NULL || Py_TYPE(part) != in.part || PyLong_AsLong(slot(part, in.parts.used)) >= here->clock - given_by.sweep)
            continue;
        PyObject *snapshot = slot(part, in.parts.snapshot), *held = slot(here->memo, in.memos._held);
        Py_ssize_t size = snapshot != NULL && Py_TYPE(snapshot) == given_by.snapshot ? ((Snapshot *)snapshot)->size : 0;
        PyObject *left = held == NULL ? NULL : PyLong_FromSsize_t(PyLong_AsSsize_t(held) - size);
        if (left == NULL || slot(here->memo, in.memos.parts) != here->parts) {
            Py_DecRef(left);
            break;
        }
        held = exchange(here->memo, in.memos._held, left);
        PyDict_DelItem(here->parts, key);
        Py_DecRef(held);
    }
    Py_DecRef(keys);
    PyErr_Clear();
}

/* `StateEncoder.written`. */
static void note_written(Marked *first, Recording *here)
{
    PyObject *clock = PyLong_FromLong(here->clock);
    if (clock != NULL) {
        for (Py_ssize_t index = 0; index < first->count; index++)
            if (first->parts[index] != NULL)
                Py_DecRef(exchange(first->parts[index], in.parts.used, shared(clock)));
        clock = exchange(here->memo, in.memos.clock, clock);
    }
    Py_DecRef(clock);
    if (here->clock % given_by.sweep == 0)
        sweep_parts(here);
}

static void add_state(Frames *frames, Marked *marked)
{
    frames->out.left = frames->rules->items;
    if (frames->done == WRITTEN)
        frames->done = put_fields(&frames->out, marked->fields, 1, marked->parts, in.parts.mark, given_by.smallest);
}

/*
 * told_items(items, at, pieces, parts, kept, clock) -> int: appends to `pieces` what says that an item is the same, for each item from the one at `at` on, up to one
 * that is no part, not in the file, or another by now. Answers how many bytes they stand for.
 */
static PyObject *told_items(PyObject *module, PyObject *args)
{
    PyObject *items, *pieces, *parts, *kept, *clock;
    Py_ssize_t next, more = 0;
    if (!PyArg_ParseTuple(args, "O!nO!O!O!O!", &PyList_Type, &items, &next, &PyList_Type, &pieces, &PyDict_Type, &parts, &PySet_Type, &kept, &PyLong_Type, &clock))
        return NULL;
    for (; is_prepared && next < PyList_Size(items); next++) {
        PyObject *item = PyList_GetItem(items, next), *id = PyLong_FromVoidPtr(item);
        PyObject *part = id == NULL ? NULL : PyDict_GetItemWithError(parts, id);
        Py_DecRef(id);
        if (part == NULL || Py_TYPE(part) != in.part || slot(part, in.parts.root) != item)
            break;
        PyObject *serial = slot(part, in.parts.serial), *size = slot(part, in.parts.size);
        PyObject *snapshot = shared(slot(part, in.parts.snapshot)), *same = shared(slot(part, in.parts.same));
        Py_IncRef(part);
        Py_ssize_t stands_for = size == NULL ? 0 : PyLong_AsSsize_t(size);
        /* A look may read an object by Python code, and the part be dropped meanwhile. */
        int is_told = serial != NULL && PySet_Contains(kept, serial) == 1 && snapshot != NULL && Py_TYPE(snapshot) == given_by.snapshot && same != NULL &&
                      is_same((Snapshot *)snapshot) && PyList_Append(pieces, same) == 0;
        if (is_told) {
            more += stands_for;
            Py_DecRef(exchange(part, in.parts.used, shared(clock)));
        }
        Py_DecRef(snapshot);
        Py_DecRef(same);
        Py_DecRef(part);
        if (!is_told)
            break;
    }
    return PyErr_Occurred() ? NULL : PyLong_FromSsize_t(more);
}
