// SPDX-License-Identifier: Apache-2.0
// A mean and an aggregation that move in the page: sliders, arrow keys, and a sentence
// that says what is drawn. <figure data-explorer="mean" data-start="{...}"> becomes one;
// where a lesson was run, what it holds is the still picture for a page without scripts.
(() => {
  const set = (element, attributes) => {
    Object.entries(attributes).forEach((pair) => element.setAttribute(...pair));
    return element;
  };
  const html = (name, attributes = {}, ...children) => {
    const element = set(document.createElement(name), attributes);
    element.append(...children);
    return element;
  };
  const adder = (svg) => (name, attributes, text = "") => {
    const element = set(document.createElementNS("http://www.w3.org/2000/svg", name), attributes);
    element.textContent = text;
    return svg.appendChild(element);
  };
  const written = (value) => {
    const digits = Number.isInteger(value) ? {} : { maximumSignificantDigits: 5 };
    return value.toLocaleString("en-US", digits).replace("-", "−");
  };
  const slider = (label, range, show) => {
    const input = html("input", { type: "range", "aria-label": label, ...range });
    const output = html("output");
    input.addEventListener("input", show);
    return { box: html("label", {}, `${label} `, input, output), input, output };
  };
  const button = (text, pressed) => {
    const element = html("button", { type: "button" }, text);
    element.addEventListener("click", pressed);
    return element;
  };
  const parts = (figure, width) => {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const caption = html("figcaption", { "aria-live": "polite" });
    figure.replaceChildren(svg, caption);
    figure.classList.add("moves");
    const say = (sentence) => {
      caption.textContent = sentence;
      set(svg, { role: "img", "aria-label": sentence });
    };
    return { svg, add: adder(svg), say, high: (height) => set(svg, { viewBox: `0 0 ${width} ${height}` }) };
  };

  // ---------------------------------------------------------------- a mean

  const [LEFT, WIDTH, CLIENTS_Y, SERVER_Y] = [30, 580, 45, 125];

  function mean(figure, start) {
    const numbers = (kind) => Object.keys(start).filter((name) => name.startsWith(kind)).map((name) => start[name]);
    const values = start.values || numbers("value_");
    const weights = start.weighted ? numbers("weight_") : values.map(() => 1);
    const unit = start.unit || "";
    const room = Math.max(5, Math.max(...values) - Math.min(...values));
    const least = 5 * Math.floor((Math.min(...values) - room) / 5);
    const most = 5 * Math.ceil((Math.max(...values) + room) / 5);
    const x = (value) => LEFT + ((value - least) / (most - least)) * WIDTH;
    const { svg, add, say, high } = parts(figure, 640);
    high(180);
    for (const [name, y] of [["clients", CLIENTS_Y], ["server", SERVER_Y]]) {
      add("line", { x1: LEFT, x2: LEFT + WIDTH, y1: y, y2: y, class: "axis" });
      add("text", { x: LEFT, y: y - 22 }, name);
    }
    for (let tick = least; tick <= most; tick += (most - least) / 4)
      add("text", { x: x(tick), y: SERVER_Y + 50, "text-anchor": "middle" }, written(tick) + unit);

    const rows = html("div", { class: "controls" });
    const clients = values.map((first, index) => {
      const value = slider(`client ${index}`, { min: least, max: most, step: 0.5, value: first }, show);
      const heaviest = Math.max(5, ...weights);
      const weight = slider(`weight of client ${index}`, { min: 0, max: heaviest, step: 1, value: weights[index] }, show);
      rows.append(html("div", {}, value.box, weight.box));
      const line = add("line", { class: "sent" });
      const dot = add("circle", { class: "client", cy: CLIENTS_Y });
      dot.addEventListener("pointerdown", (event) => dot.setPointerCapture(event.pointerId));
      dot.addEventListener("pointermove", (event) => {
        if (!dot.hasPointerCapture(event.pointerId)) return;
        const { left, width } = svg.getBoundingClientRect();
        const across = ((event.clientX - left) / width) * 640;
        value.input.value = least + ((across - LEFT) / WIDTH) * (most - least);
        show();
      });
      return { value, weight, line, dot };
    });
    const marker = add("path", { class: "server", d: "M0 -11 L11 0 L0 11 L-11 0 Z" });
    const label = add("text", { y: SERVER_Y + 28, "text-anchor": "middle", class: "result" });
    const equal = button("Same weight for all", () => {
      clients.forEach(({ weight }) => (weight.input.value = 1));
      show();
    });
    figure.append(rows, html("p", {}, equal));

    function show() {
      const held = clients.map(({ value }) => Number(value.input.value));
      const weighs = clients.map(({ weight }) => Number(weight.input.value));
      const divisor = weighs.reduce((sum, weight) => sum + weight, 0);
      const total = held.reduce((sum, value, index) => sum + value * weighs[index], 0);
      const result = divisor ? total / divisor : least;
      clients.forEach(({ value, weight, line, dot }, index) => {
        set(dot, { cx: x(held[index]), r: 5 + 3 * Math.sqrt(weighs[index]) });
        set(line, { x1: x(held[index]), y1: CLIENTS_Y, x2: x(result), y2: SERVER_Y });
        line.style.visibility = weighs[index] ? "visible" : "hidden";
        line.style.strokeWidth = weighs[index];
        value.output.textContent = written(held[index]) + unit;
        weight.output.textContent = weighs[index];
      });
      for (const part of [marker, label]) part.style.visibility = divisor ? "visible" : "hidden";
      set(marker, { transform: `translate(${x(result)} ${SERVER_Y})` });
      set(label, { x: x(result) });
      label.textContent = written(result);
      const same = weighs.every((weight) => weight === weighs[0]);
      const counted = same ? "Their" : `With weights ${weighs.join(", ")} their`;
      const got = divisor
        ? `${counted} mean at the server is ${written(total)} ÷ ${written(divisor)} = ${written(result)}${unit}.`
        : "No weight is left, so there is no mean (nan).";
      say(`The clients hold ${held.map(written).join(", ")}${unit}. ${got}`);
    }
    show();
  }

  // ---------------------------------------------------------------- an aggregation

  // Groups of at most `fanOut` clients, and groups of groups above them; a step is a call
  // of accumulate or of merge, in the order in which the machine makes them.
  function run(values, zero, fanOut) {
    const steps = [];
    const fold = (clients) => {
      const group = { clients, below: [], level: 0, state: zero, steps: [] };
      for (const client of clients) take(group, values[client], client);
      return group;
    };
    const take = (group, other, client) => {
      const result = group.state + other;
      steps.push({ group, client, state: group.state, other, result });
      group.steps.push(steps.length);
      group.state = result;
    };
    const merge = (below) => {
      const clients = below.flatMap((group) => group.clients);
      const group = { clients, below, level: below[0].level + 1, state: below[0].state, steps: [] };
      for (const other of below.slice(1)) take(group, other.state, null);
      return group;
    };
    const cut = (list) => list.flatMap((_, at) => (at % fanOut ? [] : [list.slice(at, at + fanOut)]));
    const numbers = values.map((_, client) => client);
    if (values.length < fanOut) return { top: fold(numbers), steps };
    let level = cut(numbers).map((clients) => () => fold(clients));
    do level = cut(level).map((makers) => () => merge(makers.map((make) => make())));
    while (level.length > 1);
    return { top: level[0](), steps };
  }

  function words(values, { top, steps }, zero, step) {
    const last = steps.length + 1;
    const said = `Step ${step} of ${last}:`;
    if (step === 0) {
      const groups = all(top).filter((group) => !group.level).length;
      return `${said} ${groups > 1 ? `${groups} groups begin` : "The server begins"} from zero = ${written(zero)}.`;
    }
    if (step === last) {
      const sums = [values.length + 1, 2, 3, 4].filter((n) => n <= values.length || n > 4).map((n) => run(values, zero, n).top.state);
      const [alone, ...others] = sums.map(written);
      const listed = others.map((sum, at) => `${sum} with ${at ? "" : "fan-out "}${at + 2}`).join(", ");
      const compared = new Set(sums).size === 1
        ? `Every grouping gives ${alone}.`
        : `This zero counts once per group: ${alone} in one, ${listed}.`;
      return `${said} The server reports ${written(top.state)}. ${compared}`;
    }
    const { group, client, state, other, result } = steps[step - 1];
    const [had, got, has] = [state, other, result].map(written);
    if (client === null) return `${said} ${had} and ${got}, of two groups, are merged: ${has}.`;
    return `${said} ${group === top ? "The server" : "A group"} has ${had} and accumulates client ${client}'s ${got}: ${has}.`;
  }
  const all = (group) => [...group.below.flatMap(all), group];

  function aggregation(figure, start) {
    const { values } = start;
    const alone = values.length + 1;
    const { svg, add, say, high } = parts(figure, 640);
    const zero = slider("zero", { min: Math.min(-5, start.zero), max: Math.max(5, start.zero), step: 1, value: start.zero }, () => show());
    const fanOut = slider("fan-out", { min: 2, max: alone, step: 1, value: start.fan_out || alone }, () => show(true));
    const step = slider("step", { min: 0, max: 99, step: 1, value: 99 }, () => show());
    const preset = button("zero = 1, fan-out 2", () => {
      [zero.input.value, fanOut.input.value] = [1, 2];
      show(true);
    });
    const rows = html("div", { class: "controls" }, zero.box, fanOut.box, step.box);
    figure.append(rows, html("p", {}, preset));

    function show(toTheEnd = step.input.max === "99") {
      const [from, most] = [Number(zero.input.value), Number(fanOut.input.value)];
      const done = run(values, from, most);
      step.input.max = done.steps.length + 1;
      if (toTheEnd) step.input.value = step.input.max;
      const now = Number(step.input.value);
      draw(done, from, now);
      zero.output.textContent = written(from);
      fanOut.output.textContent = most === alone ? "one group" : most;
      step.output.textContent = `${now} of ${step.input.max}`;
      say(words(values, done, from, now));
    }

    function draw({ top, steps }, from, now) {
      svg.replaceChildren();
      const lefts = 100, pitch = (640 - lefts) / (top.level + 1), row = 26;
      let y = 10;
      for (const group of all(top)) {
        const x = lefts + group.level * pitch + 24;
        const box = { x, width: pitch - 28, rx: 4, class: "box server" };
        const taken = (at) => steps[group.steps[at] - 1];
        const text = (at, middle) => {
          const number = group.steps[at];
          if (number > now) return;
          const { state, other, result } = taken(at);
          const equation = `${written(state)} + ${other < 0 ? `(${written(other)})` : written(other)} = ${written(result)}`;
          const fits = equation.length * 9 < pitch - 28;
          const look = { x: x + pitch / 2 - 14, y: middle + 5, "text-anchor": "middle", class: number === now ? "result" : "" };
          add("text", look, fits ? equation : `= ${written(result)}`);
        };
        group.isDone = group.steps.length ? group.steps.at(-1) <= now : group.below[0].isDone;
        if (!group.level) {
          add("rect", { ...box, y, height: row * (group.clients.length + 1) });
          add("text", { x: x + pitch / 2 - 14, y: y + 18, "text-anchor": "middle", class: from ? "alarm" : "" }, `zero ${written(from)}`);
          group.clients.forEach((client, at) => {
            const middle = y + row * (at + 1.5);
            add("rect", { x: 4, y: middle - 11, width: 92, height: 22, rx: 4, class: "box client" });
            add("text", { x: 12, y: middle + 5 }, `client ${client}: ${written(values[client])}`);
            add("line", { x1: 98, x2: x - 2, y1: middle, y2: middle, class: group.steps[at] <= now ? "sent" : "axis" });
            text(at, middle);
          });
          group.middle = y + (row * (group.clients.length + 1)) / 2;
          y += row * (group.clients.length + 1) + 10;
        } else {
          group.middle = (group.below[0].middle + group.below.at(-1).middle) / 2;
          const height = row * Math.max(1, group.steps.length);
          add("rect", { ...box, y: group.middle - height / 2, height });
          for (const lower of group.below)
            add("line", { x1: x - 28, x2: x - 2, y1: lower.middle, y2: group.middle, class: lower.isDone ? "told" : "axis" });
          const middles = (at) => group.middle - height / 2 + row * (at + 0.5);
          group.steps.forEach((_, at) => text(at, middles(at)));
          if (!group.steps.length && group.isDone)
            add("text", { x: x + pitch / 2 - 14, y: group.middle + 5, "text-anchor": "middle" }, written(group.state));
        }
      }
      const report = now > steps.length ? `report: ${written(top.state)}` : "report: not yet";
      add("text", { x: 636, y: y + 14, "text-anchor": "end", class: now > steps.length ? "result reported" : "" }, report);
      high(y + 24);
    }
    show(!("step" in start));
    if ("step" in start) {
      step.input.value = start.step;
      show();
    }
  }

  window.startExplorer = (figure) =>
    ({ mean, aggregation })[figure.dataset.explorer](figure, JSON.parse(figure.dataset.start));
  document.querySelectorAll("figure[data-explorer]").forEach(window.startExplorer);
})();
