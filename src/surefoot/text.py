"""Small pieces of text that messages of all parts are made of."""


def counted(count: int, word: str) -> str:
    """Return the count with the word behind it, in the plural unless the count is 1."""
    plural = "es" if word.endswith("x") else "s"
    return f"{count:,} {word}{plural * (count != 1)}"
