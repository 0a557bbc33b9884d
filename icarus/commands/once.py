"""Commands whose options are given once: of two values the last one would be taken without a word."""

from collections import Counter
from typing import Any

from typer.core import TyperCommand


class Command(TyperCommand):
    """A command that refuses an option given twice, unless it is repeatable."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        options: Counter[Any] = Counter(each for each in order if each.param_type_name == "option")
        for option, count in options.items():
            if count > 1 and not (option.multiple or option.is_flag):
                ctx.fail(f"{option.opts[-1]} is given {count} times; it takes one value")
        return super().parse_args(ctx, args)
