// SPDX-License-Identifier: Apache-2.0
// Five clients, their numbers and weights, and the mean at the server: moved by
// sliders, by the arrow keys on them, or by dragging a client along its line.
(() => {
  const [LEAST, MOST, LEFT, WIDTH, CLIENTS_Y, SERVER_Y] = [10, 30, 30, 580, 45, 125];
  const figure = document.getElementById("mean");
  const svg = figure.querySelector("svg");
  const x = (value) => LEFT + ((value - LEAST) / (MOST - LEAST)) * WIDTH;

  const draw = (name, attributes, text = "") => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    set(element, attributes);
    element.textContent = text;
    return svg.appendChild(element);
  };
  const set = (element, attributes) =>
    Object.entries(attributes).forEach((pair) => element.setAttribute(...pair));

  const slider = (label, min, max, step, value) => {
    const box = document.createElement("label");
    const input = Object.assign(document.createElement("input"), { type: "range", min, max, step, value });
    input.value = value;
    input.addEventListener("input", show);
    box.append(label, input);
    return [box, input];
  };

  for (const [name, y] of [["clients", CLIENTS_Y], ["server", SERVER_Y]]) {
    draw("line", { x1: LEFT, x2: LEFT + WIDTH, y1: y, y2: y, class: "axis" });
    draw("text", { x: LEFT, y: y - 22 }, name);
  }
  for (let degree = LEAST; degree <= MOST; degree += 5)
    draw("text", { x: x(degree), y: SERVER_Y + 50, "text-anchor": "middle" }, `${degree} °C`);

  const clients = [18, 21, 19, 24, 23].map((start, index) => {
    const row = document.createElement("div");
    const [valueBox, value] = slider(`client ${index} `, LEAST, MOST, 0.5, start);
    const [weightBox, weight] = slider(" weight ", 0, 5, 1, 1);
    weight.setAttribute("aria-label", `weight of client ${index}`);
    row.append(valueBox, weightBox);
    figure.querySelector(".clients").append(row);
    const line = draw("line", { class: "sent" });
    const dot = draw("circle", { class: "client", cy: CLIENTS_Y });
    dot.addEventListener("pointerdown", (event) => dot.setPointerCapture(event.pointerId));
    dot.addEventListener("pointermove", (event) => {
      if (!dot.hasPointerCapture(event.pointerId)) return;
      const across = (event.clientX - svg.getBoundingClientRect().left) / svg.getBoundingClientRect().width;
      value.value = LEAST + ((across * 640 - LEFT) / WIDTH) * (MOST - LEAST);
      show();
    });
    return { value, weight, line, dot };
  });
  const marker = draw("path", { class: "server", d: "M0 -11 L11 0 L0 11 L-11 0 Z" });
  const label = draw("text", { y: SERVER_Y + 28, "text-anchor": "middle", class: "result" });

  function show() {
    const values = clients.map((client) => Number(client.value.value));
    const weights = clients.map((client) => Number(client.weight.value));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const mean = values.reduce((sum, value, index) => sum + value * weights[index], 0) / total;
    clients.forEach(({ value, weight, line, dot }, index) => {
      set(dot, { cx: x(values[index]), r: 5 + 3 * Math.sqrt(weights[index]) });
      set(line, { x1: x(values[index]), y1: CLIENTS_Y, x2: x(mean || LEAST), y2: SERVER_Y });
      line.style.visibility = weights[index] && total ? "visible" : "hidden";
      line.style.strokeWidth = weights[index];
      value.setAttribute("aria-valuetext", `${values[index]} degrees`);
    });
    for (const part of [marker, label]) part.style.visibility = total ? "visible" : "hidden";
    set(marker, { transform: `translate(${x(mean || LEAST)} ${SERVER_Y})` });
    set(label, { x: x(mean || LEAST) });
    label.textContent = total ? mean.toFixed(1) : "";
    const held = `The clients hold ${values.join(", ")} °C`;
    const same = weights.every((weight) => weight === weights[0]);
    const counted = same ? "" : `, with weights ${weights.join(", ")}`;
    const got = total ? `their mean at the server is ${mean.toFixed(1)} °C.` : "no weight is left, so there is no mean (nan).";
    figure.querySelector("figcaption").textContent = `${held}${counted}; ${got}`;
  }

  figure.querySelector("button").addEventListener("click", () => {
    clients.forEach(({ weight }) => (weight.value = 1));
    show();
  });
  show();
})();
