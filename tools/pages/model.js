"use strict";

const model = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const number = (value) => value.toLocaleString("en-US", { maximumFractionDigits: 2 });
const typeOf = (tensor) => `${tensor.dtype} (${tensor.shape.join(", ")})`;
// TFLite names a layer after everything that was fused into it, separated by semicolons.
const titleOf = (call) => call.layers.split(" ").map((name) => name.replace(/(?<=.);.*/, "")).join(" ") || call.operators;

function element(name, parent, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  parent.append(made);
  return made;
}

// Adds a cell: text, a number, or { bars: [share, …], text }.
function addCell(row, value) {
  if (typeof value === "number") {
    element("td", row, number(value)).dataset.value = value;
  } else if (value && value.bars) {
    const cell = element("td", row, undefined, "size");
    value.bars.forEach((share, i) => {
      element("span", cell, undefined, i ? "bar second" : "bar").style.width = 8 * share + "em";
    });
  } else {
    const text = value === undefined ? "" : value;
    element("td", row, text, text.length > 40 ? "long" : "");
  }
}

// Adds a table with sortable columns. Of many rows it shows the first ones, and the others on request.
function addTable(parent, columns, rows, onSelect) {
  const FIRST = 200;
  const place = element("div", parent, undefined, "table");
  place.tabIndex = 0;
  const table = element("table", place);
  const headers = element("tr", element("thead", table));
  const body = element("tbody", table);
  const add = (row) => {
    const line = element("tr", body);
    row.cells.forEach((value) => addCell(line, value));
    if (!onSelect) return;
    const name = line.children[1];
    const link = element("a", name, name.textContent);
    name.firstChild.remove();
    link.href = "#graph-title";
    link.addEventListener("click", () => onSelect(row));
  };
  columns.forEach((title, column) => {
    const header = element("th", headers, undefined, rows.length && typeof rows[0].cells[column] === "number" ? "number" : "");
    element("button", header, title).addEventListener("click", () => {
      showAll();
      sortBy(table, column, header);
    });
  });
  rows.slice(0, FIRST).forEach(add);
  let more = rows.length > FIRST ? element("button", parent, `show all ${rows.length} rows`, "plain") : null;
  function showAll() {
    if (more) {
      rows.slice(FIRST).forEach(add);
      more.remove();
    }
    more = null;
  }
  if (more) more.addEventListener("click", showAll);
}

function whenOpened(id, fill) {
  const place = byId(id);
  place.addEventListener("toggle", () => place.open && place.children.length === 1 && fill(place));
}

// ---- the graph

// Returns the calls, with the model's inputs before and its outputs after them. Edges lead from the writer of a tensor
// to its readers.
function graphNodes() {
  const tensors = model.tensors, writers = tensors.map(() => []), nodes = [];
  const add = (node, reads) => {
    node.from = Array.from(new Set(reads.flatMap((tensor) => writers[tensor])));
    nodes.push(node);
    return nodes.length - 1;
  };
  tensors.forEach((tensor, i) => {
    if (tensor.kind !== "input") return;
    writers[i].push(add({ kind: "port", title: tensor.name, subtitle: "input", shapes: typeOf(tensor) }, []));
  });
  const weight = (call) => call.seconds || 0;
  const most = Math.max(...model.calls.map(weight), 0);
  for (const call of model.calls) {
    const made = call.outputs.map((tensor) => typeOf(tensors[tensor])).join(", ");
    const node = {
      kind: call.function ? "call" : "view",
      title: titleOf(call),
      subtitle: call.operators,
      shapes: made + (call.layout ? " " + call.layout : ""),
      heat: most > 0 ? weight(call) / most : 0,
      call,
    };
    const index = add(node, call.inputs);
    for (const tensor of call.outputs) writers[tensor].push(index);
    call.node = node;
  }
  tensors.forEach((tensor, i) => {
    if (tensor.kind !== "output") return;
    add({ kind: "port", title: tensor.name, subtitle: "output", shapes: typeOf(tensor) }, [i]);
  });
  return nodes;
}

function showDetails(node) {
  const place = byId("details");
  place.textContent = "";
  element("h3", place, node.title);
  const list = element("dl", place);
  const add = (name, value) => {
    if (value === undefined || value === "") return;
    element("dt", list, name);
    element("dd", list, typeof value === "number" ? number(value) : value);
  };
  const call = node.call;
  if (!call) {
    add(node.subtitle, node.shapes);
    return;
  }
  const names = (indices) => indices.map((i) => `${model.tensors[i].name}: ${typeOf(model.tensors[i])}`).join("; ");
  if (call.layers !== node.title) add("layers", call.layers);
  add("operators", call.operators);
  add("function", call.function || "none: a view of its input");
  add("schedule", call.schedule);
  add("layout", call.layout);
  add("reads", names(call.inputs));
  add("writes", names(call.outputs));
  add("operations", call.operations);
  add("bytes read and written, at least", call.accessed_bytes);
  add("bytes of constants that no call before it reads", call.constant_bytes);
  add("bytes of code", call.code_bytes);
  add("bytes of scratch memory", call.scratch_bytes);
  if (call.seconds !== undefined) add("microseconds", call.seconds * 1e6);
}

const view = new GraphView(byId("graph"), layOut(graphNodes()), showDetails);
byId("larger").addEventListener("click", () => view.resize(1.25));
byId("smaller").addEventListener("click", () => view.resize(0.8));
byId("find").addEventListener("input", (event) => {
  const text = event.target.value.toLowerCase();
  const found = text && view.layout.nodes.find((node) => node.title.toLowerCase().includes(text));
  if (found) view.select(found);
});
if (view.layout.nodes.length) view.select(view.layout.nodes[0]);

whenOpened("calls", (place) => {
  const rows = model.calls.map((call, i) => ({
    call,
    cells: [
      i,
      titleOf(call),
      call.operators,
      call.outputs.map((tensor) => typeOf(model.tensors[tensor])).join(", "),
      call.layout,
      call.operations || 0,
      call.constant_bytes || 0,
      call.scratch_bytes || 0,
      call.schedule,
    ],
  }));
  const columns = ["call", "layers", "operators", "result", "layout", "operations", "constant bytes", "scratch bytes", "schedule"];
  addTable(place, columns, rows, (row) => view.select(row.call.node));
});

// ---- flash, profile, quantization

function showFlash() {
  const once = new Set();
  const calls = model.calls.filter((call) => call.function && !once.has(call.function) && once.add(call.function));
  const hasCode = calls.some((call) => call.code_bytes !== undefined);
  byId("flash-title").textContent = hasCode ? "Flash" : "Constants of the operators";
  const bytes = (call) => (call.constant_bytes || 0) + (call.code_bytes || 0);
  const most = Math.max(1, ...calls.map(bytes));
  const rows = calls.slice().sort((a, b) => bytes(b) - bytes(a)).map((call) => ({
    call,
    cells: [
      { bars: [(call.constant_bytes || 0) / most, (call.code_bytes || 0) / most] },
      bytes(call), call.constant_bytes || 0, ...(hasCode ? [call.code_bytes || 0] : []), titleOf(call), call.operators,
    ],
  }));
  element("p", byId("flash"), hasCode
    ? "Blue: constants, orange: machine code of the operators for this target. What several operators share counts for the first."
    : "Constants of the operators; those that several share count for the first. The size of their code is shown for a " +
      "microcontroller: --target cortex-m4f.", "note");
  addTable(byId("flash"), ["", "bytes", "constant bytes", ...(hasCode ? ["code bytes"] : []), "layers", "operators"], rows,
    (row) => view.select(row.call.node));
}

function showProfile() {
  const calls = model.calls.filter((call) => call.seconds !== undefined);
  if (!calls.length) return;
  element("h2", byId("profile"), "Profile");
  const total = calls.reduce((sum, call) => sum + call.seconds, 0), most = Math.max(...calls.map((call) => call.seconds));
  const rows = calls.slice().sort((a, b) => b.seconds - a.seconds).map((call) => ({
    call,
    cells: [{ bars: [call.seconds / most] }, call.seconds * 1e6, (100 * call.seconds) / total, titleOf(call), call.operators, call.schedule],
  }));
  addTable(byId("profile"), ["", "microseconds", "% of the operators", "layers", "operators", "schedule"], rows, (row) =>
    view.select(row.call.node));
}

function showQuantization() {
  if (!model.quantization.length) return;
  const place = byId("quantization");
  element("h2", place, "Quantization");
  element("p", place, "A number is scale × (integer − zero point).", "note");
  const rows = model.quantization.map((tensor) => ({ cells: [tensor.name, tensor.scale.toPrecision(6), tensor.zero_point] }));
  addTable(place, ["tensor", "scale", "zero point"], rows);
}

showFlash();
showProfile();
showQuantization();
whenOpened("constants", (place) => {
  const readers = new Map(model.calls.map((call) => [call.function, titleOf(call)]));
  const rows = model.constants.map((constant) => ({
    cells: [constant.pool, constant.name, readers.get(constant.function), constant.bytes],
  }));
  addTable(place, ["section", "constant", "first read by", "bytes"], rows);
});
