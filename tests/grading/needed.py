# SPDX-License-Identifier: Apache-2.0
"""A lesson cut down to what its exercises need, so that answers are graded sooner."""

import symtable
from collections.abc import Mapping, Sequence
from typing import Any

from tools.cells import code_cells, grade_id, is_answer, is_check


def cut_down(notebook: Any, also: Mapping[str, Sequence[str]]) -> None:
    """Keeps answers, checks, and the cells before them that make a name they use.

    Args:
        notebook: Loses its other cells.
        also: By the name of an answer or a check, what else may run in its place.
    """
    wanted: set[str] = set()
    kept = []
    for cell in reversed(code_cells(notebook)):
        names = _names(cell.source)
        if is_answer(cell) or is_check(cell) or not _made(names).isdisjoint(wanted):
            others = map(_names, also.get(grade_id(cell), ()))
            wanted |= _used(names).union(*map(_used, others))
            kept.append(cell)
    notebook.cells = kept[::-1]


def _names(source: str) -> symtable.SymbolTable:
    return symtable.symtable(source, "a cell", "exec")


def _made(names: symtable.SymbolTable) -> set[str]:
    symbols = names.get_symbols()
    return {s.get_name() for s in symbols if s.is_assigned() or s.is_imported()}


def _used(names: symtable.SymbolTable) -> set[str]:
    """The names read that are not local to a function."""
    is_cell = names.get_type() == "module"
    read = (s for s in names.get_symbols() if s.is_referenced())
    used = {s.get_name() for s in read if is_cell or s.is_global()}
    return used.union(*map(_used, names.get_children()))
