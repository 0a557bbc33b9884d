"""How often games and slots are checked."""

from icarus.kernel import inlined

A_CAPTURE = "a capture function "  # as the loop names it, which does not know its name
KEYLESS = (
    f"{A_CAPTURE}names the record 0, which is not a key; make keys with record(action, …), not from an action alone"
)
NO_PLAYER = "a capture gives a context that is not a player, though its Ψ is PLAYER"

FIRST, INTERVAL = 100, 16  # a search checks in its first iterations, and in every 16th


@inlined
def is_checked(iteration: int) -> bool:
    """Whether what a game and slots give is checked in this iteration, at little cost in the mean."""
    return iteration < FIRST or iteration % INTERVAL == 0


def with_capture(sentence: str, label: str, name: str) -> str:
    """The loop's sentence about a capture function, with its name and its enhancement's."""
    return f"{label} of {name} {sentence.removeprefix(A_CAPTURE)}"


def context_message(label: str, name: str, context: int, players: int) -> str:
    """That a capture gave a context that is not a player, where it must be one."""
    of_players = "0" if players == 1 else f"0 … {players - 1}"
    return f"{label} of {name} gave the context {context}; Ψ is PLAYER, {of_players} here"
