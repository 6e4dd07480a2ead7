# SPDX-License-Identifier: Apache-2.0
"""Types made short, and numbers, sizes and times made readable."""

from fedlearn_edu.types import FederatedType, SequenceType, StructType, Type

_KILO = 1000
MAX_TYPE_CHARS = 72


def short(type_: Type, limit: int = MAX_TYPE_CHARS) -> str:
    """The notation of a type, deep or long structures cut short.

    >>> import fedlearn_edu as fl
    >>> short(fl.parse_type("<w=<a=float32,b=float32>,n=int32>"), 20)
    '<w=<…>,n=int32>'
    """
    texts = (str(type_), _outline(type_, 2), _outline(type_, 1))
    fitting = (text for text in texts if len(text) <= limit)
    return next(fitting, clipped(texts[-1], limit))


def clipped(text: str, limit: int = MAX_TYPE_CHARS) -> str:
    """The text, its end cut off if it is long; at a comma if there is one."""
    if len(text) <= limit:
        return text
    head, comma, end = text[: limit - 1].rpartition(",")
    return f"{head}{comma or end}…"


def names_only(type_: Type) -> str:
    """The notation with names in the place of what structures hold.

    >>> import fedlearn_edu as fl
    >>> names_only(fl.parse_type("<w=float32[784,10],n=int32>*"))
    '<w,n>*'
    """
    match type_:
        case StructType():
            pairs = type_.items()
            return "<" + ",".join(n or names_only(t) for n, t in pairs) + ">"
        case SequenceType(element=element):
            return names_only(element) + "*"
        case _:
            return str(type_)


def _outline(type_: Type, depth: int) -> str:
    """The notation to this depth of structures."""
    match type_:
        case StructType() if len(type_) and not depth:
            return "<…>"
        case StructType():
            fields = ((n, _outline(t, depth - 1)) for n, t in type_.items())
            return "<" + ",".join(f"{n}={t}" if n else t for n, t in fields) + ">"
        case SequenceType(element=element):
            return _outline(element, depth) + "*"
        case FederatedType(member=member):
            return str(type_).replace(str(member), _outline(member, depth))
        case _:
            return str(type_)


def written(value: float) -> str:
    """A number as pictures and sentences have it.

    >>> written(-1938472), written(2.50), written(99999.9)
    ('−1,938,472', '2.5', '100,000')
    """
    is_long = 1e4 <= abs(value) < 1e12
    form = "," if isinstance(value, int) else ",.0f" if is_long else ",.5g"
    return f"{value + 0:{form}}".replace("-", "\N{MINUS SIGN}")


def size_text(size: int | None) -> str:
    """A number of bytes for people; nothing if it is not known.

    >>> size_text(4), size_text(31400), size_text(1_234_567), size_text(None)
    ('4 B', '31.4 kB', '1.23 MB', '')
    """
    if size is None:
        return ""
    if size < _KILO:
        return f"{size} B"
    amount, units = size / _KILO, iter(("kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"))
    while amount >= _KILO - 0.5:
        amount /= _KILO
        next(units)
    return f"{amount:.3g} {next(units)}"


def time_text(seconds: float) -> str:
    """A time for people.

    >>> time_text(0.0021), time_text(0.25), time_text(27.539)
    ('2.1 ms', '250 ms', '27.54 s')
    """
    is_short = seconds < 0.9995
    return f"{1e3 * seconds:.3g} ms" if is_short else f"{seconds:.4g} s"
