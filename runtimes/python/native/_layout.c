/*
 * Where the interpreter keeps what its stable interface gives only one by one: the items of a list, the characters of a text, the version of a dict.
 * Each place is proved when the module is imported; where one cannot be, that is done without, or the module is not used.
 */

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
