"""Runs before anything of the app, because its folder is on PYTHONPATH. Old Pythons read it too: keep its syntax plain."""

import os
import sys


def _boot():
    folder = os.path.dirname(os.path.abspath(__file__))
    # Children find this folder through the environment; this process has no more need of it.
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != folder]
    connect = os.environ.get("TOOLBREAK_CONNECT")
    record = os.environ.get("TOOLBREAK_RECORD")
    if not (connect or record) or getattr(sys.flags, "isolated", 0):
        return
    if _is_helper():
        return
    say = sys.__stderr__.write if sys.__stderr__ is not None else (lambda text: None)
    if sys.version_info < (3, 10):
        say(
            "Toolbreak: Python %d.%d is too old (needs 3.10); the program runs without a debugger.\n"
            % sys.version_info[:2]
        )
        return
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        say("Toolbreak: free-threaded Python is not supported yet; the program runs without a debugger.\n")
        return
    before = set(sys.modules)
    try:
        _load(os.path.dirname(folder), say)
        from toolbreak import _main, _record, _session

        if connect:
            _session.boot(connect)
        else:
            _record.boot(record)
        _main.note_brought(before)
    except Exception as error:
        say(
            "Toolbreak: it could not start (%s: %s); the program runs without a debugger.\n"
            % (type(error).__name__, error)
        )


def _is_helper():
    """multiprocessing's own resource tracker is none of the app's processes."""
    argv = getattr(sys, "orig_argv", sys.argv)
    return any(
        "multiprocessing.resource_tracker" in part or "multiprocessing.semaphore_tracker" in part for part in argv
    )


def _load(package, say):
    """Loads this very `toolbreak` package, whatever else goes by that name in the app's environment."""
    import importlib.util

    other = None
    try:
        other = importlib.util.find_spec("toolbreak")
    except (ImportError, ValueError):
        pass
    spec = importlib.util.spec_from_file_location(
        "toolbreak", os.path.join(package, "__init__.py"), submodule_search_locations=[package]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["toolbreak"] = module
    spec.loader.exec_module(module)
    if (
        other is not None
        and other.origin
        and os.path.realpath(other.origin) != os.path.realpath(os.path.join(package, "__init__.py"))
    ):
        version = _version(other.origin)
        if version != module.__version__:
            say(
                "Toolbreak: the app's environment has toolbreak %s; the debugger's own %s is used.\n"
                % (version, module.__version__)
            )


def _version(path):
    import re

    try:
        with open(path, encoding="utf-8") as file:
            found = re.search(r"__version__\s*=\s*[\"']([^\"']+)", file.read())
        return found.group(1) if found else "of unknown version"
    except OSError:
        return "of unknown version"


def _chain():
    """Runs the `sitecustomize` that the app would have had."""
    import importlib

    own = sys.modules.pop("sitecustomize", None)
    try:
        importlib.import_module("sitecustomize")
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        if "sitecustomize" not in sys.modules and own is not None:
            sys.modules["sitecustomize"] = own


_boot()
_chain()
