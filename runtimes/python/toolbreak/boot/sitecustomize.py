"""Runs before anything of the app, because its folder is on PYTHONPATH. Old Pythons read it too: keep its syntax plain."""

import os
import sys

#: Something once the app's own code may run.
_started = []


def _boot():
    folder = os.path.dirname(os.path.abspath(__file__))
    # Children find this folder through the environment; this process has no more need of it.
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != folder]
    connect = os.environ.get("TOOLBREAK_CONNECT")
    record = os.environ.get("TOOLBREAK_RECORD")
    if not (connect or record) or getattr(sys.flags, "isolated", 0) or _is_helper():
        return
    say = sys.__stderr__.write if sys.__stderr__ is not None else (lambda text: None)
    if sys.version_info < (3, 10):
        if os.environ.get("TOOLBREAK_CHILD") or os.environ.get("TOOLBREAK_RECORD_INTO"):
            _note_old(connect)  # Who started it reads what it says.
        else:
            say(
                "Toolbreak: Python %d.%d is too old (needs 3.10); the program runs without a debugger.\n"
                % sys.version_info[:2]
            )
        return
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        say("Toolbreak: free-threaded Python is not supported yet; the program runs without a debugger.\n")
        return
    if not _is_main_interpreter() or (connect and _is_left_alone(connect)):
        _offer(os.path.dirname(folder))
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


def _note_old(connect):
    """For the adapter, which says at the end what was not recorded."""
    if connect:
        path = os.path.join(os.path.dirname(connect), "old-%d.%d" % sys.version_info[:2])
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
        except OSError:
            pass


def _is_helper():
    """multiprocessing's own resource tracker is none of the app's processes."""
    argv = getattr(sys, "orig_argv", None) or getattr(sys, "argv", [])
    return any(
        "multiprocessing.resource_tracker" in part or "multiprocessing.semaphore_tracker" in part for part in argv
    )


def _is_left_alone(connect):
    """Where only the first process of a run is debugged, its adapter has noted that one. The others should not even load what is beside this file."""
    try:
        with open(os.path.join(os.path.dirname(connect), "first"), "rb") as file:
            return file.read() != str(os.getpid()).encode()
    except OSError:
        return False


def _is_main_interpreter():
    """A thread of ours in another one of the process would keep it from ending. No file for signals is set so early, and only here can one be."""
    from _signal import set_wakeup_fd

    try:
        set_wakeup_fd(-1)
    except ValueError:
        return False
    return True


def _offer(package):
    """An app that says `import toolbreak` finds it in such a process, too, as long as it has none of its own."""

    class Finder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name != "toolbreak":
                return None
            from importlib import util

            start = os.path.join(package, "__init__.py")
            return util.spec_from_file_location(name, start, submodule_search_locations=[package])

    sys.meta_path.append(Finder)


def _load(package, say):
    """Loads this very `toolbreak` package, whatever else goes by that name in the app's environment."""
    import importlib.util

    other = None
    try:
        other = importlib.util.find_spec("toolbreak")
    except (ImportError, ValueError):
        pass
    start = os.path.join(package, "__init__.py")
    loader = _compiled_once(package)("toolbreak", start)
    spec = importlib.util.spec_from_file_location(
        "toolbreak", start, loader=loader, submodule_search_locations=[package]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["toolbreak"] = module
    spec.loader.exec_module(module)
    if other is not None and other.origin and os.path.realpath(other.origin) != os.path.realpath(start):
        version = _version(other.origin)
        if version != module.__version__:
            say(
                "Toolbreak: the app's environment has toolbreak %s; the debugger's own %s is used.\n"
                % (version, module.__version__)
            )


def _compiled_once(package):
    """
    A loader for the package's files, which keeps what it compiled beside them in spite of PYTHONDONTWRITEBYTECODE: that is said of the app, and each
    of its processes would compile all of ours again, which takes longer than most of them. Only while nothing else runs, since that is said for
    all threads at once.
    """
    from _thread import get_ident
    from importlib import machinery

    booting = get_ident()

    class Loader(machinery.SourceFileLoader):
        def get_code(self, fullname):
            if _started or get_ident() != booting:
                return machinery.SourceFileLoader.get_code(self, fullname)
            kept = sys.dont_write_bytecode
            sys.dont_write_bytecode = False
            try:
                return machinery.SourceFileLoader.get_code(self, fullname)
            finally:
                sys.dont_write_bytecode = kept

    kinds = (machinery.ExtensionFileLoader, machinery.EXTENSION_SUFFIXES), (Loader, machinery.SOURCE_SUFFIXES)
    for name in ("", "_frameworks", "_inspect"):
        folder = os.path.join(package, name) if name else package
        sys.path_importer_cache[folder] = machinery.FileFinder(folder, *kinds)
    return Loader


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
        if (getattr(error, "name", None) or str(error).split()[-1]) != "sitecustomize":
            raise
    finally:
        if "sitecustomize" not in sys.modules and own is not None:
            sys.modules["sitecustomize"] = own


try:
    _boot()
finally:
    _started.append(True)
    _chain()
