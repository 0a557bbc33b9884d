"""The commands `icarus …`; what they need is told where it is missing."""

try:
    import rich  # noqa: F401
    import typer  # noqa: F401
except ModuleNotFoundError as missing:
    raise SystemExit(f"the command icarus needs {missing.name}: pip install 'icarus-mcts[cli]'") from None
