# SPDX-License-Identifier: Apache-2.0
"""Laws of all lessons: what each exercise has, and that its notebook says the same."""

import ast
import json
import re
from collections.abc import Iterator
from copy import copy
from pathlib import Path
from typing import Any

import pytest

from fedlearn_edu import Computation
from fedlearn_edu.course.exercise import MACHINE, Attempt, Exercise, Lesson
from fedlearn_edu.course.feedback import as_text, prose
from fedlearn_edu.course.judging import judge
from fedlearn_edu.course.lessons import MODULES, load_all

NOTEBOOKS = Path(__file__).parents[2] / "notebooks" / "source"
WRITTEN = [lesson for lesson in load_all() if lesson.exercises]
ON_TENSORFLOW = ("06", "09", "10", "11", "14")

each_lesson = pytest.mark.parametrize("lesson", WRITTEN, ids=lambda x: x.name)


def _marked(lesson: Lesson, exercise: Exercise, *dear: str) -> Any:
    heavy = lesson.name.startswith(ON_TENSORFLOW)
    marks = [pytest.mark.tensorflow, pytest.mark.slow] if heavy else []
    marks += [pytest.mark.thorough] * (exercise.name in dear)
    return pytest.param(exercise, id=exercise.name, marks=marks)


def with_each_exercise(*dear: str) -> pytest.MarkDecorator:
    """Runs a test for each; for the `dear` ones only if everything is tested."""
    pairs = [(lesson, each) for lesson in WRITTEN for each in lesson.exercises]
    return pytest.mark.parametrize("exercise", [_marked(*p, *dear) for p in pairs])


each_exercise = with_each_exercise()


def cells(lesson: Lesson) -> list[dict[str, Any]]:
    path = NOTEBOOKS / lesson.name / f"{lesson.name}.ipynb"
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return found


def test_lessons_are_numbered_in_their_order() -> None:
    assert [lesson.name for lesson in load_all()] == list(MODULES)
    numbers = [lesson.number for lesson in load_all()]
    assert numbers == sorted(set(numbers))
    assert all(
        re.fullmatch(r"\d\d[a-d]?_[a-z0-9_]+", lesson.name) for lesson in load_all()
    )


def test_lessons_about_the_language_and_its_machine_are_a_path() -> None:
    numbers = {"02", "03", "04", "05", "06", "07", "13"}
    found = {lesson.number: lesson.path == MACHINE for lesson in load_all()}
    assert found == {number: number in numbers for number in found}


def test_names_of_exercises_are_unique_in_the_course() -> None:
    names = [exercise.name for lesson in load_all() for exercise in lesson.exercises]
    assert len(names) == len(set(names))
    assert all(name.isidentifier() and name.islower() for name in names)


@each_lesson
def test_lesson_says_what_it_is_about(lesson: Lesson) -> None:
    assert lesson.title.endswith("?")
    assert len(lesson.goals) == 3
    assert lesson.needs
    if lesson.number != "00":
        assert 15 <= lesson.minutes <= 75
        assert 3 <= len(lesson.exercises) <= 5


@each_exercise
def test_exercise_has_all_its_parts(exercise: Exercise) -> None:
    assert 5 <= exercise.points <= 15
    assert len(exercise.cases) >= 3
    assert len({mistake.says for mistake in exercise.mistakes}) >= 5
    assert len(exercise.hints) == 4
    assert "..." in exercise.hints[-1]
    assert "<pre" in prose(exercise.hints[-1]), "a skeleton with gaps"
    said = [
        exercise.title,
        exercise.want.name,
        *(case.name for case in exercise.cases),
        *sorted({mistake.says for mistake in exercise.mistakes}),
        *exercise.hints,
    ]
    assert all(text.strip() == text and text for text in said)
    assert all(text.count("`") % 2 == 0 for text in said), "a backtick too many"
    assert len({case.name for case in exercise.cases}) == len(exercise.cases)


def another(exercise: Exercise) -> Any:
    """A right answer that is not the very object a checkpoint hands out."""
    answer = exercise.reference()
    if answer is not exercise.solution:
        return answer
    if isinstance(answer, Computation):
        return copy(answer)
    return lambda *arguments, **keywords: answer(*arguments, **keywords)


@each_exercise
def test_reference_answer_passes(exercise: Exercise) -> None:
    verdict = judge(exercise, another(exercise))
    assert verdict.is_right, as_text(verdict)


@each_exercise
def test_reference_answer_does_not_look_like_a_mistake(exercise: Exercise) -> None:
    """By its type, say: then every wrong result would be called that mistake."""
    attempt = Attempt(exercise.reference())
    assert [each.says for each in exercise.mistakes if each.spotted(attempt)] == []


@each_lesson
def test_notebook_begins_its_lesson_and_has_its_exercises(lesson: Lesson) -> None:
    graders = [
        (cell["metadata"].get("nbgrader", {}), "".join(cell["source"]))
        for cell in cells(lesson)
    ]
    answers = [each["grade_id"] for each, _ in graders if each.get("solution")]
    assert answers == [exercise.name for exercise in lesson.exercises]
    points = {g["grade_id"]: g["points"] for g, _ in graders if g.get("grade")}
    assert points == {f"check-{each.name}": each.points for each in lesson.exercises}
    code = "\n".join(source for _, source in graders)
    assert f'begin("{lesson.name}", globals())' in code


@each_lesson
def test_notebook_begins_with_what_the_lesson_says(lesson: Lesson) -> None:
    title = "".join(cells(lesson)[0]["source"])
    assert title.startswith(f"# {lesson.title}\n")
    for goal in lesson.goals:
        assert f"- {goal}" in _unformatted(title)
    count = len(lesson.exercises)
    facts = (
        f"*{lesson.minutes} minutes · {count} exercise{'s' * (count != 1)}, "
        f"{lesson.points} points · you need {lesson.needs}"
    )
    assert facts in _unformatted(title), facts
    assert "No `fedlearn_edu`? See *Install*" in title


@each_lesson
def test_notebook_names_the_points_of_each_exercise(lesson: Lesson) -> None:
    text = "\n".join(
        "".join(cell["source"])
        for cell in cells(lesson)
        if cell["cell_type"] == "markdown"
    )
    found = re.findall(r"^### Exercise (\d): .+ \((\d+) points\)$", text, re.MULTILINE)
    numbered = enumerate(lesson.exercises, start=1)
    assert found == [(str(i), str(exercise.points)) for i, exercise in numbered]


@each_lesson
def test_no_cell_shows_the_outcome_of_a_prediction(lesson: Lesson) -> None:
    """It is computed by the cell that reveals it, or kept with the lesson."""
    sources = ["".join(c["source"]) for c in cells(lesson) if c["cell_type"] == "code"]
    calls = [node for source in sources for node in ast.walk(ast.parse(source))]
    asked = {_texts(call)[0]: _texts(call)[2:] for call in _of("predict", calls)}
    revealed = list(_of("reveal", calls))
    kept = {_texts(call)[0] for call in revealed if len(call.args) == 1}
    assert kept == set(lesson.outcomes)
    for name in kept:
        assert not asked[name] or lesson.outcomes[name] in asked[name], name
    for call in revealed:
        name, *written = _texts(call)
        assert not set(written) & set(asked[name]), name
        assert not any(isinstance(each, ast.Constant) for each in call.args[1:]), name


def _of(function: str, nodes: list[ast.AST]) -> Iterator[ast.Call]:
    for node in nodes:
        match node:
            case ast.Call(func=ast.Name(id=name)) if name == function:
                yield node


def _texts(call: ast.Call) -> list[str]:
    constants = [part for part in ast.walk(call) if isinstance(part, ast.Constant)]
    return [part.value for part in constants if isinstance(part.value, str)]


def _unformatted(text: str) -> str:
    """One line, without emphasis of single words."""
    return re.sub(r"(?<=\s)\*+(\w+)\*+(?=[\s,.;])", r"\1", " ".join(text.split()))
