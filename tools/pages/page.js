"use strict";

// Sorts the rows of a table by a column. The headers of such a table contain buttons.
function sortBy(table, column, header) {
  const descending = header.getAttribute("aria-sort") !== "descending";
  for (const other of header.parentNode.children) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const body = table.tBodies[0];
  const compare = (a, b) => {
    const x = a.children[column], y = b.children[column];
    const order = "value" in x.dataset ? x.dataset.value - y.dataset.value : x.textContent.localeCompare(y.textContent);
    return descending ? -order : order;
  };
  body.append(...Array.from(body.children).sort(compare));
}

for (const table of document.querySelectorAll("table")) {
  table.querySelectorAll("thead th").forEach((header, column) => {
    const button = header.querySelector("button");
    if (button) button.addEventListener("click", () => sortBy(table, column, header));
  });
}
