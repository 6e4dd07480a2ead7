# SPDX-License-Identifier: Apache-2.0
"""The compact notation read back: `parse_type` is the inverse of `str`.

    type    ::= prefix "*"* ("@" placement)?
    prefix  ::= name shape?  |  "<" fields ">"  |  "(" type? "->" type ")"
              | "{" type "}" "@" placement
    shape   ::= "[" (size | "?") ("," (size | "?"))* "]"
    fields  ::= (name "=")? type ("," (name "=")? type)*, or nothing

Users, intrinsics and tests hand in text; they receive a `Type`, without any Python
container since the notation does not show them. Types print themselves, see `_text`.
"""

import difflib
import re
from typing import final

from fedlearn_edu.errors import NotationError, short_traceback
from fedlearn_edu.types import definitions as kinds
from fedlearn_edu.types.base import Type
from fedlearn_edu.types.definitions import Placement
from fedlearn_edu.types.dtypes import DTYPE_NAMES, Shape, dtype_from_name
from fedlearn_edu.types.messages import FIELD_NAME

_TOKEN = re.compile(rf"\s*(->|{FIELD_NAME}|\S)")
_MOST_DIGITS = 18  # of a size; more would fit into no array
_MARGIN = 48


@short_traceback
def parse_type(text: str) -> Type:
    """Reads a type written in the notation.

    >>> parse_type("<w=float32[2,?],{int32*}@CLIENTS>").w
    TensorType(np.float32, [2, None])
    """
    if not isinstance(text, str):
        raise NotationError("parse_type reads text", expected="a str", found=repr(text))
    parser = _Parser(text)
    type_ = parser.type()
    if parser.token:
        raise parser.error("nothing more")
    return type_


def format_type(type_: Type) -> str:
    """The notation with every struct spread over several lines."""
    return type_.formatted_representation()


@final
class _Parser:
    """One method per rule of the grammar; `token` is the next word, "" at the end."""

    token = ""

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = 0
        self.advance()

    def advance(self) -> str:
        """Moves to the next word and returns the one left behind."""
        left = self.token
        found = _TOKEN.match(self._text, self._end)
        self.start = found.start(1) if found else len(self._text.rstrip())
        self.token = found.group(1) if found else ""
        self._end = found.end() if found else len(self._text)
        return left

    def take(self, token: str) -> bool:
        """Moves on if `token` comes next."""
        if self.token != token:
            return False
        self.advance()
        return True

    def expect(self, token: str) -> None:
        """Moves on over `token`, or refuses the text."""
        if not self.take(token):
            raise self.error(f"`{token}`")

    def type(self) -> Type:
        type_ = self.prefix()
        while self.take("*"):
            type_ = kinds.SequenceType(type_)
        if self.take("@"):
            return kinds.FederatedType(type_, self.placement(), True)
        return type_

    def prefix(self) -> Type:
        if self.take("<"):
            return self.struct()
        if self.take("("):
            return self.function()
        if self.take("{"):
            member = self.type()
            self.expect("}")
            self.expect("@")
            return kinds.FederatedType(member, self.placement(), False)
        return self.word()

    def struct(self) -> Type:
        fields: list[tuple[str | None, Type]] = []
        while not self.take(">"):
            if fields:
                self.expect(",")
            following = _TOKEN.match(self._text, self._end)
            name = None
            if following is not None and following.group(1) == "=":
                name = self.advance()
                self.expect("=")
            fields.append((name, self.type()))
        return kinds.StructType(fields)

    def function(self) -> Type:
        parameter = None if self.token == "->" else self.type()
        self.expect("->")
        result = self.type()
        self.expect(")")
        return kinds.FunctionType(parameter, result)

    def placement(self) -> Placement:
        for placement in Placement:
            if self.take(placement.name):
                return placement
        raise self.error(" or ".join(p.name for p in Placement))

    def word(self) -> Type:
        dtype = dtype_from_name(self.token)
        if dtype is not None:
            self.advance()
            return kinds.TensorType(dtype, self.shape())
        if self.take("placement"):
            return kinds.PlacementType()
        if self.token[:1].isupper():
            return kinds.AbstractType(self.advance())
        usual = f"{self.token}32"  # of `float` and `int`
        near = difflib.get_close_matches(self.token.lower(), DTYPE_NAMES, n=1)
        near = [usual] if usual in DTYPE_NAMES else near
        raise self.error("a type", f"did you mean {near[0]}?" if near else None)

    def shape(self) -> Shape:
        if not self.take("["):
            return ()
        sizes = [self.size()]
        while not self.take("]"):
            self.expect(",")
            sizes.append(self.size())
        return tuple(sizes)

    def size(self) -> int | None:
        if self.take("?"):
            return None
        if not self.token.isdecimal() or len(self.token) > _MOST_DIGITS:
            raise self.error("a size, or `?` where it is unknown")
        return int(self.advance())

    def error(self, expected: str, do: str | None = None) -> NotationError:
        """Points at the word that does not fit."""
        begin = max(0, self.start - _MARGIN, self._text.rfind("\n", 0, self.start) + 1)
        line = self._text[begin : self.start + _MARGIN].split("\n")[0]
        caret = " " * (self.start - begin) + "^"
        return NotationError(
            "this is not a type in the compact notation",
            expected=expected,
            found=f"`{self.token}`" if self.token else "the end of the text",
            where=f"position {self.start}\n    {line}\n    {caret}",
            do=do,
        )
