"""Files: reading those of strangers, and writing ours completely or not at all."""

from surefoot.files.reading import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_LINE,
    UNREADABLE,
    file_bytes,
    neighbour_hint,
    parse_json,
    parse_line,
    read_json,
    text_lines,
    without_duplicates,
)
from surefoot.files.writing import (
    not_written,
    sha256_of,
    to_disk,
    unfinished,
    write_files,
    write_pieces,
)

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_LINE",
    "UNREADABLE",
    "file_bytes",
    "neighbour_hint",
    "not_written",
    "parse_json",
    "parse_line",
    "read_json",
    "sha256_of",
    "text_lines",
    "to_disk",
    "unfinished",
    "without_duplicates",
    "write_files",
    "write_pieces",
]
