#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tries the wheel in `dist` as one who has nothing else: no clone, a new environment.
#
#   sh tools/dist.sh [3.11 3.12 ...]     without versions: those of the three that are on the path
#
# It is installed with what it needs, in the newest versions; lessons are delivered, the
# doctor looks, the demo learns, and lesson 01 runs, as released and with its solutions.
set -eu
clone=$(cd "$(dirname "$0")/.." && pwd)
wheel=$(ls "$clone"/dist/*.whl)
lesson=01_hello/01_hello.ipynb
unset PYTHONPATH FEDLEARN_EDU_DATA VIRTUAL_ENV
export PYTHONNOUSERSITE=1 FEDLEARN_EDU_PROGRESS=off
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
tried=0

step() { # says what it is and how long it took; what it printed only if it failed
    begin=$(date +%s)
    "$@" >log 2>&1 || { tail -n 40 log; echo "failed: $*"; exit 1; }
    echo "  $(($(date +%s) - begin)) s  ${1##*/} ${2:-}"
}

for version in ${*:-3.11 3.12 3.13}; do
    python="python$version"
    "$python" -c '' 2>/dev/null || { echo "Python $version: skipped, it is not here"; continue; }
    echo "Python $version"
    rm -rf venv lessons
    step "$python" -m venv venv
    step venv/bin/python -m pip install --quiet "$wheel[lab]"
    step venv/bin/fedlearn-edu start lessons --no-lab
    step venv/bin/fedlearn-edu doctor
    step venv/bin/fedlearn-edu demo --data digits28 --rounds 1 --out demo
    cp "lessons/$lesson" released.ipynb
    cp "$clone/notebooks/source/$lesson" solved.ipynb
    step venv/bin/jupyter execute --inplace released.ipynb
    step venv/bin/jupyter execute --inplace solved.ipynb
    grep -q "is not answered yet" released.ipynb || { echo "released: checks said nothing"; exit 1; }
    ! grep -q "is not answered yet" solved.ipynb || { echo "solved: not answered"; exit 1; }
    tried=$((tried + 1))
done
test "$tried" -gt 0
