"""Strategies from text: the inverse of `str`, by a parser that evaluates nothing but the algebra."""

import ast
import difflib
import inspect
import itertools
import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from icarus import checks
from icarus.algebra.enhancement import Enhancement, Sum, compose

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
# Enhancements: a chain is composed at once.
_JOINING = {ast.RShift: ">>", ast.Add: "+", ast.BitXor: "^", ast.BitAnd: "&"}
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
        raise ValueError(f"the strategy has {len(text):,} characters; at most {LONGEST:,} are allowed")
    excerpt, text = checks.excerpt(text, SHOWN), text.strip()
    try:
        result = _Reader(text, names).operand(ast.parse(text or " ", mode="eval").body)
    except (MemoryError, RecursionError):
        raise ValueError(f"the strategy {excerpt!r} has too many nested operators") from None
    except SyntaxError as error:
        place = error.offset or len(text) + 1
        raise ValueError(
            f"the strategy {excerpt!r} cannot be read at position {place}; write it like RAVE >> (MAST + NAST2)/2"
        ) from None
    if isinstance(result, Sum):
        raise ValueError(f"the weights of the strategy {excerpt!r} {result.refusal}")
    if not isinstance(result, Enhancement):
        raise ValueError(f"{excerpt!r} is not an enhancement; write it like RAVE >> (MAST + NAST2)/2")
    return result


class _Reader:
    def __init__(self, text: str, names: Mapping[str, Operand]) -> None:
        self.text, self.names = text, names

    def wrong(self, node: ast.AST, reason: str) -> ValueError:
        excerpt = checks.excerpt(self.text, SHOWN)
        return ValueError(f"the strategy {excerpt!r}, at position {getattr(node, 'col_offset', 0) + 1}: {reason}")

    def source(self, node: ast.expr) -> str:
        """What of the text an expression is, as it is quoted."""
        return checks.excerpt(ast.get_source_segment(self.text, node) or "", SHOWN)

    def value(self, node: ast.expr, called: bool = False) -> Operand:
        """The value of an expression."""
        if isinstance(node, ast.Constant) and type(node.value) in (int, float, str):
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return -self.operand(node.operand)
        if isinstance(node, ast.Name):
            return self.name(node, called)
        if isinstance(node, ast.Call):
            return self.call(node)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return self.combine(node)
        raise self.wrong(
            node, f"{self.source(node)!r} is not part of the algebra, which has >>, +, -, *, /, ^, &, names and numbers"
        )

    def name(self, node: ast.Name, called: bool) -> Operand:
        if node.id not in self.names:
            near = [name for name in self.names if name.lower() == node.id.lower()]
            if called and near:  # as variants are printed: mast(gibbs(temperature=0.1))
                return self.names[near[0]]
            near = near or difflib.get_close_matches(node.id, self.names, n=3, cutoff=0.5)
            hint = f"did you mean {' or '.join(near)}?" if near else "icarus specs lists the enhancements"
            raise self.wrong(node, f"no enhancement is called {node.id!r}; {hint}")
        return self.names[node.id]

    def call(self, node: ast.Call) -> Operand:
        function = self.value(node.func, called=True)
        if isinstance(function, Sum) or not callable(function):
            raise self.wrong(node, f"{self.source(node.func)} takes no parameters")
        if any(keyword.arg is None for keyword in node.keywords):
            raise self.wrong(node, "** is not part of the algebra")
        arguments = [self.value(argument) for argument in node.args]
        twice = [
            keyword.arg for i, keyword in enumerate(node.keywords) if keyword.arg in [k.arg for k in node.keywords[:i]]
        ]
        if twice:
            raise self.wrong(node, f"the parameter {twice[0]} is given twice")
        keywords = {str(keyword.arg): self.value(keyword.value) for keyword in node.keywords}
        if inspect.isfunction(function):
            try:
                inspect.signature(function).bind(*arguments, **keywords)
            except TypeError as error:
                raise self.wrong(node, f"{error}; write {_call_text(self.source(node.func), function)}") from None
        return self.attempt(node, function, *arguments, **keywords)

    def combine(self, node: ast.BinOp) -> Operand:
        """A chain of operators, from the left: as long as one likes, for only what stands within something is deep."""
        chain = [node]
        while isinstance(chain[-1].left, ast.BinOp) and type(chain[-1].left.op) in _OPERATORS:
            chain.append(chain[-1].left)
        value = self.operand(chain[-1].left)
        for kind, run in itertools.groupby(reversed(chain), lambda link: type(link.op)):
            links = list(run)
            operands = [value, *(self.operand(link.right) for link in links)]
            if kind in _JOINING and all(isinstance(operand, Enhancement | Sum) for operand in operands):
                value = self.attempt(links[-1], compose, _JOINING[kind], operands)
            else:
                for link, operand in zip(links, operands[1:], strict=True):
                    value = self.attempt(link, _OPERATORS[kind], value, operand)
        return value

    def operand(self, node: ast.expr) -> Operand:
        """The value of a whole strategy, or of what an operator stands beside: no text or function, which only a parameter can be."""
        value = self.value(node)
        if isinstance(value, str):
            raise self.wrong(node, f"{value!r} is a str; write the names of enhancements without quotation marks")
        if inspect.isfunction(value):
            source = self.source(node)
            raise self.wrong(node, f"{source} is a function; call it: {_call_text(source, value)}")
        return value

    def attempt(
        self, node: ast.expr, function: Callable[..., Operand], *arguments: Operand, **keywords: Operand
    ) -> Operand:
        """What a function gives; what it refuses is reported with its position."""
        try:
            return function(*arguments, **keywords)
        except (TypeError, ValueError, ArithmeticError, MemoryError, RecursionError) as error:
            reason = str(error) or type(error).__name__
            if reason.startswith("unsupported operand"):  # Python's words for it name types
                reason = f"{self.source(node)!r} is not part of the algebra; - is for weights, as in 1 - rave_weight"
            raise self.wrong(node, reason) from None


def _call_text(name: str, function: Callable[..., Operand]) -> str:
    """How a function is called, with its parameters and their defaults."""
    parameters = inspect.signature(function).parameters.values()
    return f"{name}({', '.join(str(parameter.replace(annotation=parameter.empty)) for parameter in parameters)})"
