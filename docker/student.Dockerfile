# SPDX-License-Identifier: Apache-2.0
# JupyterLab with the lessons. In the clone:
#   docker build -f docker/student.Dockerfile -t fedlearn-lessons .
#   docker run --rm -p 127.0.0.1:8888:8888 -v lessons:/lessons fedlearn-lessons
FROM python:3.12-slim

# The volume takes over this folder's owner, so that work survives a new container.
RUN useradd --uid 1000 --home-dir /lessons --create-home student

COPY pyproject.toml constraints.txt LICENSE /opt/course/
COPY fedlearn_edu /opt/course/fedlearn_edu
COPY notebooks/release /opt/course/notebooks/release
WORKDIR /opt/course
RUN pip install --no-cache-dir -c constraints.txt ".[lab]"

USER 1000
WORKDIR /lessons
EXPOSE 8888
CMD ["fedlearn-edu", "start", "/lessons", "--no-browser", "--ip=0.0.0.0"]
