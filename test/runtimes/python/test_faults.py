"""Where a fault below Python ended the process, told by Python's own fault handler."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no such signals")

RUNTIME = Path(__file__).resolve().parents[3] / "runtimes" / "python"
HEAD = "import ctypes, faulthandler, os, sys\nfrom toolbreak import _faults\n"


def ended(folder, code, *options):
    done = subprocess.run(
        [sys.executable, *options, "-c", HEAD + code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "FOLDER": str(folder), "PYTHONPATH": str(RUNTIME)},
    )
    return done.returncode, done.stdout, done.stderr


def told(folder, process="one"):
    return (folder / f"{process}.fault").read_text()


@pytest.mark.essential
def test_a_fault_is_told_in_the_file_and_nowhere_else(tmp_path):
    code = "_faults.watch(os.environ['FOLDER'], 'one')\ndef read():\n    ctypes.string_at(0)\nread()"
    assert ended(tmp_path, code) == (-11, "", "")
    head, text = told(tmp_path).split("\n", 1)
    assert os.path.dirname(os.__file__) in head
    assert text.startswith("Fatal Python error: Segmentation fault")
    assert 'File "<string>", line 5 in read' in text


@pytest.mark.essential
def test_the_file_is_out_of_the_way_of_the_apps_files_and_children(tmp_path):
    code = """
_faults.watch(os.environ["FOLDER"], "one")
first = os.open(os.devnull, os.O_RDONLY)
held = [fd for fd in range(3, 2000) if os.path.exists(f"/dev/fd/{fd}")]
print([fd for fd in held if fd < 900 and fd > first + 1], any(os.get_inheritable(fd) for fd in held if fd >= 900))
"""
    assert ended(tmp_path, code) == (0, "[] False\n", "")


def test_a_handler_that_the_app_has_stays(tmp_path):
    code = "_faults.watch(os.environ['FOLDER'], 'one')\nctypes.string_at(0)"
    returned, _, stderr = ended(tmp_path, code, "-X", "faulthandler")
    assert returned == -11
    assert "Fatal Python error: Segmentation fault" in stderr
    assert not (tmp_path / "one.fault").exists()


def test_a_forked_child_has_its_own_also_where_all_files_were_closed(tmp_path):
    code = """
folder = os.environ["FOLDER"]
_faults.watch(folder, "one")
def child(process, closed):
    pid = os.fork()
    if pid == 0:
        if closed:
            os.closerange(3, 2000)
        _faults.forked(folder, process)
        ctypes.string_at(0)
    return os.waitpid(pid, 0)[1]
print(child("two", False), child("three", True))
"""
    returned, stdout, _ = ended(tmp_path, code)
    assert returned == 0
    assert [int(word) & 127 for word in stdout.split()] == [11, 11]
    assert "Fatal" not in told(tmp_path)
    assert "Fatal Python error: Segmentation fault" in told(tmp_path, "two")
    assert "Fatal Python error: Segmentation fault" in told(tmp_path, "three")


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path):
    code = "_faults.watch(os.environ['FOLDER'] + '/gone', 'one')\nprint(faulthandler.is_enabled())"
    assert ended(tmp_path, code) == (0, "False\n", "")


def test_a_signal_that_the_app_takes_and_lives_on_is_no_fault(tmp_path):
    code = """
import signal
from toolbreak import _ends
taken = []
signal.signal(signal.SIGABRT, lambda *_: taken.append(1))
_ends.register_once()
_faults.watch(os.environ["FOLDER"], "one")
os.kill(os.getpid(), signal.SIGABRT)
print(taken, "Aborted" in open(os.environ["FOLDER"] + "/one.fault").read())
"""
    assert ended(tmp_path, code) == (0, "[1] True\n", "")
    head, text = told(tmp_path).split("\n", 1)
    assert os.path.dirname(os.__file__) in head
    assert text == ""


def test_a_process_that_may_open_few_files_tells_it_too(tmp_path):
    code = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
_faults.watch(os.environ["FOLDER"], "one")
ctypes.string_at(0)
"""
    assert ended(tmp_path, code)[0] == -11
    assert "Fatal Python error: Segmentation fault" in told(tmp_path)
