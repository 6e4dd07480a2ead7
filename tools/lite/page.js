// A link opens what it names and nothing else: JupyterLab would begin with the tabs of
// the last visit, each with a Python of its own. A reload keeps the tabs of this one.
const here = new URL(location.href);
const notebook = here.searchParams.get("path")?.endsWith(".ipynb");
if (here.searchParams.has("path") && !here.searchParams.has("workspace")) {
  here.searchParams.set("workspace", `visit-${Date.now()}`);
  history.replaceState(null, "", here);
}

// Python takes its time, and nothing on the page says so. On a phone the list of files
// would take half of it.
addEventListener("DOMContentLoaded", () => {
  const wait = document.createElement("p");
  wait.setAttribute("role", "status");
  wait.textContent = "Please wait: Python starts in this page. The first time that takes up to a minute.";
  wait.style.cssText = "background:#0060a8;border-radius:6px;bottom:3em;color:white;font:16px sans-serif;left:50%;margin:0;padding:.7em 1.2em;position:fixed;transform:translateX(-50%);z-index:9999";
  document.body.append(wait);
  const ready = new WeakSet();
  let wasNarrow = false;
  setInterval(() => {
    const { shell } = window.jupyterapp ?? {};
    const session = shell?.currentWidget?.sessionContext;
    if (["idle", "busy"].includes(session?.session?.kernel?.status)) ready.add(session);
    wait.hidden = shell ? !session || ready.has(session) : !notebook;
    if (!shell?.currentWidget) return;
    const isNarrow = innerWidth < 760;
    if (isNarrow && !wasNarrow) shell.collapseLeft();
    wasNarrow = isNarrow;
  }, 300);
});
