/*
 * What is called when the function of Python's own that runs has returned, such as `os.fork`: once its main thread goes on with Python code. Part of
 * `_compiled.c`. Python code cannot ask for that: it would be called in its own next line.
 */

static PyObject *called_soon;

static int call_it(void *nothing)
{
    PyObject *answer = PyObject_CallNoArgs(called_soon);
    Py_DecRef(answer);
    if (answer != NULL)
        return 0;
    if (PyErr_ExceptionMatches(PyExc_RecursionError) || PyErr_ExceptionMatches(PyExc_MemoryError)) {
        PyErr_Clear();
        return 0;
    }
    /* What a signal handler raised meanwhile is the app's, and what it kept from being done is done behind it. */
    Py_AddPendingCall(call_it, NULL);
    return -1;
}

static PyObject *soon(PyObject *module, PyObject *nothing)
{
    /* At once where so much is to be called already that nothing more is taken. */
    return Py_AddPendingCall(call_it, NULL) && call_it(NULL) ? NULL : none();
}

static PyMethodDef soon_definition = {"soon", soon, METH_NOARGS, "Has it called soon."};

/*
 * call_soon(function) -> function | None: the answer, called in the main thread, has `function` called soon. None: it has one already, or this is
 * not the main interpreter, which would call it.
 */
static PyObject *call_soon(PyObject *module, PyObject *function)
{
    if (called_soon != NULL || PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
        return none();
    PyObject *made = PyCFunction_NewEx(&soon_definition, NULL, NULL);
    if (made != NULL)
        called_soon = shared(function);
    return made;
}
