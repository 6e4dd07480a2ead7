// SPDX-License-Identifier: Apache-2.0
// node pyodide.mjs KERNEL WORK: runs WORK/run.py in the Pyodide of the folder KERNEL,
// with what the site loads before the first cell; the folder WORK is /notebooks there.
import path from "node:path";
import { pathToFileURL } from "node:url";

const [kernel, work] = process.argv.slice(2).map((each) => path.resolve(each));
const { loadPyodide } = await import(pathToFileURL(path.join(kernel, "pyodide.mjs")).href);
const env = { MPLBACKEND: "agg", FEDLEARN_EDU_PROGRESS: "off" };
env.PYTHONWARNINGS = "ignore:only soft file lock";
env.NBGRADER_EXECUTION = "validate"; // lessons train for a shorter time then
const pyodide = await loadPyodide({ indexURL: kernel + path.sep, env });
const silent = { messageCallback: () => {}, checkIntegrity: true };
await pyodide.loadPackage(["fedlearn-edu", "ipython"], silent);
pyodide.mountNodeFS("/notebooks", work);
await pyodide.runPythonAsync("import sys; sys.path.insert(0, '/notebooks')\nimport run\nawait run.main()");
