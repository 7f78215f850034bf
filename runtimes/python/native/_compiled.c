/*
 * What recording does most often, in C. Its parts are included below, each after those that it uses; the README says what they are.
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

#include "_secret_words.c"
#include "_layout.c"
#include "_snapshot.c"
#include "_plain.c"
#include "_cursor.c"
#include "_calls.c"
#include "_functions.c"
#include "_nodes.c"
#include "_soon.c"
#include "_hooks.c"

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
    for (int at = 0; at < ROW_NAMES; at++)
        sizes_of_row_names[at] = strlen(names_of_rows[at]);
    PyObject *made = PyModule_Create(&module);
    if (recorded_name == NULL || made == NULL || add(made, "Snapshot", &snapshot_spec, NULL) ||
        add(made, "Rules", &rules_spec, &rules_type) || add(made, "Same", &same_spec, &same_type) || add(made, "Keep", &keep_spec, &keep_type) ||
        add(made, "Cursor", &cursor_spec, NULL) || add(made, "Way", &way_spec, NULL)) {
        Py_DecRef(made);
        return NULL;
    }
    return made;
}
