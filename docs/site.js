// A long table shows its first rows, and those that hold what a reader looks for.
"use strict";

const FIRST_ROWS = 25;

document.querySelectorAll("table").forEach((table) => {
  const rows = [...table.tBodies[0].rows];
  if (rows.length <= FIRST_ROWS) return;
  const field = Object.assign(document.createElement("input"), { type: "search", placeholder: "cbq, confirmed …" });
  const label = Object.assign(document.createElement("label"), { className: "find-rows", textContent: "Find rows " });
  const shown = document.createElement("output");
  label.append(field, " ", shown);
  table.before(label);
  const find = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = rows.filter(({ textContent }) => words.every((word) => textContent.toLowerCase().includes(word)));
    const most = words.length ? found.length : FIRST_ROWS;
    rows.forEach((row) => { row.hidden = true; });
    found.slice(0, most).forEach((row) => { row.hidden = false; });
    shown.textContent = `${Math.min(most, found.length)} of ${rows.length} rows`;
  };
  // A link may lead into the table, and paper has no field.
  const all = () => rows.forEach((row) => { row.hidden = false; });
  window.addEventListener("beforeprint", all);
  field.addEventListener("input", find);
  if (location.hash && table.querySelector(`[id="${CSS.escape(location.hash.slice(1))}"]`)) all();
  else find();
});
