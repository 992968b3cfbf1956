"use strict";
// Sorting is an addition: without this script the tables read the same, in the order of the record.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const said = (row, column) => row.cells[column].textContent.trim();
  const figure = (text) => Number.parseFloat(text.replace(/[,<+]/g, ""));
  const sort = (column) => {
    const head = heads[column];
    const down = head.getAttribute("aria-sort") === "ascending";
    const rows = [...body.rows];
    const filled = rows.map((row) => said(row, column)).filter((text) => text !== "" && text !== "–");
    const figures = filled.length > 0 && filled.every((text) => !Number.isNaN(figure(text)));
    const compare = figures
      ? (a, b) => figure(a) - figure(b)
      : (a, b) => a.localeCompare(b, undefined, { numeric: true });
    const empty = (text) => text === "" || text === "–";
    rows.sort((one, other) => {
      const a = said(one, column), b = said(other, column);
      if (empty(a) || empty(b)) return empty(a) - empty(b);  // what has no figure stays last either way
      return down ? compare(b, a) : compare(a, b);
    });
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...rows);
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(column));
    head.append(button);
  });
}
// A printed page cannot be unfolded: open what is folded, except the figures behind charts.
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details:not(.chart-data)")) part.open = true;
});
