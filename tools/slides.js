// SPDX-License-Identifier: Apache-2.0
// Arrow keys, space and a presenter's clicker go from slide to slide.
const all = [...document.querySelectorAll("section")];
const here = () => all.findLastIndex((each) => each.getBoundingClientRect().top < 10);
const steps = { ArrowRight: 1, PageDown: 1, " ": 1, ArrowLeft: -1, PageUp: -1 };
addEventListener("keydown", (event) => {
  const step = steps[event.key];
  if (!step || event.target.closest("input, select, textarea")) return;
  event.preventDefault();
  all[Math.min(Math.max(here() + step, 0), all.length - 1)].scrollIntoView();
});
