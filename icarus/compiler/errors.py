"""What the compiler refuses."""


class CompilationError(TypeError):
    """A function that cannot be compiled; the message is one sentence with the reason and the line."""
