# SPDX-License-Identifier: Apache-2.0
"""What many participants hold in few pieces of memory, in the order of reading.

As in PyTorch's `PackedSequence`: first what every client reads at its first step, then
at its second, …. Clients stay what they were; their arrays are parts of that memory. A
runtime that reads for all clients at once takes the whole of it, and copies nothing.
"""

from collections import defaultdict
from collections.abc import Sequence
from operator import itemgetter
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from fedlearn_edu.structure import leaves
from fedlearn_edu.types.sequences import Cached

GROUP = 100
"""How many clients are read together, unless a factory says otherwise."""
_ALIGNMENT = 64  # bytes; TensorFlow reads tensors in blocks of up to so many
# What `pack` has made, by its id. No user has it: it may be shared, all else is copied.
_MEMORY: WeakValueDictionary[int, Any] = WeakValueDictionary()


def pack(members: Sequence[Any]) -> None:
    """Copies the `Cached` tensors of members: those read together stand side by side.

    Each client keeps a view of its part.
    """
    for start in range(0, len(members), GROUP):
        columns = defaultdict[tuple[int, int], list[tuple[int, Cached]]](list)
        for member in members[start : start + GROUP]:
            for number, leaf in enumerate(leaves(member)):
                if not isinstance(leaf, Cached):  # it is read when it is needed
                    continue
                is_sequence = isinstance(leaf.plain, tuple)
                for step, item in enumerate(leaf.plain if is_sequence else (leaf,)):
                    for part, tensor in enumerate(leaves(item)):
                        columns[number, part].append((step, tensor))
        for column in columns.values():
            _pack([tensor for _, tensor in sorted(column, key=itemgetter(0))])


def _pack(tensors: Sequence[Cached]) -> None:
    arrays = [
        tensor.plain for tensor in tensors if isinstance(tensor.plain, np.ndarray)
    ]
    if len(arrays) < len(tensors):  # numbers and texts cannot be changed
        return
    memory, start = aligned(sum(a.size for a in arrays), arrays[0].dtype), 0
    if memory.base is not None:
        _MEMORY[id(memory.base)] = memory.base
    for tensor, array in zip(tensors, arrays, strict=True):
        tensor.plain = memory[start : start + array.size].reshape(array.shape)
        tensor.plain[...] = array
        start += array.size


def aligned(size: int, dtype: Any) -> Any:
    """A new vector in memory that runtimes can share."""
    if dtype.kind == "O":
        return np.empty(size, object)
    memory = np.empty(size * dtype.itemsize + _ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % _ALIGNMENT
    return memory[start : start + size * dtype.itemsize].view(dtype)


def memory_of(arrays: Sequence[Any], dtype: Any) -> Any:
    """The memory that `pack` cut into these arrays, in this order, or `None`."""
    bases = [getattr(array, "base", None) for array in arrays]
    memory: Any = bases[0] if bases else None
    is_ours = memory is not None and _MEMORY.get(id(memory)) is memory
    if not is_ours or any(base is not memory for base in bases):
        return None
    starts = [array.ctypes.data for array in arrays]
    ends = [start + array.nbytes for start, array in zip(starts, arrays, strict=True)]
    are_in_order = starts[1:] == ends[:-1] and starts[0] % _ALIGNMENT == 0
    if not (are_in_order and all(array.flags.c_contiguous for array in arrays)):
        return None
    first = starts[0] - memory.ctypes.data
    return memory[first : first + ends[-1] - starts[0]].view(dtype)
