"""The nouns of the wire, as TypedDicts: what methods give back, for those who make them and for the document.

The members named here are always there unless they are ``NotRequired``; more may come with a later version.
Nothing here imports pydantic: the commands for people and the store use these types and must start at once.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict


class Initialized(TypedDict):
    """What this worker is and works with."""

    server: Literal["rind-bridge"]
    version: str
    protocol: int
    """Raised when a client of the old number would misread a reply."""
    methods: list[str]
    limits: dict[str, int]
    payload_texts: bool
    """Whether a tool may answer with a text that is a payload."""
    structural_tools: list[str]
    """Tools whose object results pass through ui_preview."""
    mutation_tools: list[str]
    """Tools whose results are changes of files, which the model gets as counts."""
    home: str
    """The directory of outputs and ledger."""
    pid: int


class OutputPart(TypedDict):
    """A further file of a call; ``part`` is its name for ``read_output``."""

    part: str
    path: NotRequired[str]
    lines: NotRequired[int]
    reason: NotRequired[str]


class OutputReference(TypedDict):
    """Where the complete output of a call lies, or the reason why there is none."""

    path: NotRequired[str]
    bytes: NotRequired[int]
    """Bytes of the file as it lies there."""
    lines: NotRequired[int]
    """Lines of that file; a last line without a line end counts."""
    sha256: NotRequired[str]
    field: NotRequired[str]
    """The member of the result that the text is, if it is not the whole result."""
    partial: NotRequired[bool]
    """True when the output was too large and is kept in part."""
    total_bytes: NotRequired[int]
    """Only with partial: the size of what came."""
    gone_bytes: NotRequired[int]
    """Only with partial: bytes between head and tail that are gone."""
    gone_line_ends: NotRequired[int]
    gone_at_line: NotRequired[int]
    """Only with partial: the line of the file that stands where they were."""
    parts: NotRequired[list[OutputPart]]
    """Further files of the same call, such as a long stderr."""
    kept_by: NotRequired[Literal["tool"]]
    """That the file is the tool's own, and no copy was made."""
    reason: NotRequired[str]
    """Why there is no file."""
    detail: NotRequired[str]
    """What a person should know about the reason."""


class Attachment(TypedDict):
    """A medium that was lifted out of a result."""

    type: str
    """The first part of its media type, such as image."""
    mime_type: str
    bytes: int
    sha256: str
    path: NotRequired[str]
    """Where it lies."""
    data: NotRequired[str]
    """The medium itself as base64, where it could not be kept; then there is a reason."""
    reason: NotRequired[str]


class Recovery(TypedDict):
    """Where what was lost can be found."""

    recover: NotRequired[str | None]
    """The path of the file that has it; "file_on_disk" for a page of a file; null if it is gone."""
    reason: NotRequired[str]


class Loss(Recovery):
    """Something that the model does not read."""

    at: Literal["tool", "bridge"]
    """Where it was lost: before it came here, or here."""
    bytes: NotRequired[int]
    lines: NotRequired[int]
    texts: NotRequired[int]
    items: NotRequired[int]
    branches: NotRequired[int]
    fields: NotRequired[list[str]]
    what: NotRequired[str]


class LedgerFault(TypedDict):
    """Why a projection was not saved."""

    reason: str
    detail: str
    pending: NotRequired[bool]
    """True when it waits in memory to be saved."""


class Policy(TypedDict):
    """The account of what the model does not read."""

    kind: str
    truncated: bool
    total_bytes: int
    """Of the text that makes up nearly all of the result, else of all of it."""
    total_lines: int
    losses: list[Loss]
    cleaned: NotRequired[dict[str, int]]
    replaced: NotRequired[dict[str, int]]
    ledger: NotRequired[LedgerFault]


class CutLine(TypedDict):
    """A line of which only a part is shown."""

    line: int
    first_characters: NotRequired[int]
    last_characters: NotRequired[int]


class Shown(TypedDict):
    """Which lines of a shortened text or of a page are shown, by their numbers in the whole."""

    lines: list[list[int]]
    """Ranges of complete lines, first and last."""
    of: NotRequired[int]
    cut: NotRequired[list[CutLine]]


class SavedProjection(TypedDict):
    """What the ledger keeps of one call."""

    model_content: str
    """JSON text within model_max_bytes and model_max_lines."""
    model_content_format: str
    model_content_policy: Policy
    attachments: list[Attachment | Any]
    """Those that were lifted here; those that the tool itself attached are as it gave them."""
    output: OutputReference


class Projection(SavedProjection):
    """One tool result, projected: for the terminal, for the model, and where the whole lies."""

    terminal_content: str
    """JSON text within terminal_max_bytes."""
    replayed: bool
    """Whether these are the saved projections of an earlier call."""


class Echo(TypedDict):
    """What the panel shows as text."""

    kind: Literal["echo"]
    text: str


class Structure(TypedDict):
    """The panel shows the result itself, which is not sent back to the one who sent it."""

    kind: Literal["structure"]


class Completion(Projection):
    """The projections and the preview."""

    preview: Echo | Structure


class OutputPage(TypedDict):
    """A run of complete lines of a stored output."""

    session_id: str | None
    call_id: str | None
    """Ids are null where they are too long for the page."""
    offset: int
    """The line that was asked for."""
    column: int
    content: str
    lines: int
    """Lines of this page, whole or in part."""
    next_offset: int | None
    """The first line not shown; null when none is left."""
    next_column: int | None
    """The first code point of that line not shown."""
    replaced: int
    """Bytes that were not valid UTF-8; each is shown as U+FFFD."""
    total_lines: int
    total_bytes: int
    path: str | None
    """Where the file lies; null where the path is too long for the page."""
    partial: NotRequired[bool]
    gone_bytes: NotRequired[int]
    gone_line_ends: NotRequired[int]
    gone_at_line: NotRequired[int]


class ReplayedProjection(SavedProjection):
    """A saved projection and its place in the session."""

    sequence: int
    """1, 2, 3 and so on within the session."""
    call_id: str
    time: float
    """Seconds since 1970."""


class Gone(TypedDict):
    """Why saved projections of a session are not there any more, and since when (seconds since 1970)."""

    reason: str
    time: float


class ReplayPage(TypedDict):
    """Saved projections, in the order in which they were saved."""

    session_id: str
    items: list[ReplayedProjection]
    next_after: int | None
    """The ``after`` of the next page; null at the end."""
    gone: NotRequired[Gone]
    """Only when saved projections of the session were removed."""
    pending: NotRequired[int]
    """How many projections of the session wait in memory to be saved."""


class Looked(TypedDict):
    """One saved projection, or why there is none."""

    session_id: str
    call_id: str
    item: ReplayedProjection | None
    reason: NotRequired[str]
    """Why there is none."""
    time: NotRequired[float | None]
    """Since when it is gone, in seconds since 1970."""


class Removal(TypedDict):
    """A file that a cleanup removed, and why."""

    path: str
    """Below the home."""
    bytes: int
    reason: str
    session_id: NotRequired[str]
    projections: NotRequired[int]
    """Only when saved projections of a session went, which lie in the ledger: how many."""


class Cleaned(TypedDict):
    """What a cleanup removed."""

    removed: list[Removal]
    bytes: int
    more: bool
    """Whether something is left to remove."""
    reason: NotRequired[str]
    """Why nothing was removed."""
    detail: NotRequired[str]


class Forgotten(TypedDict):
    """What was removed of a session."""

    session_id: str
    removed: list[Removal]
    bytes: int
    left: list[str]
    """Files that the disk did not let go."""


class MethodCount(TypedDict):
    """Calls of one method."""

    calls: int
    errors: int
    seconds: float


class ToolCount(TypedDict):
    """Calls for one tool, and the bytes of their requests and replies on the wire."""

    calls: int
    bytes_in: int
    bytes_out: int


class Counts(TypedDict):
    """What was called since the start."""

    uptime_seconds: float
    methods: dict[str, MethodCount]
    tools: dict[str, ToolCount]
