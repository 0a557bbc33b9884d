"""`python -m icarus` is the command `icarus`."""

try:
    from icarus.commands.cli import main
except KeyboardInterrupt:
    raise SystemExit("icarus: interrupted while starting") from None

main()
