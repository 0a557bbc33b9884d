"""Strategies from text: the inverse of `str`, by a parser that evaluates nothing but the algebra."""

import ast
import difflib
import io
import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from icarus import checks
from icarus.algebra.enhancement import Enhancement, UnnormalizedMixture

# An enhancement, a sum, a weight, a rule, a number, a text, or a function that makes one of these.
Operand: TypeAlias = Any
_OPERATORS: dict[type[ast.operator], Callable[[Operand, Operand], Operand]] = {
    ast.RShift: operator.rshift,
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.BitXor: operator.xor,
    ast.BitAnd: operator.and_,
}
# What an operator is for, where Python has no words of its own for what its operands are.
_USES = {
    ast.RShift: ">> is for enhancements, as in RAVE >> MAST",
    ast.Add: "+ is for enhancements, as in (MAST + NAST2)/2",
    ast.Sub: "- is for weights, as in 1 - rave_weight",
    ast.Mult: "* is for weights of enhancements, as in 0.5*MAST",
    ast.Div: "/ is for enhancements, as in (MAST + NAST2)/2",
    ast.BitXor: "^ is for enhancements, as in (AMAF ^ BASELINE)/2",
    ast.BitAnd: "& is for enhancements, as in MAST & NAST2",
}
# how Python's own refusals of operands begin, which name types
_OF_PYTHON = ("unsupported operand", "can only concatenate", "can't multiply sequence")
LONGEST = 100_000  # characters of a strategy
SHOWN = 300  # characters of it shown in an error


def parse(text: str, names: Mapping[str, Operand]) -> Enhancement:
    """The enhancement that a text such as "RAVE >> (MAST + NAST2)/2" describes.

    Args:
        names: enhancements, and functions that make enhancements, weights or rules, by name.

    Raises:
        ValueError: with the position (counted from 1) of what cannot be understood, and what would be right.
        TypeError: `text` is not a str.
    """
    if not isinstance(text, str):
        raise TypeError(f"a strategy must be a str, not {text!r}")
    if len(text) > LONGEST:
        raise ValueError(
            f"the strategy has {len(text):,} characters; at most {LONGEST:,} are allowed"
        )
    text = text.strip()
    excerpt = checks.excerpt(text, SHOWN)
    try:
        result = _Reader(text, names).value(ast.parse(text or " ", mode="eval").body)
    except (MemoryError, RecursionError):
        raise ValueError(f"the strategy {excerpt!r} has too many nested operators") from None
    except (SyntaxError, UnicodeEncodeError) as error:
        place = len(text) + 1
        if isinstance(error, UnicodeEncodeError):  # half a character, as a terminal may give it
            place = error.start + 1
        elif error.lineno and error.offset:
            place = _start(text, error.lineno) + error.offset
        raise ValueError(
            f"the strategy {excerpt!r} cannot be read at position {place}; write it like RAVE >> (MAST + NAST2)/2"
        ) from None
    if isinstance(result, UnnormalizedMixture):
        raise ValueError(f"the weights of the strategy {excerpt!r} {result.refusal}")
    if not isinstance(result, Enhancement):
        raise ValueError(
            f"{excerpt!r} is not an enhancement; write it like RAVE >> (MAST + NAST2)/2"
        )
    return result


def _start(text: str, number: int) -> int:
    """How many characters stand before a line, as Python's parser counts lines, from 1."""
    lines = list(io.StringIO(text, newline=""))
    return sum(map(len, lines[: number - 1]))


class _Reader:
    def __init__(self, text: str, names: Mapping[str, Operand]) -> None:
        self.text, self.names = text, names

    def wrong(self, node: ast.expr, reason: str) -> ValueError:
        """The error of what is wrong with an expression, with its position."""
        excerpt = checks.excerpt(self.text, SHOWN)
        start = _start(self.text, node.lineno)
        # Python counts the columns of a line in bytes.
        before = self.text[start:].encode()[: node.col_offset].decode()
        place = start + len(before) + 1
        return ValueError(f"the strategy {excerpt!r}, at position {place}: {reason}")

    def value(self, node: ast.expr) -> Operand:
        """The value of an expression."""
        match node:
            case ast.Constant(int() | float() | str() as value) if not isinstance(value, bool):
                return value
            case ast.UnaryOp(ast.USub(), ast.Constant(int() | float())):
                return self.attempt(node, operator.neg, self.value(node.operand))
            case ast.Name():
                return self.named(node)
            # A keyword without a name is `**names`.
            case ast.Call(keywords=keywords) if all(keyword.arg for keyword in keywords):
                if len({keyword.arg for keyword in keywords}) < len(keywords):
                    raise self.wrong(node, "a parameter is given twice")
                arguments = [self.value(argument) for argument in node.args]
                given = {str(keyword.arg): self.value(keyword.value) for keyword in keywords}
                function = (
                    self.named(node.func, called=True)
                    if isinstance(node.func, ast.Name)
                    else self.value(node.func)
                )
                if isinstance(function, UnnormalizedMixture) or not callable(function):
                    raise self.wrong(node.func, f"{function} takes no parameters")
                return self.attempt(node, function, *arguments, **given)
            case ast.BinOp() if type(node.op) in _OPERATORS:
                left, right = self.value(node.left), self.value(node.right)
                return self.attempt(node, _OPERATORS[type(node.op)], left, right)
        source = checks.excerpt(ast.get_source_segment(self.text, node) or "", SHOWN)
        raise self.wrong(
            node,
            f"{source!r} is not part of the algebra, which has >>, +, -, *, /, ^, &, names and numbers",
        )

    def named(self, node: ast.Name, called: bool = False) -> Operand:
        """The value of a name. With arguments behind it, it may stand in small letters, as variants are printed: mast(gibbs(0.1))."""
        if node.id in self.names:
            return self.names[node.id]
        near = [name for name in self.names if name.lower() == node.id.lower()]
        if len(near) == 1 and called:
            return self.names[near[0]]
        near = near or difflib.get_close_matches(node.id, self.names, n=3, cutoff=0.5)
        hint = (
            f"did you mean {' or '.join(near)}?" if near else "icarus specs lists the enhancements"
        )
        raise self.wrong(node, f"no enhancement is called {node.id!r}; {hint}")

    def attempt(
        self,
        node: ast.expr,
        function: Callable[..., Operand],
        *arguments: Operand,
        **keywords: Operand,
    ) -> Operand:
        """What a function gives; what it refuses is reported with its position."""
        try:
            return function(*arguments, **keywords)
        except (TypeError, ValueError, ArithmeticError, MemoryError) as error:
            reason = str(error) or type(error).__name__
            if isinstance(node, ast.BinOp) and reason.startswith(_OF_PYTHON):
                reason = _USES[type(node.op)]
            raise self.wrong(node, reason) from None
