"""A GTP engine of Othello that plays the first legal square and misbehaves as it is asked to: python fake_engine.py MODE [FLAG FILE]."""

import sys
import time
from pathlib import Path

from icarus import games

MODE = sys.argv[1]
# with a file: misbehave only while it does not exist
ONCE = Path(sys.argv[2]) if len(sys.argv) > 2 else None


def misbehaves() -> bool:
    """Whether it is time to: at a genmove, the first time or always."""
    if ONCE is None:
        return True
    first = not ONCE.exists()
    ONCE.touch()
    return first


def main() -> None:
    state = games.load("othello").new_initial_state()
    for line in sys.stdin:
        command, *words = line.split()
        answer = ""
        if command == "clear_board":
            state = games.load("othello").new_initial_state()
        elif command == "name":
            answer = "Fake"
        elif command == "version":
            answer = "1.0"
        elif command in ("play", "genmove"):
            player = ("black", "white").index(words[0])
            if state.current_player() != player:
                state.apply_action(state.legal_actions()[0])  # the pass that nobody told
            legal = {state.action_to_string(action): action for action in state.legal_actions()}
            if command == "genmove" and MODE != "good" and misbehaves():
                if MODE == "dies":
                    sys.exit("the table is on fire")
                if MODE == "hangs":
                    time.sleep(60)
                print(
                    {"illegal": "= a9", "refuses": "? cannot think"}[MODE], end="\n\n", flush=True
                )
                continue
            text = words[1] if command == "play" else next(iter(legal))
            state.apply_action(legal[text])
            answer = text.upper() if command == "genmove" else ""
        elif command == "quit":
            return
        print(f"= {answer}", end="\n\n", flush=True)


if __name__ == "__main__":
    main()
