"""The command line as a process of its own: `structag` and `python -m structag`.

Ctrl-C ends it at any moment with exit code 130 and never with a traceback.  While a command runs
`structag.cli.main` sees to that; before and after, and where a module half imported or a library
that calls back would keep the exception to itself, this module does.  So it imports nothing first.
"""

import sys

INTERRUPTED = 130

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType, TracebackType


def main() -> int:
    """Run the command line with the arguments of the process; the exit code."""
    sys.excepthook, sys.unraisablehook = _report, _report_ignored
    import signal

    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return _run()  # ignored, like that of a job in the background
    signal.signal(signal.SIGINT, _interrupt)
    try:
        return _run()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # nothing is left to be tidied up


def _run() -> int:
    from structag import _load_module

    code: int = _load_module("structag.cli.main").main()
    return code


def _interrupt(number: int, frame: "FrameType | None") -> None:
    """What Ctrl-C does: once, and outside of imports, what it always does in Python."""
    import signal

    signal.signal(number, signal.SIG_DFL)  # the next time it waits for nothing
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            _end()
        frame = frame.f_back
    raise KeyboardInterrupt


def _end() -> None:
    import os

    try:
        os.write(2, b"interrupted\n")
    finally:
        os._exit(INTERRUPTED)


def _report(
    kind: type[BaseException], error: BaseException, traceback: "TracebackType | None"
) -> None:
    if issubclass(kind, KeyboardInterrupt):
        _end()
    sys.__excepthook__(kind, error, traceback)


def _report_ignored(ignored: "sys.UnraisableHookArgs") -> None:
    """An exception in a destructor or the like, after which Python would go on."""
    if issubclass(ignored.exc_type, KeyboardInterrupt):
        _end()
    sys.__unraisablehook__(ignored)


if __name__ == "__main__":
    sys.exit(main())
