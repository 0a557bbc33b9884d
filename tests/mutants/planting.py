"""Mutants of a source: one operator, number, condition or statement of a line changed."""

import attrs


@attrs.frozen
class Mutant:
    """A change of one line, which is known by its text: it may move in its file.

    Attributes:
        path: of the file, from the root of the repository.
        line: the text of the line.
        number: which of the equal lines of the file it is, from 0.
        mutant: the text that stands in its place.
    """

    path: str
    line: str
    number: int
    mutant: str

    def __str__(self) -> str:
        which = f" ({self.number + 1})" if self.number else ""
        return f"{self.path}: {self.line}{which} -> {self.mutant}"


def planted(source: str, mutant: Mutant) -> str:
    """The source with the mutant in its place, and nothing else changed.

    Raises:
        ValueError: the line has changed, and the mutant has no place in the source.
    """
    lines = source.splitlines(keepends=True)
    places = [i for i, line in enumerate(lines) if line.strip() == mutant.line]
    if len(places) <= mutant.number:
        raise ValueError(f"{mutant.path} has no line {mutant.line!r}")
    place = places[mutant.number]
    lines[place] = lines[place].replace(mutant.line, mutant.mutant)
    return "".join(lines)
