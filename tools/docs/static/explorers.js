// SPDX-License-Identifier: Apache-2.0
// Tables of a mean and of an aggregation, as `explore_mean` and `explore_aggregation`
// made them, moved in the page: what follows from a move is written into their cells.
(() => {
  const create = (name, attributes, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  // As `written` in shortening.py has it; sums are those of float32, too.
  const written = (number) => {
    if (Number.isNaN(number)) return "nan";
    const size = Math.abs(number);
    const isPlain = !size || (size >= 1e-4 && size < 1e12);
    const digits = isPlain && size >= 1e4 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 5 };
    const how = { ...digits, roundingMode: "halfEven", notation: isPlain ? "standard" : "scientific" };
    const power = (_, sign, digit) => `e${sign || "+"}${digit.padStart(2, "0")}`;
    return number.toLocaleString("en-US", how).replace(/E(-?)(\d+)/, power).replaceAll("-", "−").replace("∞", "inf");
  };

  // ---------------------------------------------------------------- a mean

  const [LEAST_PX, MOST_PX] = [8, 20];

  function mean(figure) {
    const part = (name) => figure.querySelectorAll(`[data-is="${name}"]`);
    const read = ({ textContent }) => Number(textContent.replaceAll(",", "").replace("−", "-"));
    const numbers = (kind) => [...figure.querySelectorAll(`[data-is^="${kind}-"]`)].map(read);
    const [least, most] = [...part("low"), ...part("high")].map(read);
    const [values, weights] = [numbers("value"), numbers("weight")];
    const isWeighted = weights.length > 0;
    const write = (name, number) => part(name).forEach((each) => (each.textContent = written(number)));
    const place = (name, value) =>
      part(name).forEach((each) => {
        each.style.display = Number.isNaN(value) ? "none" : "";
        each.style.left = `${(100 * (value - least)) / (most - least)}%`;
      });
    const asked = (attributes, changed) => {
      const input = create("input", attributes);
      input.addEventListener("input", () => {
        changed(Number(input.value));
        show();
      });
      return input;
    };
    values.forEach((value, client) => {
      const range = { type: "range", min: least, max: most, step: 0.5, value };
      const label = { "aria-label": `client ${client}, value` };
      const slider = asked({ ...range, ...label }, (moved) => (values[client] = moved));
      const line = part(`dot-${client}`)[0].closest("td");
      line.removeAttribute("aria-hidden");
      line.append(slider);
      if (!isWeighted) return;
      const box = { type: "number", min: 0, max: 100, step: 1, value: weights[client] };
      const name = { "aria-label": `client ${client}, weight` };
      part(`weight-${client}`)[0].replaceChildren(
        asked({ ...box, ...name }, (typed) => (weights[client] = Math.max(0, typed))),
      );
    });
    figure.append(create("p", { class: "hint" }, isWeighted ? "Move the dots, change the weights." : "Move the dots."));

    function show() {
      const sums = [];
      const heaviest = isWeighted ? Math.max(...weights) || 1 : 1;
      values.forEach((value, client) => {
        const weight = isWeighted ? weights[client] : 1;
        const size = `${Math.round(LEAST_PX + (MOST_PX - LEAST_PX) * Math.sqrt(weight / heaviest))}px`;
        part(`dot-${client}`).forEach((dot) => Object.assign(dot.style, { width: size, height: size }));
        place(`dot-${client}`, value);
        write(`value-${client}`, value);
        const sent = isWeighted ? [Math.fround(value * weight), weight, 1] : [value, 1];
        sent.forEach((number, at) => {
          sums[at] = Math.fround((sums[at] || 0) + number);
          write(`sent-${client}-${at}`, number);
          write(`sum-${client}-${at}`, sums[at]);
        });
      });
      const result = Math.fround(sums[0] / sums[1]);
      const [total, divisor, quotient] = [sums[0], sums[1], result].map(written);
      place("at-mean", result);
      part("division")[0].textContent = `mean = ${total} ÷ ${divisor} = ${quotient}`;
      const end = sums[1] ? `the mean is ${quotient}.` : "zero by zero is no number, nan.";
      const caption = figure.querySelector("figcaption");
      const [first] = caption.textContent.split(" The server ");
      caption.textContent = `${first} The server adds up ${total} and ${divisor}, and divides: ${end}`;
    }
  }

  // ---------------------------------------------------------------- an aggregation

  // There is a table for each zero and fan-out that can be chosen, with what is said of
  // each step; a step shows what was done by then.
  function aggregation(figure) {
    const caption = figure.querySelector("figcaption");
    const tables = [...figure.querySelectorAll("template")];
    const menu = (label, name) => {
      const found = [...new Set(tables.map((each) => each.dataset[name]))];
      const select = create("select", {}, ...found.map((text) => create("option", {}, text)));
      select.value = tables[0].dataset[name];
      select.addEventListener("change", () => show(true));
      return [create("label", {}, `${label} `, select), select];
    };
    const [zeroBox, zero] = menu("zero", "zero");
    const [fanOutBox, fanOut] = menu("fan-out", "fanOut");
    const step = create("input", { type: "range", min: 0, value: 0, "aria-label": "step" });
    step.addEventListener("input", () => show());
    const place = create("div", {});
    figure.querySelector("figure").replaceWith(place);
    caption.before(create("p", { class: "controls" }, zeroBox, fanOutBox, create("label", {}, "step ", step)));

    function show(toTheEnd) {
      const table = tables.find(({ dataset }) => dataset.zero === zero.value && dataset.fanOut === fanOut.value);
      const said = JSON.parse(table.dataset.said);
      step.max = said.length - 1;
      if (toTheEnd) step.value = step.max;
      const now = Number(step.value);
      place.replaceChildren(table.content.cloneNode(true));
      for (const each of place.querySelectorAll("[data-step]")) {
        const number = Number(each.dataset.step);
        if (number > now) each.textContent = "not yet";
        each.classList.toggle("taken", number === now && "taken" in each.dataset);
      }
      caption.textContent = said[now];
    }
    show(true);
  }

  // A mean of secure sums stands still: its masks are the machine's.
  window.startExplorer = (figure) => {
    if (figure.querySelector("template")) aggregation(figure);
    else if (figure.querySelector('[data-is="value-0"]')) mean(figure);
  };
  document.querySelectorAll("figure.moves").forEach(window.startExplorer);
})();
