"use strict";

const model = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const number = (value) => value.toLocaleString("en-US", { maximumFractionDigits: 2 });
const typeOf = (tensor) => `${tensor.dtype} (${tensor.shape.join(", ")})`;
const titleOf = (call) => call.layers || call.operators;

function element(name, parent, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  parent.append(made);
  return made;
}

// A cell: text, a number, or { bars: [share, …], text }.
function addCell(row, value) {
  if (typeof value === "number") {
    element("td", row, number(value)).dataset.value = value;
  } else if (value && value.bars) {
    const cell = element("td", row, undefined, "size");
    value.bars.forEach((share, i) => {
      element("span", cell, undefined, i ? "bar second" : "bar").style.width = 8 * share + "em";
    });
  } else {
    element("td", row, value === undefined ? "" : value);
  }
}

// A table whose columns can be sorted; of many rows the first ones, and the others when they are asked for.
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

// Calls, with the model's inputs before and its outputs behind them; edges go from what writes a tensor to what reads it.
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
  add("operators", call.operators);
  add("function", call.function || "none: a view of its input");
  add("schedule", call.schedule);
  add("layout", call.layout);
  add("reads", names(call.inputs));
  add("writes", names(call.outputs));
  add("operations", call.operations);
  add("bytes read and written, at least", call.accessed_bytes);
  add("bytes of constants", call.constant_bytes);
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

// ---- memory

function showPool(pool, index) {
  const place = element("div", byId("memory"), undefined, "memory");
  const calls = Math.max(1, model.calls.length);
  const buffers = model.tensors.filter((tensor) => tensor.pool === index);
  const alive = new Array(calls + 2).fill(0);
  const at = (call) => Math.min(Math.max(call, 0), calls);
  for (const buffer of buffers) {
    alive[at(buffer.first)] += buffer.bytes;
    alive[at(buffer.last) + 1] -= buffer.bytes;
  }
  for (let i = 1; i < alive.length; ++i) alive[i] += alive[i - 1];
  const peak = alive.reduce((best, bytes, i) => (bytes > alive[best] ? i : best), 0);
  const call = model.calls[Math.min(peak, model.calls.length - 1)];
  const limit = pool.limit >= 0 && pool.external ? `, of ${number(pool.limit)} that the application has` : "";
  element("p", place, `${pool.name}: ${number(pool.bytes)} bytes${limit}; lower bound ${number(pool.lower_bound)} bytes, ` +
    `most is alive at call ${peak}${call ? ": " + titleOf(call) : ""}.`);
  if (!pool.bytes) return;
  const few = buffers.length < 500;  // with a text for each; of many one shape
  const drawing = svg("svg", { viewBox: `0 0 ${calls} ${pool.bytes}`, preserveAspectRatio: "none", role: "img", class: few ? "few" : "" }, place);
  drawing.setAttribute("aria-label", `Buffers of ${pool.name} over the calls; the table below has the same`);
  const paths = {};
  for (const buffer of buffers) {
    const x = at(buffer.first), width = Math.max(1, Math.min(at(buffer.last), calls - 1) - x + 1);
    const y = pool.bytes - buffer.offset - buffer.bytes, height = buffer.bytes;
    if (!few) {
      paths[buffer.kind] = (paths[buffer.kind] || "") + `M${x} ${y}h${width}v${height}h${-width}z`;
      continue;
    }
    const rect = svg("rect", { class: buffer.kind, x, y, width, height }, drawing);
    svg("title", {}, rect).textContent = `${buffer.name}: ${number(buffer.bytes)} bytes, calls ${buffer.first} to ${buffer.last}`;
  }
  for (const kind in paths) svg("path", { class: kind, d: paths[kind] }, drawing);
  const used = alive.slice(0, calls).map((bytes, i) => `${i ? "L" : "M"}${i} ${pool.bytes - bytes}H${i + 1}`).join("");
  svg("path", { class: "alive", d: used }, drawing);
  const bound = pool.bytes - pool.lower_bound;
  svg("line", { x1: 0, x2: calls, y1: bound, y2: bound }, drawing);
  const key = element("p", place, undefined, "note");
  for (const [color, text] of [["--accent", "tensor"], ["--warm", "scratch"], ["--ink", "bytes that are needed"], ["--bad", "lower bound"]]) {
    const item = element("span", key, undefined, "item");
    element("span", item, undefined, "key").style.background = `var(${color})`;
    item.append(text);
  }
}

model.pools.forEach(showPool);
if (!model.pools.length) element("p", byId("memory"), "The model needs no memory between its operators.");
whenOpened("buffers", (place) => {
  const rows = model.tensors.filter((tensor) => tensor.pool !== undefined).map((tensor) => ({
    cells: [
      model.pools[tensor.pool].name, tensor.name, tensor.kind, typeOf(tensor), tensor.offset, tensor.bytes, tensor.first, tensor.last,
    ],
  }));
  addTable(place, ["pool", "buffer", "kind", "type", "offset", "bytes", "first call", "last call"], rows);
});

// ---- flash, profile, quantisation

function showFlash() {
  const once = new Set();
  const calls = model.calls.filter((call) => call.function && !once.has(call.function) && once.add(call.function));
  const hasCode = calls.some((call) => call.code_bytes !== undefined);
  const bytes = (call) => (call.constant_bytes || 0) + (call.code_bytes || 0);
  const most = Math.max(1, ...calls.map(bytes));
  const rows = calls.slice().sort((a, b) => bytes(b) - bytes(a)).map((call) => ({
    call,
    cells: [
      { bars: [(call.constant_bytes || 0) / most, (call.code_bytes || 0) / most] },
      titleOf(call), call.operators, call.constant_bytes || 0, ...(hasCode ? [call.code_bytes || 0] : []), bytes(call),
    ],
  }));
  element("p", byId("flash"), hasCode
    ? "Blue: constants, orange: machine code of the operators for this target."
    : "Constants of the operators. The size of their code is shown for a microcontroller: --target cortex-m4f.", "note");
  addTable(byId("flash"), ["", "layers", "operators", "constant bytes", ...(hasCode ? ["code bytes"] : []), "bytes"], rows,
    (row) => view.select(row.call.node));
}

function showProfile() {
  const calls = model.calls.filter((call) => call.seconds !== undefined);
  if (!calls.length) return;
  element("h2", byId("profile"), "Profile");
  const total = calls.reduce((sum, call) => sum + call.seconds, 0), most = Math.max(...calls.map((call) => call.seconds));
  const rows = calls.slice().sort((a, b) => b.seconds - a.seconds).map((call) => ({
    call,
    cells: [{ bars: [call.seconds / most] }, titleOf(call), call.operators, call.seconds * 1e6, (100 * call.seconds) / total, call.schedule],
  }));
  addTable(byId("profile"), ["", "layers", "operators", "microseconds", "% of the operators", "schedule"], rows, (row) =>
    view.select(row.call.node));
}

function showQuantization() {
  if (!model.quantization.length) return;
  const place = byId("quantization");
  element("h2", place, "Quantisation");
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
