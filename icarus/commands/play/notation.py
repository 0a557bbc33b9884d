"""Games as their players write them: Checkers in PDN, Othello in GGF, which reads transcripts such as "d3c5f6" too.

PDN is the portable draughts notation: tags, and moves between numbered squares, Black's from 1 to 12. GGF is the generic game format of
the Generic Game Server. What both say beyond players, moves and result is read over: comments, variations, times.
"""

import re
from collections.abc import Callable, Iterator, Sequence

import attrs

from icarus.games.checkers import SIZE, SQUARES
from icarus.games.othello import PASS
from icarus.kernel.game import AnyGame
from icarus.kernel.state import State

_GGF_START = "-" * 27 + "O*" + "-" * 6 + "*O" + "-" * 27 + "*"
_PDN_READ_OVER = re.compile(r"\{[^}]*\}|\([^)]*\)|^\[.*?\]\s*$|[;%].*$|\$\d+|[!?]+", re.MULTILINE)
_PDN_RESULT = re.compile(r"(?<!\S)(?:1-0|0-1|1/2-1/2|2-0|0-2|1-1|0-0|\*)(?!\S)")
_PDN_NUMBER = re.compile(r"\d+\.+")


@attrs.frozen
class Notation:
    """How games are written outside this library.

    Attributes:
        name: of the format.
        suffix: of its files.
        write: `write(game, actions, players)`, a whole file; players by name.
        read: `read(game, text)`, the actions of a file's only game.
    """

    name: str
    suffix: str
    write: Callable[[AnyGame, Sequence[int], Sequence[str]], str]
    read: Callable[[AnyGame, str], list[int]]


def notation_of(game: AnyGame) -> Notation:
    """The notation of a game's files.

    Raises:
        ValueError: the game has no such notation.
    """
    if game.name not in NOTATIONS:
        formats = ", ".join(f"{name} ({each.name})" for name, each in NOTATIONS.items())
        raise ValueError(f"files of other programs can be read for {formats}, not for {game}")
    return NOTATIONS[game.name]


def _refuse_several(count: int) -> None:
    if count > 1:
        raise ValueError(f"the file has {count} games; it must have one")


def _refuse_move_after_end(state: State, number: int) -> None:
    if state.is_terminal():
        raise ValueError(f"the game {state.game} is over before its move {number}")


# ------------------------------------------------------------------------------------------------------------------------ Othello


def _write_ggf(game: AnyGame, actions: Sequence[int], players: Sequence[str]) -> str:
    """A game of Othello; its result is the difference of the discs, for Black."""
    state, moves = game.new_initial_state(), list[str]()
    for action in actions:
        moves.append(f"{'BW'[state.current_player()]}[{'PA' if action == PASS else state.action_to_string(action)}]")
        state.apply_action(action)
    result = "?"
    if state.is_terminal():
        moves = moves[:-2] if actions[-2:] == [PASS, PASS] else moves  # nobody writes that neither player can move
        black, white = (int(discs).bit_count() for discs in state.facts.discs)
        result = f"{black - white:+d}"
    board = " ".join([*(_GGF_START[row : row + SIZE] for row in range(0, SQUARES, SIZE)), _GGF_START[-1]])
    black_player, white_player = (re.sub(r"[\[\]\\]", "", name) for name in players)
    tags = f"GM[Othello]PC[icarus]PB[{black_player}]PW[{white_player}]RE[{result}]TY[8]BO[8 {board}]"
    return f"(;{tags}{''.join(moves)};)\n"


def _read_othello(game: AnyGame, text: str) -> list[int]:
    moves = _ggf_moves(text) if "GM[" in text else _transcript_moves(text)
    state, actions = game.new_initial_state(), list[int]()

    def play(action: int) -> None:
        state.apply_action(action)
        actions.append(action)

    for number, move in enumerate(moves, 1):
        _refuse_move_after_end(state, number)
        passes = not move[-1].isdigit()
        if state.legal_actions() == [PASS] and not passes:  # transcripts leave passes out
            play(PASS)
        named = {state.action_to_string(action): action for action in state.legal_actions()}
        name = "pass" if passes else move
        if name not in named:
            raise ValueError(f"move {number}, {move!r}, is not legal")
        play(named[name])
    if _ends_by_passes(state):
        play(PASS)
        play(PASS)
    return actions


def _ends_by_passes(state: State) -> bool:
    """Whether neither player can move any more."""
    twin = state.clone()
    for _ in range(2):
        if twin.is_terminal() or twin.legal_actions() != [PASS]:
            return False
        twin.apply_action(PASS)
    return twin.is_terminal()


def _ggf_moves(text: str) -> list[str]:
    _refuse_several(text.count("(;"))
    if "GM[Othello]" not in text:
        raise ValueError("it is GGF of another game than Othello")
    board = re.search(r"BO\[8([^\]]*)\]", text)
    if board and "".join(board[1].split()) != _GGF_START:
        raise ValueError("its game does not start from the standard position")
    return [move.lower() for move in re.findall(r"(?<![A-Z])[BW]\[\s*(\w+)", text)]


def _transcript_moves(text: str) -> list[str]:
    move = re.compile(r"[a-h][1-8]|pass|pa|ps|--")
    rest = move.sub(" ", text.lower()).split()
    if rest:
        raise ValueError(f"{rest[0]!r} is not a move of a transcript such as d3c5f6")
    return move.findall(text.lower())


# ----------------------------------------------------------------------------------------------------------------------- Checkers


def _number(square: int) -> int:
    """The number of a dark square in PDN: 1 is g1, 4 is a1, 32 is b8."""
    return 4 * (square // SIZE) + (SIZE - 1 - square % SIZE) // 2 + 1


def _write_pdn(game: AnyGame, actions: Sequence[int], players: Sequence[str]) -> str:
    """A game of Checkers, a chain of jumps as one move with all its squares."""
    state, paths = game.new_initial_state(), list[list[int]]()
    for action in actions:
        if not state.facts.chained:
            paths.append([_number(action // SQUARES)])
        paths[-1].append(_number(action % SQUARES))
        state.apply_action(action)
    texts = [_pdn_move(path) for path in paths]
    turns = [f"{number // 2 + 1}. {' '.join(texts[number : number + 2])}" for number in range(0, len(texts), 2)]
    result = "*"
    if state.is_terminal():
        black, white = state.returns()
        result = "1/2-1/2" if black == white else "0-1" if black > white else "1-0"  # of White first
    names = [name.replace("\\", "").replace('"', "'") for name in players]
    tags = {"Event": "icarus", "Black": names[0], "White": names[1], "Result": result, "GameType": "21"}
    lines = [f'[{name} "{value}"]' for name, value in tags.items()]
    return "\n".join([*lines, "", *turns, result]) + "\n"


def _pdn_move(path: list[int]) -> str:
    steps = len(path) == 2 and abs(path[0] - path[1]) <= 5  # a jump goes two rows, seven numbers or nine
    return ("-" if steps else "x").join(map(str, path))


def _read_pdn(game: AnyGame, text: str) -> list[int]:
    if re.search(r'^\[FEN "', text, re.MULTILINE):
        raise ValueError("its game does not start from the standard position")
    moves = _PDN_READ_OVER.sub(" ", text)
    _refuse_several(len(_PDN_RESULT.findall(moves)))
    tokens = re.sub(r"\s*[-x:]\s*", "-", _PDN_NUMBER.sub(" ", _PDN_RESULT.sub(" ", moves))).split()
    state, actions = game.new_initial_state(), list[int]()
    for number, token in enumerate(tokens, 1):
        if not re.fullmatch(r"\d+(-\d+)+", token):
            raise ValueError(f"{token!r} is not a move of PDN such as 11-15")
        _refuse_move_after_end(state, number)
        chain = _chain_of(state, [int(square) for square in token.split("-")])
        if chain is None:
            raise ValueError(f"move {number}, {token!r}, is not legal, or several moves are written so")
        for action in chain:
            state.apply_action(action)
        actions += chain
    return actions


def _chain_of(state: State, squares: list[int]) -> list[int] | None:
    """The step or the jumps of a move by its first square, its last, and any between; None where there is none, or no single one."""
    chains = [
        (chain, after)
        for chain, after in _chains(state)
        if _number(chain[0] // SQUARES) == squares[0]
        and _number(chain[-1] % SQUARES) == squares[-1]
        and _in_order(squares[1:-1], [_number(action % SQUARES) for action in chain[:-1]])
    ]
    chains = [each for each in chains if not _is_chained(each[1])] or chains  # some files split chains
    chains = [each for each in chains if len(each[0]) + 1 == len(squares)] or chains  # and some name all squares
    return chains[0][0] if len({str(after) for _, after in chains}) == 1 else None


def _chains(state: State) -> Iterator[tuple[list[int], State]]:
    """All that the player to move can do in a turn, and all beginnings of it, with the states after them."""
    if state.is_terminal():
        return
    for action in state.legal_actions():
        after = state.clone()
        after.apply_action(action)
        yield [action], after
        if _is_chained(after):
            yield from (([action, *chain], last) for chain, last in _chains(after))


def _is_chained(state: State) -> bool:
    return not state.is_terminal() and bool(state.facts.chained)


def _in_order(few: list[int], all_squares: list[int]) -> bool:
    """Whether some squares are passed in this order."""
    remaining = iter(all_squares)
    return all(square in remaining for square in few)


NOTATIONS = {
    "othello": Notation("GGF, or a transcript", ".ggf", _write_ggf, _read_othello),
    "checkers": Notation("PDN", ".pdn", _write_pdn, _read_pdn),
}
SUFFIXES = {each.suffix for each in NOTATIONS.values()}
