"""The worker's life on its standard streams: the only place that touches descriptors, signals and the parent.

Order matters. ``take_streams`` moves descriptors 0 and 1 away before anything is imported that could write,
so this file imports nothing but Python's own modules at its head.

How the worker ends: end of input, ``shutdown`` and SIGTERM end it with status 0 once the reply under way is
written; SIGINT is ignored, for a terminal's Ctrl-C goes to the whole group and the oracle decides; a stdout
that nobody reads any more ends it with status 1; a parent that is gone ends it within a second, unless code
in C holds the interpreter's lock, which is the one thing that no thread of ours can interrupt.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import logging
import os
import select
import signal
import stat
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from bridge.worker.framing import Event, LineReader
    from bridge.worker.rpc import Server

log = logging.getLogger(__name__)

STDIN, STDOUT, STDERR = 0, 1, 2

# What a pipe can hold at most without privileges on Linux; a request of 1 MB then arrives in one piece.
PIPE_BYTES = 1 << 20
SMALL_READ_BYTES = 1 << 16
PARENT_CHECK_SECONDS = 0.5
QUIET_SECONDS = 0.1  # a client between two requests of one turn is faster than that
EXIT_LOST_CLIENT = 1
EXIT_CANNOT_START = 2


def take_streams() -> tuple[int, int]:
    """Replace descriptors 0 and 1; return duplicates of them, to read from and write to.

    Afterwards whoever reads stdin finds it empty and whoever prints to stdout prints to stderr. The
    duplicates are close-on-exec, and a forked child loses them as well: it must neither answer nor keep
    the pipe open.
    Raises ``OSError`` when a stream is not open: whoever started the worker is to blame.
    """
    source, sink = (fcntl.fcntl(stream, fcntl.F_DUPFD_CLOEXEC, STDERR + 1) for stream in (STDIN, STDOUT))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, STDIN)
    with contextlib.suppress(OSError):  # started without a stderr: then there is nobody to talk to
        os.fstat(STDERR)
        os.dup2(STDERR, STDOUT)

    def forget() -> None:
        os.dup2(null, source, inheritable=False)
        os.dup2(null, sink, inheritable=False)

    os.register_at_fork(after_in_child=forget)
    return source, sink


def serve() -> int:
    """Answer requests from stdin on stdout until the input ends; return the exit status."""
    parent = os.getppid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _log_to_stderr()
    try:
        source, sink = take_streams()
    except OSError as error:
        log.error("stdin and stdout must be open: %s", error)  # noqa: TRY400 - no defect, no traceback
        return EXIT_CANNOT_START
    if isinstance(sys.stdout, io.TextIOWrapper):
        # What was printed while Python started (sitecustomize, .pth files) and still waits here goes to stderr now.
        with contextlib.suppress(ValueError):  # closed or detached: then nothing waits
            sys.stdout.reconfigure(line_buffering=True)

    # pydantic would look through all installed packages for plugins, and run what it finds in each check of a request.
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    try:
        from bridge.settings import Settings  # noqa: PLC0415 - only now may anything be imported
        from bridge.worker.framing import LineReader  # noqa: PLC0415
        from bridge.worker.rpc import Server  # noqa: PLC0415
        from bridge.worker.services import Worker  # noqa: PLC0415
    except ImportError as error:  # python -S, or an installation that is not whole
        log.error("%s; install rind-bridge with its dependencies", error)  # noqa: TRY400 - as above
        return EXIT_CANNOT_START
    try:
        settings = Settings.from_environment(os.environ)
    except ValueError as error:
        log.error("%s", error)  # noqa: TRY400 - as above
        return EXIT_CANNOT_START
    threading.Thread(target=_end_with_parent, args=(parent,), daemon=True, name="parent").start()
    reader = LineReader(settings.limits.request_max_bytes)
    worker = Worker(settings)
    pump = Pump(source, sink, Server(worker), reader)
    signal.signal(signal.SIGTERM, pump.terminate)
    with _unblocked(sink):
        status = pump.run()
    worker.close()
    return status


class Pump:
    """Carries lines from ``source`` to the server and replies to ``sink``, in order, one at a time.

    While a reply waits for a client that does not read, requests are read ahead, so that a client which
    writes several requests before it reads does not hang; past ``request_max_bytes`` of them, it does.
    """

    def __init__(self, source: int, sink: int, server: Server, reader: LineReader) -> None:
        self._source, self._sink = source, sink
        self._server, self._reader = server, reader
        self._events: deque[Event] = deque()
        self._queued = 0  # bytes of the lines in it
        self._read_bytes = SMALL_READ_BYTES
        self._ended = False
        self._terminated = False
        self._rest_at = time.monotonic()
        self._idle = select.poll()
        self._idle.register(source, select.POLLIN)
        self._alarm = _alarm()
        self._idle.register(self._alarm, select.POLLIN)
        self._idle.register(sink, 0)  # reports only that its reader is gone
        _enlarge(source)

    def run(self) -> int:
        """Work until the input ends, somebody asks for the end, or a stream fails; return the exit status."""
        try:
            while not (self._server.worker.stopping or self._terminated):
                if self._events:
                    self._answer_next()
                elif self._ended:
                    break
                else:
                    self._await_input()
        except (BrokenPipeError, ConnectionResetError):
            log.warning("nobody reads the replies any more; the worker ends")
            return EXIT_LOST_CLIENT
        except OSError as error:  # stdout may be a file on a full disk
            log.error("stdin or stdout failed: %s; the worker ends", error.strerror)  # noqa: TRY400 - as above
            return EXIT_LOST_CLIENT
        return 0

    def terminate(self, _signal: int, _frame: object) -> None:
        """End ``run`` after the reply under way; for use as a signal's handler."""
        self._terminated = True

    def _answer_next(self) -> None:
        self._queued -= self._events[0].size
        reply = self._server.answer(self._events.popleft())
        self._reader.max_bytes = self._server.worker.settings.limits.request_max_bytes
        if reply is not None:
            self._write(reply)

    def _await_input(self) -> None:
        quiet = max(QUIET_SECONDS, self._rest_at - time.monotonic())
        ready = dict(self._idle.poll(quiet * 1_000))
        if self._source in ready:
            self._read()
        elif self._sink in ready:
            raise BrokenPipeError
        elif self._alarm in ready:
            os.read(self._alarm, SMALL_READ_BYTES)
        else:
            self._rest_at = time.monotonic() + self._server.worker.rest()

    def _read(self) -> None:
        data = os.read(self._source, self._read_bytes)
        # The buffer of a large read is costly to get, so only input that filled a small one gets it.
        self._read_bytes = PIPE_BYTES if len(data) >= SMALL_READ_BYTES else SMALL_READ_BYTES
        events = self._reader.feed(data)
        self._events.extend(events)
        self._queued += sum(event.size for event in events)
        if not data:
            self._end()

    def _end(self) -> None:
        self._ended = True
        if left := self._reader.unfinished:
            log.warning("the input ended inside a line of %d bytes; it is no request", left)

    def _write(self, frame: bytes) -> None:
        left: bytes | memoryview = frame
        while left:
            try:
                sent = os.write(self._sink, left)
            except BlockingIOError:
                self._await_writable()
            else:
                left = memoryview(left)[sent:]

    def _await_writable(self) -> None:
        """Wait until the client reads; take in what it writes meanwhile, within the bound."""
        waiting = select.poll()
        waiting.register(self._sink, select.POLLOUT)
        if not self._ended and self._queued + self._reader.unfinished < self._reader.max_bytes:
            waiting.register(self._source, select.POLLIN)
        ready = dict(waiting.poll())
        if self._source in ready and self._sink not in ready:
            self._read()


class _Stderr(logging.Handler):
    """Writes each message as one line, and never waits: a stderr that nobody drains must not hang a turn.

    A pipe that poll calls writable takes PIPE_BUF bytes at once, so a message is cut to that.
    """

    def emit(self, record: logging.LogRecord) -> None:
        # A library's message that cannot be formatted is not worth a turn, either.
        with contextlib.suppress(OSError, TypeError, ValueError):
            line = self.format(record).replace("\n", " ").encode(errors="backslashreplace")
            poll = select.poll()
            poll.register(STDERR, select.POLLOUT)
            if poll.poll(0):
                os.write(STDERR, line[: select.PIPE_BUF - 1] + b"\n")


def _log_to_stderr() -> None:
    handler = _Stderr()
    handler.setFormatter(logging.Formatter(f"rind-bridge[{os.getpid()}] %(levelname)s %(message)s"))
    logging.getLogger().addHandler(handler)


def _alarm() -> int:
    """Return a descriptor that becomes readable at a signal: Python takes up a poll again after a handler."""
    alarm, ringer = os.pipe()
    os.set_blocking(ringer, False)
    signal.set_wakeup_fd(ringer, warn_on_full_buffer=False)
    return alarm


@contextlib.contextmanager
def _unblocked(sink: int) -> Iterator[None]:
    """Make writes to a pipe or socket give up when it is full; put that back, others may share the stream."""
    mode = os.fstat(sink).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)) or not os.get_blocking(sink):
        yield
        return
    os.set_blocking(sink, False)
    try:
        yield
    finally:
        os.set_blocking(sink, True)


def _enlarge(source: int) -> None:
    """Enlarge the request pipe to hold a whole large request, where the system can: fewer switches of process."""
    with contextlib.suppress(AttributeError, OSError):
        fcntl.fcntl(source, fcntl.F_SETPIPE_SZ, PIPE_BYTES)


def _end_with_parent(parent: int) -> NoReturn:
    """End the process once its parent is another one; end of input may never come, siblings hold the pipe."""
    while os.getppid() == parent:
        time.sleep(PARENT_CHECK_SECONDS)
    os._exit(EXIT_LOST_CLIENT)
