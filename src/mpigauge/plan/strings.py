"""Strings of files, each with a largest length: what reads them needs memory and time for no more.

Whoever writes a string of another program or file cuts it to its length, as `sequences.first_words` does.
"""

from typing import Annotated

from msgspec import Meta

SHORT_MOST = 4096
"""Characters of a name, a path or a line: as many as Linux allows in a path."""

LONG_MOST = 2**20
"""Characters of a text: more than a variable, a command and the last words of a job can have."""

ShortText = Annotated[str, Meta(max_length=SHORT_MOST)]
LongText = Annotated[str, Meta(max_length=LONG_MOST)]
