"""A text file as bytes and as text: encoding, byte order mark and line ends are kept."""

import codecs
from dataclasses import dataclass
from typing import Literal

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MAGIC = (
    (b"\x89PNG\r\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"%PDF-", "PDF document"),
    (b"PK\x03\x04", "ZIP archive (also .docx, .xlsx, .jar, .whl)"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\x00", "xz data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"\x7fELF", "ELF program"),
    (b"SQLite format 3\x00", "SQLite database"),
    (b"OggS", "Ogg media"),
    (b"ID3", "MP3 audio"),
    (b"fLaC", "FLAC audio"),
)
_PEEK = 8192


@dataclass(frozen=True, slots=True)
class TextFile:
    """The text of a file with "\\n" line ends, and what is needed to write it back as it was.

    `mark` is the byte order mark. `newline` is the line end used by every line ("\\n" when there is
    none); "mixed" files keep their carriage returns in `text`.
    """

    text: str
    encoding: str = "utf-8"
    mark: bytes = b""
    newline: Literal["\n", "\r\n", "\r", "mixed"] = "\n"

    def encode(self, text: str) -> bytes:
        """The bytes of a file of this kind that holds `text`. Raise UnicodeEncodeError if it cannot."""
        if self.newline in {"\r\n", "\r"}:
            text = text.replace("\r\n", "\n").replace("\n", self.newline)
        return self.mark + text.encode(self.encoding)

    @property
    def traits(self) -> tuple[str, ...]:
        """What is unusual about the file, in a few words each."""
        found: list[str] = []
        if self.encoding == "latin-1":
            found.append("not UTF-8, shown as Latin-1")
        elif self.encoding != "utf-8":
            found.append(self.encoding.upper())
        if self.mark:
            found.append("byte order mark")
        if self.newline != "\n":
            found.append(
                {"\r\n": "CRLF line ends", "\r": "CR line ends"}.get(self.newline, "mixed line ends")
            )
        return tuple(found)


def binary(content: bytes) -> str:
    """What kind of binary file this is, "" for text."""
    for magic, kind in _MAGIC:
        if content.startswith(magic):
            return kind
    if any(content.startswith(mark) for mark, _ in _MARKS):
        return ""
    return "binary data" if b"\0" in content[:_PEEK] else ""


def decode(content: bytes) -> TextFile:
    """Read bytes as text: by byte order mark, else UTF-8, else Latin-1, which keeps every byte."""
    mark, encoding = next(((m, e) for m, e in _MARKS if content.startswith(m)), (b"", "utf-8"))
    try:
        text = content[len(mark) :].decode(encoding)
    except UnicodeDecodeError:
        mark, encoding, text = b"", "latin-1", content.decode("latin-1")
    if "\r" not in text:
        return TextFile(text, encoding, mark)
    newline = _newline(text)
    if newline != "mixed":
        text = text.replace(newline, "\n")
    return TextFile(text, encoding, mark, newline)


def _newline(text: str) -> Literal["\r\n", "\r", "mixed"]:
    pairs, feeds, returns = text.count("\r\n"), text.count("\n"), text.count("\r")
    if pairs == feeds == returns:
        return "\r\n"
    return "\r" if feeds == 0 else "mixed"


def lines(text: str) -> list[str]:
    """The lines without their ends; a final line end does not begin another line."""
    parts = text.split("\n")
    if parts[-1] == "":
        parts.pop()
    return parts
