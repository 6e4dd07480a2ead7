# SPDX-License-Identifier: Apache-2.0
# nbgrader with the course, for code that strangers wrote. In the clone:
#   docker build -f docker/grading.Dockerfile -t fedlearn-grading .
# docs/teaching.md has the command that runs it, without a network and with limits.
FROM python:3.12-slim

RUN useradd --uid 1000 --no-create-home grader

COPY pyproject.toml constraints.txt LICENSE /opt/course/
COPY fedlearn_edu /opt/course/fedlearn_edu
COPY notebooks/release /opt/course/notebooks/release
WORKDIR /opt/course
RUN pip install --no-cache-dir -c constraints.txt ".[lab,grading]"

USER 1000
# Whoever runs it may be anybody (--user), who has no folder of their own.
ENV HOME=/tmp FEDLEARN_EDU_PROGRESS=off
WORKDIR /course
CMD ["nbgrader", "--help"]
