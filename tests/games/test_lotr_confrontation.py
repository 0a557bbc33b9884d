"""The Confrontation: hand-made positions with known outcomes (T1 … T32), what players can know (K1 … K5), random play."""

import itertools
import math
import re

import numpy as np
import pytest
from scipy.stats import chisquare

from icarus.compiler import address_of, array_kernel, call, seeded
from icarus.games.lotr_confrontation import *
from icarus.kernel import CHANCE, TERMINAL, State, below
from tests.games import scenes
from tests.games.scenes import act_out, play

GAME = lotr_confrontation()
SIDES = (LIGHT, DARK)
SQUARE = {**{name: square for square, name in enumerate(SQUARE_NAMES[:SQUARES])}, "dead": DEAD}
PIECE = {name: piece for piece, name in enumerate(PIECE_NAMES)}
HOME = ", Frodo Shire, Balrog Mordor"  # bystanders that keep the game going
WORDS_OF_SIDE = re.compile(r"(Light|Dark) (wins|to move|acts|has|lacks) ?(.*)$")
WORDS_OF_PIECE = re.compile(rf"({'|'.join(PIECE_NAMES)}) (goes |perhaps |)(.+)$")


# ------------------------------------------------------------------------------------------------ positions and how to play them


def position(text, shire=4, turn=0):
    """The start of a turn, from `Side: Piece Square, Piece Square/Square, Side without Card & Card, …`.

    A piece may be, in its opponent's eyes, on each of the squares written; it is on the first. All others are dead.
    `Side only Card & Card` takes all other cards from its hand, `+ home` adds two bystanders.
    """
    side, placed = text.replace(" + home", HOME).split(": ")
    state = lotr_confrontation(dark_shire_to_win=shire).new_initial_state()
    data = state.data.copy()
    facts = data.view(np.recarray)[0]
    facts.side, facts.turn, facts.hands = SIDE_NAMES.index(side), turn, ALL_CARDS
    facts.pos, facts.possible = DEAD, 1 << DEAD
    for words in placed.split(", "):
        if match := re.match("(Light|Dark) (without|only) (.+)$", words):
            owner = SIDE_NAMES.index(match[1])
            named = sum(1 << CARD_NAMES[owner].index(card) for card in match[3].split(" & "))
            facts.hands[owner] = named if match[2] == "only" else ALL_CARDS & ~named
        else:
            piece, _, squares = WORDS_OF_PIECE.match(words).groups()
            suspected = [SQUARE[square] for square in squares.split("/")]
            facts.pos[PIECE[piece]] = suspected[0]
            facts.possible[PIECE[piece]] = sum(1 << square for square in suspected)
    facts.held = facts.full = 0
    for owner, square in itertools.product(SIDES, range(DEAD + 1)):
        count = sum(
            facts.pos[piece] == square for piece in range(owner * TEAM, owner * TEAM + TEAM)
        )
        facts.count[owner, square] = count
        facts.held[owner] |= (count > 0) << square
        facts.full[owner] |= (count >= CAPACITY[square]) << square
    return State(state.game, data)


def hand(state, side):
    return {card for card in range(CARDS) if state.facts.hands[side] >> card & 1}


def possible_squares(state, piece):
    """P[c]: the squares where the other side suspects a piece."""
    return {square for square in range(DEAD + 1) if state.facts.possible[piece] >> square & 1}


def assignments(state, side):
    """Every way to place a side's pieces that fits the public numbers and the sets, by brute force: tuples of squares."""
    room = [int(n) for n in state.facts.count[side]]
    sets = [
        sorted(possible_squares(state, piece)) for piece in range(side * TEAM, side * TEAM + TEAM)
    ]
    ways = [((), tuple(room))]
    for squares in sets:
        ways = [
            (
                (*placed, square),
                (*remaining[:square], remaining[square] - 1, *remaining[square + 1 :]),
            )
            for placed, remaining in ways
            for square in squares
            if remaining[square]
        ]
    return [placed for placed, _ in ways]


def holds(state, words):
    """Whether a position is as the words of a scene say."""
    if words == "cards":
        return simultaneous(state.facts)
    if words.endswith(" ways"):
        return len(assignments(state, DARK)) == int(words.split()[0])
    if words.startswith("options "):
        options = {state.action_to_string(action) for action in state.legal_actions()}
        return options == set(words.removeprefix("options ").split(" / "))
    if match := WORDS_OF_SIDE.match(words):
        side, verb, rest = SIDE_NAMES.index(match[1]), match[2], match[3]
        if verb == "wins":
            return state.is_terminal() and state.returns() == [side == LIGHT, side == DARK]
        if verb == "has":
            return len(hand(state, side)) == int(rest)
        if verb == "lacks":
            return CARD_NAMES[side].index(rest) not in hand(state, side)
        return state.current_player() == side and (verb == "acts" or state.facts.node == MOVE)
    name, verb, squares = WORDS_OF_PIECE.match(words).groups()
    piece, expected = PIECE[name], {SQUARE[square] for square in squares.split()}
    if verb == "goes ":
        return expected == {
            action % SQUARES for action in state.legal_actions() if action // SQUARES**2 == piece
        }
    return expected == (possible_squares(state, piece) if verb else {int(state.facts.pos[piece])})


SCENES = """
T2 a full square is closed to its owner
    Light: Frodo Shire, Merry Arthedain, Gimli Arthedain, Balrog Mordor = Frodo goes Cardolan
T3 the Anduin carries Light downstream only
    Light: Frodo Shire, Merry Mirkwood, Gimli Fangorn, Legolas Rohan, Balrog Mordor
    = Merry goes Dagorlad Fangorn; Gimli goes Dagorlad Gondor Rohan; Legolas goes Gondor
T25 the Nazgul flies to lone pieces anywhere
    Dark: Nazgul MistyMtns, Gimli Caradhras, Merry Gondor, Frodo Shire, Sam Shire
    = Nazgul goes Caradhras Gondor Rhudaur Eregion
T25 the Nazgul dies to Legolas
    Dark: Nazgul MistyMtns, Legolas Caradhras + home
    Nazgul MistyMtns-Caradhras = Nazgul dead; Legolas Caradhras; Light to move
the Nazgul flies from the Shire
    Dark: Nazgul Shire, Gimli Caradhras, Frodo Gondor = Nazgul goes Caradhras Gondor
T26 the Rider attacks along free squares
    Dark: Black Rider Mordor, Orcs HighPass, Warg MistyMtns, Merry Rhudaur, Gimli Enedwaith, Frodo Shire
    = Black Rider goes Dagorlad Gondor Enedwaith Shire
T27 the Witch King attacks sideways, and the square he left is free
    Dark: Witch King Mirkwood, Frodo Fangorn, Orcs Rohan = Witch King goes Fangorn HighPass MistyMtns
    Witch King Mirkwood-Fangorn = options stay / to Mirkwood
T27 mountains have no sides
    Dark: Witch King HighPass, Frodo MistyMtns = Witch King goes Rhudaur
T28 Aragorn attacks any neighbour
    Light: Frodo Shire, Aragorn Eregion, Orcs Cardolan, Warg Rhudaur, Balrog Enedwaith
    = Aragorn goes MistyMtns Caradhras Fangorn Cardolan Rhudaur Enedwaith
T28 Aragorn in the mountains attacks no mountain
    Light: Frodo Shire, Aragorn Caradhras, Orcs MistyMtns, Warg GapOfRohan, Balrog Eregion
    = Aragorn goes Fangorn Rohan Eregion
Aragorn does not attack backwards through the tunnel
    Light: Frodo Shire, Aragorn Fangorn, Orcs Eregion, Warg Mirkwood = Aragorn goes Dagorlad Gondor Rohan Mirkwood
T4a the Balrog takes the mover and reveals no one else
    Light: Frodo Shire, Merry Eregion, Balrog Caradhras, Orcs Fangorn/Mordor, Warg Mordor/Fangorn
    Merry Eregion-Fangorn; ambush
    = Merry dead; Orcs Fangorn; Dark to move; Orcs perhaps Fangorn Mordor; Balrog perhaps Caradhras
T4b the Balrog may let them pass
    Light: Frodo Shire, Merry Eregion, Balrog Caradhras, Orcs Fangorn, Warg Mordor, Gimli Eregion
    Gimli Eregion-Fangorn; pass = Gimli Fangorn; Orcs dead; Balrog Caradhras; Dark to move
T4c only the Balrog ambushes
    Light: Frodo Shire, Merry Eregion, Balrog Mordor, Orcs Fangorn, Warg Caradhras
    Merry Eregion-Fangorn = Dark acts; options pass
T4d Frodo falls to the ambush
    Light: Frodo Eregion, Merry Eregion, Balrog Caradhras, Orcs Fangorn, Warg Mordor
    Frodo Eregion-Fangorn; ambush = Dark wins
Boromir does not take the Balrog along in the tunnel
    Light: Frodo Shire, Merry Eregion, Balrog Caradhras, Orcs Fangorn, Warg Mordor, Boromir Eregion
    Boromir Eregion-Fangorn; ambush = Boromir dead; Balrog Caradhras
a walk to Fangorn over the mountains is not ambushed
    Light: Frodo Shire, Merry MistyMtns, Balrog Caradhras, Orcs Fangorn, Warg Mordor
    Merry MistyMtns-Fangorn = cards; Merry Fangorn
T29 Pippin retreats from the tunnel into the mountains
    Light: Frodo Shire, Pippin Eregion, Orcs Fangorn, Balrog Mordor
    Pippin Eregion-Fangorn = options stay / to MistyMtns / to Caradhras
    to Caradhras = Pippin Caradhras; Orcs Fangorn; Dark to move; Light has 9
T29 a mountain with dark pieces is no retreat
    Light: Frodo Shire, Pippin Eregion, Orcs Fangorn, Warg Caradhras, Balrog Mordor
    Pippin Eregion-Fangorn; pass = options stay / to MistyMtns
T6 Merry defeats the attacking Witch King without cards
    Dark: Witch King MistyMtns, Merry Eregion + home
    Witch King MistyMtns-Eregion = Witch King dead; Merry Eregion; Light has 9; Dark has 9
T6 Merry defeats the Witch King whom he attacks
    Light: Witch King MistyMtns, Merry Eregion + home
    Merry Eregion-MistyMtns = Witch King dead; Merry MistyMtns; Light has 9; Dark has 9
T7 the Orcs defeat their first opponent only
    Dark: Orcs MistyMtns, Sam Eregion, Frodo Eregion, Balrog Mordor
    Orcs MistyMtns-Eregion; Orcs v Sam; with Frodo
    = Sam dead; Orcs Eregion; Light acts; options stay / to Rhudaur / to Enedwaith
    stay = cards
T8 Frodo escapes the Orcs
    Dark: Orcs MistyMtns, Frodo Eregion, Balrog Mordor
    Orcs MistyMtns-Eregion; to Enedwaith = Frodo Enedwaith; Orcs Eregion; Light to move
T9 Sam dies for Frodo
    Dark: Orcs MistyMtns, Sam Eregion, Frodo Eregion, Balrog Mordor
    Orcs MistyMtns-Eregion; Orcs v Frodo; Sam steps in = Sam dead; Frodo Eregion
    stay; card 6; card 1 = Dark wins
T10 Boromir takes the attacking Orcs along
    Dark: Orcs MistyMtns, Boromir Eregion + home
    Orcs MistyMtns-Eregion = Orcs dead; Boromir dead
T11 the Warg ignores Boromir
    Dark: Warg MistyMtns, Boromir Eregion + home
    Warg MistyMtns-Eregion; card 1; card 4 = Warg dead; Boromir Eregion
T12 the Warg ignores Frodo and Sam
    Dark: Warg MistyMtns, Frodo Eregion, Sam Eregion, Balrog Mordor
    Warg MistyMtns-Eregion; Warg v Frodo = cards
    card 1; card 2 = Dark wins; Warg dead; Frodo dead
the Warg ignores Sam
    Dark: Warg MistyMtns, Frodo Eregion, Sam Eregion, Balrog Mordor
    Warg MistyMtns-Eregion; Warg v Sam = cards
the Warg ignores Gandalf
    Dark: Warg MistyMtns, Frodo Eregion, Gandalf Eregion, Balrog Mordor
    Warg MistyMtns-Eregion; Warg v Gandalf = cards
the Warg ignores Pippin
    Light: Warg MistyMtns, Frodo Eregion, Pippin Eregion, Balrog Mordor
    Pippin Eregion-MistyMtns = cards
T13 Sam steps in with strength five
    Dark: Balrog Eregion, Frodo Cardolan, Sam Cardolan, Orcs Mordor
    Balrog Eregion-Cardolan; Balrog v Frodo; Sam steps in; card 2; card 3
    = Balrog dead; Sam Cardolan; Frodo Cardolan; Light to move
T14 Sam without Frodo is two
    Dark: Balrog MistyMtns, Frodo Eregion, Sam Eregion, Orcs Mordor
    Balrog MistyMtns-Eregion; Balrog v Frodo; to Rhudaur; card 1; card 1
    = Sam dead; Frodo Rhudaur; Balrog Eregion; Light to move
Sam alone fights at two where Frodo is not shown
    Dark: Black Rider MistyMtns, Frodo Eregion, Sam Eregion, Orcs Mordor
    Black Rider MistyMtns-Eregion; Black Rider v Sam; alone; card 1; card 1 = Sam dead; Black Rider Eregion
Sam's strength does not outlast the battle: 9 v 1 + 5, not v 5 + 5
    Dark: Cave Troll MistyMtns, Frodo Eregion, Sam Eregion, Orcs Mordor
    Cave Troll MistyMtns-Eregion; Cave Troll v Sam; with Frodo; card 1; card 1; stay = Sam dead
    card 2; card 5 = Dark wins
a friend who may be Frodo gives Sam the question but not the strength
    Dark: Balrog MistyMtns, Gimli Eregion, Sam Eregion, Frodo Shire, Orcs Mordor
    Balrog MistyMtns-Eregion; Balrog v Sam = options alone
T24 Shelob goes home after a victory
    Dark: Shelob Caradhras, Merry Eregion, Pippin Eregion + home
    Shelob Caradhras-Eregion; Shelob v Merry; card 1; card 1 = Merry dead; Shelob Gondor; Pippin Eregion; Light to move
T24 Shelob goes home beside another
    Dark: Shelob Caradhras, Merry Eregion, Pippin Eregion, Saruman Gondor + home
    Shelob Caradhras-Eregion; Shelob v Merry; card 1; card 1 = Merry dead; Shelob Gondor; Pippin Eregion; Light to move
T24 Shelob dies where her home is full
    Dark: Shelob Caradhras, Merry Eregion, Pippin Eregion, Saruman Gondor, Warg Gondor + home
    Shelob Caradhras-Eregion; Shelob v Merry; card 1; card 1 = Merry dead; Shelob dead; Pippin Eregion; Light to move
T24 Shelob dies where her home is taken
    Dark: Shelob Caradhras, Merry Eregion, Pippin Eregion, Gimli Gondor + home
    Shelob Caradhras-Eregion; Shelob v Merry; card 1; card 1 = Merry dead; Shelob dead; Pippin Eregion; Light to move
T24 a defending Shelob goes home too
    Light: Merry Eregion, Shelob Caradhras + home
    Merry Eregion-Caradhras; card 1; card 1 = Merry dead; Shelob Gondor; Dark to move
T24 Shelob stays in Gondor
    Light: Merry Fangorn, Shelob Gondor + home
    Merry Fangorn-Gondor; card 1; card 1 = Merry dead; Shelob Gondor
T24 an attacking Shelob in Gondor fights on
    Dark: Merry Gondor, Gimli Gondor, Shelob Mordor + home
    Shelob Mordor-Gondor; Shelob v Merry; card 1; card 1; card 2; card 2 = Merry dead; Gimli dead; Shelob Gondor
Shelob who dies with her opponent does not go home
    Light: Gimli Eregion, Shelob Caradhras + home
    Gimli Eregion-Caradhras; card 1; card 3 = Gimli dead; Shelob dead
Shelob without a home may be the last dark piece
    Dark: Frodo Shire, Shelob Caradhras, Merry Eregion, Gimli Gondor
    Shelob Caradhras-Eregion; card 1; card 1 = Light wins
T16 Dark's Magic is complete before Gandalf chooses
    Dark: Balrog MistyMtns, Gandalf Eregion, Orcs Mordor, Frodo Shire, Light without Noble Sacrifice & card 1,
        Dark without card 6 & card 1
    Balrog MistyMtns-Eregion; Magic = Dark acts; options card 6 / card 1
    card 6 = Light acts; options Magic / Retreat / Elven Cloak / card 2 / card 3 / card 4 / card 5
    Magic = options Noble Sacrifice / card 1
    Noble Sacrifice = Gandalf dead; Balrog dead
T17 the Eye cancels a text card
    Dark: Saruman MistyMtns, Legolas Eregion + home
    Saruman MistyMtns-Eregion; play cards; Eye of Sauron; Noble Sacrifice = Legolas dead; Saruman Eregion
the Eye has no effect on a number
    Dark: Saruman MistyMtns, Legolas Eregion + home
    Saruman MistyMtns-Eregion; play cards; Eye of Sauron; card 2 = Legolas Eregion; Saruman dead
T18 Saruman cancels the cards
    Dark: Saruman MistyMtns, Sam Eregion, Frodo Eregion, Orcs Mordor
    Saruman MistyMtns-Eregion; Saruman v Sam; with Frodo; no cards = Saruman dead; Sam Eregion; Light has 9; Dark has 9
Saruman has no say against Boromir
    Dark: Saruman MistyMtns, Boromir Eregion + home
    Saruman MistyMtns-Eregion = Saruman dead; Boromir dead
Saruman without cards takes Gandalf's text away
    Dark: Saruman MistyMtns, Gandalf Eregion + home
    Saruman MistyMtns-Eregion; no cards = Saruman dead; Gandalf Eregion
T19 Dark's retreat saves from the sacrifice
    Light: Legolas Caradhras, Black Rider Rohan + home
    Legolas Caradhras-Rohan; Retreat; Noble Sacrifice
    = Black Rider Fangorn; Legolas Rohan; Dark to move; Dark lacks Retreat; Light lacks Noble Sacrifice
T19 both may retreat
    Light: Legolas Caradhras, Black Rider Rohan + home
    Legolas Caradhras-Rohan; Retreat; Retreat = Light acts; options to Caradhras / to GapOfRohan
    to GapOfRohan = Black Rider Fangorn; Legolas GapOfRohan; Dark to move
Dark chooses between two sideways squares
    Light: Legolas Caradhras, Black Rider Fangorn + home
    Legolas Caradhras-Fangorn; Retreat; card 1 = Dark acts; options to Mirkwood / to Rohan
    to Mirkwood = Black Rider Mirkwood; Legolas Fangorn
an attacker fights the next defender after a retreat
    Light: Legolas Caradhras, Black Rider Rohan, Orcs Rohan + home
    Legolas Caradhras-Rohan; Legolas v Black Rider; Retreat; card 1 = Black Rider Fangorn; cards
    card 1; card 2 = Orcs dead; Legolas Rohan
T20 no retreat sideways in the mountains
    Light: Legolas Enedwaith, Black Rider Caradhras + home
    Legolas Enedwaith-Caradhras; Retreat; Noble Sacrifice = Black Rider dead; Legolas dead
T21 a retreat to a full square fails
    Light: Legolas Caradhras, Black Rider Rohan, Orcs Fangorn, Warg Fangorn + home
    Legolas Caradhras-Rohan; Retreat; card 1 = Black Rider dead; Legolas Rohan
T22a Magic against Magic
    Dark: Black Rider MistyMtns, Legolas Eregion + home
    Black Rider MistyMtns-Eregion; Magic; Magic = Black Rider dead; Legolas dead; Light to move; Light has 8; Dark has 8
T22b the Eye against Magic
    Dark: Black Rider MistyMtns, Legolas Eregion, Light without card 5, Dark without card 1 + home
    Black Rider MistyMtns-Eregion; Eye of Sauron; Magic
    = Black Rider dead; Legolas dead; Light to move; Light has 7; Dark has 7
T22c Magic against Magic with cards to pick, and Dark picks first
    Dark: Black Rider MistyMtns, Legolas Eregion, Light without Elven Cloak & card 5, Dark without card 6 & card 1 + home
    Black Rider MistyMtns-Eregion; Magic; Magic = Dark acts; options card 6 / card 1
    card 6 = Light acts; options Elven Cloak / card 5
    Elven Cloak = Black Rider dead; Legolas dead; Light to move; Light has 6; Dark has 6
T22d Magic that picks the Eye
    Dark: Black Rider MistyMtns, Legolas Eregion, Light without card 5 & card 1, Dark without Eye of Sauron & card 1 + home
    Black Rider MistyMtns-Eregion; Magic; Noble Sacrifice; Eye of Sauron
    = Black Rider dead; Legolas dead; Light to move; Light has 6; Dark has 6
T23 the Troll is nine whatever Dark plays
    Light: Gandalf Caradhras, Cave Troll Rohan + home
    Gandalf Caradhras-Rohan; card 6; card 5 = Gandalf Rohan; Cave Troll dead; Dark lacks card 6
T23 the Troll's retreat does not save it from the sacrifice
    Dark: Cave Troll Caradhras, Merry Eregion + home
    Cave Troll Caradhras-Eregion; Retreat; Noble Sacrifice = Merry dead; Cave Troll dead
the Troll's Magic asks nothing
    Dark: Cave Troll Caradhras, Merry Eregion, Light without card 1, Dark without card 1 + home
    Cave Troll Caradhras-Eregion; Magic; card 5 = Merry dead; Cave Troll Eregion
T31 all cards come back after the ninth
    Dark: Black Rider MistyMtns, Legolas Eregion, Light only card 5, Dark only Magic + home
    Black Rider MistyMtns-Eregion; Magic; card 5; card 6 = Legolas dead; Black Rider Eregion; Light has 9; Dark has 9
T31 the cards are back before a second battle of the turn
    Dark: Balrog MistyMtns, Legolas Eregion, Gimli Eregion, Frodo Shire, Light only card 1, Dark only card 6
    Balrog MistyMtns-Eregion; Balrog v Legolas; card 6; card 1 = cards; Light has 9; Dark has 9
T32 a retreat may lead to any backward square
    Light: Merry Mirkwood, Orcs Dagorlad + home
    Merry Mirkwood-Dagorlad; card 6; Retreat = options to Fangorn / to Mirkwood
    to Fangorn = Merry Fangorn; Orcs Dagorlad; Dark to move
T32 the puzzle ends with Dark unable to move
    Dark: Merry Fangorn, Legolas Cardolan, Frodo Arthedain, Balrog Eregion, Cave Troll Shire, Black Rider Shire,
        Light without Noble Sacrifice & Retreat, Dark without card 1 & card 2
    Balrog Eregion-Cardolan; Retreat; Magic; Noble Sacrifice = Balrog dead; Legolas dead; Light to move
    Merry Fangorn-Gondor = Light wins
T30a Dark without a move loses
    Light: Frodo Rhudaur, Orcs Shire, Warg Shire
    Frodo Rhudaur-HighPass = Light wins
T30c Light wins when no dark piece is left
    Light: Frodo Shire, Gimli Eregion, Orcs Caradhras
    Gimli Eregion-Caradhras = Light wins
T30d Frodo and the last dark piece falling together is Dark's win
    Light: Frodo Eregion, Orcs Caradhras
    Frodo Eregion-Caradhras; card 1; card 2 = Frodo dead; Orcs dead; Dark wins
T30e Light without a move loses
    Dark: Sam Mordor, Pippin Mordor, Merry Mordor, Gimli Mordor, Legolas Gondor, Gandalf Gondor, Frodo Rohan, Orcs HighPass
    Orcs HighPass-Rhudaur = Dark wins
K1 unseen moves make known pieces uncertain, and a battle settles it
    Dark: Frodo Shire, Saruman Rohan, Warg Gondor/Mordor, Orcs Mordor/Gondor, Gimli Eregion, Merry Rhudaur = 2 ways
    Warg Gondor-Rohan = Saruman perhaps Rohan; Warg perhaps Rohan Mordor; 2 ways
    Merry Rhudaur-HighPass; Warg Rohan-Caradhras = Saruman perhaps Rohan Caradhras; 4 ways
    Gimli Eregion-Caradhras = 1 ways; Warg perhaps Caradhras; Saruman perhaps Rohan; Orcs perhaps Mordor
K3 a piece that went to Mordor is not Frodo
    Light: Frodo Gondor/Dagorlad, Sam Gondor/Dagorlad, Merry Dagorlad/Gondor, Orcs HighPass
    Sam Gondor-Mordor
    = Sam perhaps Gondor Dagorlad Mordor; Merry perhaps Gondor Dagorlad Mordor; Frodo perhaps Gondor Dagorlad
K4 an attack names only the attacker and the defender (Gimli gone, the other squares are Merry's and Sam's)
    Light: Gimli Eregion/Rhudaur/Cardolan, Merry Eregion/Rhudaur, Sam Rhudaur/Eregion, Pippin Cardolan/Eregion,
        Saruman Caradhras + home
    Gimli Eregion-Caradhras = Gimli perhaps Caradhras; Saruman perhaps Caradhras
    = Merry perhaps Eregion Rhudaur; Sam perhaps Eregion Rhudaur; Pippin perhaps Cardolan
Sam and Frodo are known after standing together
    Dark: Balrog MistyMtns, Frodo Eregion/Rhudaur, Sam Eregion/Rhudaur, Gimli Rhudaur/Eregion, Orcs Mordor
    Balrog MistyMtns-Eregion; Balrog v Sam; with Frodo = Frodo perhaps Eregion; Sam perhaps Eregion; Gimli perhaps Rhudaur
Frodo and Sam are known after one steps in
    Dark: Balrog MistyMtns, Frodo Eregion/Rhudaur, Sam Eregion/Rhudaur, Gimli Rhudaur/Eregion, Orcs Mordor
    Balrog MistyMtns-Eregion; Balrog v Frodo; Sam steps in
    = Frodo perhaps Eregion; Sam perhaps Eregion; Gimli perhaps Rhudaur
declining tells nothing
    Dark: Balrog MistyMtns, Frodo Rhudaur/Eregion, Sam Eregion/Rhudaur, Gimli Eregion/Rhudaur, Orcs Mordor
    Balrog MistyMtns-Eregion; Balrog v Sam; alone = Frodo perhaps Eregion Rhudaur; Gimli perhaps Eregion Rhudaur
"""


@pytest.mark.parametrize(("title", "scene"), scenes.scenes(SCENES))
def test_a_scene_goes_as_the_rules_say(title, scene):
    act_out(scene, position, holds)


def test_random_setups_are_uniform_over_the_squares():
    game = lotr_confrontation(random_setup=1)
    at_home = np.zeros(PIECES)
    for seed in range(2000):
        facts = game.new_initial_state(seed=seed).facts
        at_home += np.isin(facts.pos, (SHIRE, MORDOR))
    assert at_home.sum() == 2000 * 8
    for side in SIDES:
        assert chisquare(at_home[side * TEAM :][:TEAM]).pvalue > 1e-4


def test_the_fixed_setup_gives_26_first_moves_to_dark_and_19_to_light():
    state = GAME.new_initial_state()
    assert state.current_player() == DARK
    assert len(state.legal_actions()) == 26
    data = state.data.copy()
    data["side"] = LIGHT
    assert len(State(GAME, data).legal_actions()) == 19


@pytest.mark.parametrize(
    ("there", "needed", "over"), [(3, 4, True), (2, 4, False), (2, 3, True), (1, 3, False)]
)
def test_t30b_dark_wins_with_enough_pieces_in_the_shire(there, needed, over):
    crowd = ", ".join(f"{piece} Shire" for piece in ("Orcs", "Warg", "Saruman")[:there])
    state = position(f"Dark: Frodo Fangorn, Balrog Arthedain, Shelob Mordor, {crowd}", shire=needed)
    assert holds(play(state, "Balrog Arthedain-Shire"), "Dark wins" if over else "Light to move")


def test_a_game_of_five_hundred_turns_is_shared():
    state = position("Light: Frodo Shire, Balrog Mordor", turn=MAX_TURNS - 1)
    assert play(state, "Frodo Shire-Arthedain").returns() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        *(("dark_shire_to_win", wrong) for wrong in (0, 5, "4", 3.5, True)),
        ("random_setup", 2),
        ("random_setup", "yes"),
    ],
)
def test_an_impossible_parameter_is_refused(name, wrong):
    with pytest.raises(ValueError, match=name):
        lotr_confrontation(**{name: wrong})


def test_k2_at_the_start_all_15120_setups_are_possible():
    for game in (GAME, lotr_confrontation(random_setup=1)):
        state = game.new_initial_state(seed=3)
        for side in SIDES:
            expected = set(assignments(state, side))
            assert len(expected) == 15120 == math.factorial(9) // math.factorial(4)
            assert tuple(state.facts.pos[side * TEAM :][:TEAM].tolist()) in expected
            assert state.beliefs(1 - side)[0]["ways"][0] == 15120 * math.factorial(4)


# -------------------------------------------------------------------------------------------------- random play, determinization


def random_states(seed, games, every=1):
    """States of random games, terminal ones included, with their history."""
    generator = np.random.default_rng(seed)
    game = lotr_confrontation(random_setup=1)
    for i in range(games):
        state, step = game.new_initial_state(seed=seed + i), 0
        while not state.is_terminal():
            if step % every == 0:
                yield state
            state.apply_action(int(generator.choice(state.legal_actions())))
            step += 1
        yield state


def recalled(state, perspective):
    moves = np.zeros(LONGEST_TURN, np.int64)
    count = GAME.kernels().recall(
        state.data.ctypes.data, perspective, moves.ctypes.data, LONGEST_TURN
    )
    return tuple(moves[:count].tolist())


def test_a_redrawn_turn_is_recalled_consistently():
    """The environment's view names the redrawn mover and the redrawn card, and leads to what every player has seen."""
    checked = set()
    for state in random_states(seed=21, games=6):
        if state.is_terminal() or state.facts.acted == 0:
            continue
        for observer in SIDES:
            drawn = state.determinize(observer, seed=4)
            facts, actions = drawn.facts, recalled(drawn, 2)
            if mover_unseen(facts):
                mover = facts.fighters[facts.side]
                assert actions[0] == (int(mover) * SQUARES + int(facts.origin)) * SQUARES + int(
                    facts.square
                )
                assert facts.pos[mover] == facts.origin
                checked.add("mover")
            if facts.node == LIGHT_CARD:
                chosen = int(facts.cards[DARK])
                picked = DARK_PICKS <= actions[-1] < DARK_MOVES_ASIDE  # v Gandalf, after a Magic
                assert actions[-2 if picked else -1] == DARK_PLAYS + chosen
                assert chosen in hand(drawn, DARK)
                checked.add("card")
            if facts.node == SHOW:
                assert actions[-2:] == (
                    DARK_PLAYS + int(facts.cards[DARK]),
                    LIGHT_PLAYS + int(facts.cards[LIGHT]),
                )
                checked.add("cards")
    assert checked == {"mover", "card", "cards"}


def draws(state, observer, count):
    """Determinizations [draws, 20]: the square of every piece, the hidden side's fighter and card."""
    drawn, hidden = scenes.draws(state, observer, count), 1 - observer
    return np.column_stack([drawn["pos"], drawn["fighters"][:, hidden], drawn["cards"][:, hidden]])


def uniform_over(drawn, expected):
    """The chi-square p-value of draws (rows) against a list of equally likely outcomes; every draw must be one of them."""
    place = {outcome: i for i, outcome in enumerate(expected)}
    counts = np.zeros(len(expected))
    outcomes, times = np.unique(drawn, axis=0, return_counts=True)
    for outcome, n in zip(outcomes.tolist(), times, strict=True):
        counts[place[tuple(outcome)]] = n
    return chisquare(counts).pvalue if len(expected) > 1 else 1.0


@pytest.mark.parametrize("observer", SIDES)
def test_k2_the_draws_at_the_start_are_uniform(observer):
    state, hidden = GAME.new_initial_state(), 1 - observer
    drawn = draws(state, observer, 15120 * 3)[:, hidden * TEAM : hidden * TEAM + TEAM]
    assert uniform_over(drawn, assignments(state, hidden)) > 1e-4


def test_k5_draws_in_the_middle_of_games_are_uniform_and_the_truth_is_one_of_them():
    tested = 0
    for state in random_states(seed=51, games=14, every=7):
        if state.is_terminal() or state.facts.node != MOVE:
            continue
        observer, hidden = state.current_player(), 1 - state.current_player()
        pieces = range(hidden * TEAM, hidden * TEAM + TEAM)
        if math.prod(len(possible_squares(state, piece)) for piece in pieces) > 500_000:
            continue
        expected = assignments(state, hidden)
        assert tuple(state.facts.pos[hidden * TEAM :][:TEAM].tolist()) in expected
        if 2 <= len(expected) <= 800:
            drawn = draws(state, observer, 20 * len(expected))[
                :, hidden * TEAM : hidden * TEAM + TEAM
            ]
            assert uniform_over(drawn, expected) > 1e-4
            tested += 1
    assert tested > 15


def test_the_unseen_tunnel_traveller_and_the_squares_are_drawn_together_uniformly():
    start = (
        "Light: Frodo Eregion/Rhudaur/Shire, Gimli Rhudaur/Eregion/Shire, Merry Eregion/Rhudaur, "
        "Sam Shire/Eregion, Warg Caradhras, Balrog Mordor"
    )
    state = play(position(start), "Merry Eregion-Fangorn")
    assert state.current_player() == DARK
    expected = [
        (*placed, mover)
        for placed in assignments(state, LIGHT)
        for mover in range(TEAM)
        if placed[mover] == EREGION
    ]
    drawn = draws(state, DARK, 200 * len(expected))[:, [*range(TEAM), PIECES]]
    assert len(expected) > 5
    assert uniform_over(drawn, expected) > 1e-4


@pytest.mark.parametrize(
    ("others", "mover"),
    [
        ("", "Pippin"),
        (", Aragorn Eregion", "a piece"),
        (", Sam Eregion/Rhudaur, Gimli Rhudaur/Eregion", "a piece"),
    ],
)
def test_the_unseen_tunnel_traveller_is_named_where_it_could_be_nobody_else(others, mover):
    start = f"Light: Frodo Shire, Pippin Eregion, Balrog Caradhras, Warg Mordor{others}"
    state = play(position(start), "Pippin Eregion-Fangorn")
    footer = f"{mover} Eregion-Fangorn: Dark may ambush"
    assert scene(state.facts, DARK).footer == footer
    for seed in range(6):
        assert scene(state.determinize(DARK, seed=seed).facts, DARK).footer == footer
    assert scene(state.facts, LIGHT).footer == "Pippin Eregion-Fangorn: Dark may ambush"


def eye_to_be_played(used=""):
    state = position(f"Dark: Black Rider MistyMtns, Legolas Eregion{used} + home")
    return play(state, "Black Rider MistyMtns-Eregion", "Eye of Sauron")


def test_a_card_that_lies_face_down_is_drawn_from_the_whole_hand():
    state = eye_to_be_played(", Light without card 1 & card 5, Dark without card 1 & card 6")
    assert holds(state, "cards")
    assert state.current_player() == LIGHT
    drawn = draws(state, LIGHT, 7000)[:, [PIECES + 1]]
    assert uniform_over(drawn, [(card,) for card in hand(state, DARK)]) > 1e-4


def test_cards_are_seen_face_down_until_shown_together():
    state, five = play(eye_to_be_played(), "card 5"), CARD_NAMES[LIGHT].index("card 5")
    shown = CARDS_SHOWN + EYE * CARDS + five
    assert state.moves(LIGHT)[-3:] == (FACE_DOWN, LIGHT_PLAYS + five, shown)
    assert state.moves(DARK)[-3:] == (DARK_PLAYS + EYE, FACE_DOWN, shown)
    assert state.moves(CHANCE)[-3:] == (DARK_PLAYS + EYE, LIGHT_PLAYS + five, shown)


ENDINGS = FRODO_FELL, REACHED_MORDOR, DARK_STUCK, SHIRE_TAKEN, NO_DARK_LEFT, LIGHT_STUCK = range(6)


@array_kernel("random games of The Confrontation")
def random_games(state, start, rng, games, parameters, functions, endings, battles) -> int:
    """Uniform random play; endings [6] and battles [1] count them; returns the turns of all games together."""
    initial, player, legal, apply = functions[0], functions[1], functions[2], functions[3]
    actions, address = np.zeros(MAX_LEGAL, np.int64), address_of(state)
    facts, turns = state[0], 0
    for _ in range(games):
        state[0] = start[0]  # as before a game
        call(initial, (address, address_of(rng), address_of(parameters)))
        while call(player, (address,)) != TERMINAL:
            action = actions[below(rng, call(legal, (address, address_of(actions))))]
            turns += facts.node == MOVE
            battles[0] += facts.node == REVEAL
            call(apply, (address, action))
        if facts.pos[FRODO] == DEAD:
            endings[0] += 1
        elif facts.pos[FRODO] == MORDOR:
            endings[1] += 1
        elif facts.winner == LIGHT:
            endings[4 if facts.count[DARK, DEAD] == TEAM else 2] += 1
        else:
            endings[3 if facts.count[DARK, SHIRE] >= parameters[0] else 5] += 1
    return turns


@pytest.mark.parametrize(
    ("random_setup", "dark", "turns", "split"),
    [
        (
            0,
            0.820,
            29.6,
            {
                FRODO_FELL: 0.815,
                REACHED_MORDOR: 0.133,
                DARK_STUCK: 0.045,
                SHIRE_TAKEN: 0.005,
                NO_DARK_LEFT: 0.003,
            },
        ),
        (1, 0.863, 25.2, {}),
    ],
)
def test_random_play_ends_as_often_as_it_should(random_setup, dark, turns, split):
    games, state, start = 3_000, np.zeros(1, GAME.state), np.zeros(1, GAME.state)
    endings, battles = np.zeros(len(ENDINGS), np.int64), np.zeros(1, np.int64)
    functions = np.array(
        [GAME.address(name) for name in ("initial", "player", "legal", "apply")], np.int64
    )
    parameters = lotr_confrontation(random_setup=random_setup).initial_arguments()
    turns_played = random_games(
        state, start, seeded(2002), games, parameters, functions, endings, battles
    )
    dark_wins = (endings[FRODO_FELL] + endings[SHIRE_TAKEN] + endings[LIGHT_STUCK]) / games
    assert dark_wins == pytest.approx(dark, abs=0.015)
    assert turns_played / games == pytest.approx(turns, abs=1)
    for ending, share in split.items():
        assert endings[ending] / games == pytest.approx(share, abs=0.01)
    if not random_setup:
        assert battles[0] / games == pytest.approx(9.0, abs=0.5)
