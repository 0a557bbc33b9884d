"""Functions compiled to machine code, and what their code is made of."""
