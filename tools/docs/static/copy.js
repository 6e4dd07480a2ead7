// SPDX-License-Identifier: Apache-2.0
// A button on each block of code that copies it: of examples what is typed, without
// prompts and without what they print.
for (const block of document.querySelectorAll("div.highlight")) {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "copy", textContent: "Copy" });
  button.setAttribute("aria-label", "Copy this code");
  button.addEventListener("click", async () => {
    const text = block.querySelector("pre").innerText;
    const typed = text.split("\n").filter((line) => /^(>>>|\.\.\.)( |$)/.test(line));
    const code = typed.length ? typed.map((line) => line.slice(4)).join("\n") : text.trimEnd();
    await navigator.clipboard.writeText(code);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  block.append(button);
}
