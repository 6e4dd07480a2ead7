# SPDX-License-Identifier: Apache-2.0
"""Paths and clipped texts."""

from fedlearn_edu.types.differences import clip, field_step


def test_path_names_a_field_if_it_can() -> None:
    assert field_step("weights", 3) == ".weights"
    assert field_step(None, 3) == "[3]"


def test_clip_keeps_short_texts_whole() -> None:
    assert clip("x" * 80) == "x" * 80
    assert len(clip("x" * 81)) == 80
