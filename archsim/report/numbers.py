"""Numbers as JSON can hold them."""


def finite(value: int | float | None) -> int | float | str | None:
    """JSON has no infinities and no NaN: these are words."""
    if isinstance(value, float) and not float("-inf") < value < float("inf"):
        return str(value)
    return value
