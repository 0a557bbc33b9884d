"""What an audit claims of determinizations, by the name of each check, and why a check was not made."""

from icarus.audit.steps import STEP_CLAIMS

HIDDEN = {
    "player": "the same player is about to act in every determinization",
    "actions": "he has the same legal actions, in the same order",
    "view": "he sees the same episode label and the same moves of the episode",
    "legal": "initial data and legal actions lead to the determinization",
    "history": "on that path the observer sees the moves that he has seen",
    "again": "a determinization can be determinized, and these claims hold again",
    "swap": "hidden facts change no draw: if a determinization is the true state, the same random numbers draw the same",
    "search": "hidden facts change no search: if a determinization is the true state, the same seed finds the same records",
    "truth": "the true state, and each state that the observer cannot tell from it after the same deal, is among the draws",
    "others": "a determinization is among the draws of another player for whom it is the true state",
    "uniform": "all states of an information set are equally likely, or weighted by multiplicity",
    "redraw": "the hidden facts of each other player are redrawn",
    **STEP_CLAIMS,
}
NO_SMALL_SET = "no information set was small enough for the number of draws"
NO_RETRACE = (
    "the game has no retrace(state, data), the way from a deal to a determinization: draws that contradict what a player has seen "
    "earlier may go unseen; with one they are found"
)
UNCHECKED_NOTES = {
    "swap": "nothing was hidden at any decision",
    "search": "nothing was hidden at any decision with a choice",
    "again": "nothing was hidden at any decision",
    "truth": NO_SMALL_SET,
    "others": NO_SMALL_SET,
    "uniform": "no information set of several states was small enough for the number of draws",
}
