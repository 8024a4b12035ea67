"""Our JSON documents: each says in its head what it is and of which version."""

from __future__ import annotations

import json
from typing import Any

from tunedops.argument_json import kind_of


def read_document(where: str, text: str, format: str, version: int, writer: str) -> dict[str, Any]:
    """A document of that format and version.

    Args:
        where: what messages begin with.
        text: the JSON.
        writer: what writes such documents, for the message of one that is none.

    Raises:
        ValueError: it is no JSON, another document, or of another version.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where}: expected JSON, got text that is none ({error})") from error
    if not isinstance(document, dict) or document.get("format") != format:
        raise ValueError(
            f"{where}: expected a document of the format '{format}', got {kind_of(document)} that "
            f"is none; {writer}"
        )
    if document.get("version") is True or document.get("version") != version:
        raise ValueError(
            f"{where}: expected version {version} of the format, got "
            f"{document.get('version')!r}; another release of tunedops wrote it"
        )
    return document
