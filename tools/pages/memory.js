"use strict";

// The pools of memory: lifetimes and places of the buffers.

const MOST_STEPS = 600;  // steps of the line of bytes in use; if there are more calls, a step shows the peak of several

// Returns the bytes in use during each call. Bytes that an output shares with an input count once.
function bytesInUse(buffers, calls) {
  const begun = Array.from({ length: calls }, () => []);
  for (const buffer of buffers) begun[Math.min(Math.max(buffer.first, 0), calls - 1)].push(buffer);
  let alive = [];
  return begun.map((added, call) => {
    alive = alive.filter((buffer) => buffer.last >= call).concat(added).sort((a, b) => a.offset - b.offset);
    let bytes = 0, counted = 0;
    for (const { offset, bytes: size } of alive) {
      bytes += Math.max(0, offset + size - Math.max(offset, counted));
      counted = Math.max(counted, offset + size);
    }
    return bytes;
  });
}

function usedLine(used, top) {
  const group = Math.ceil(used.length / MOST_STEPS);
  let path = "";
  for (let i = 0; i < used.length; i += group) {
    const most = Math.max(...used.slice(i, i + group));
    path += `${i ? "L" : "M"}${i} ${top - most}H${Math.min(i + group, used.length)}`;
  }
  return path;
}

function drawBuffers(buffers, pool, calls, drawing) {
  const few = buffers.length < 500;  // few: each has a text; many: one shape for all
  if (few) drawing.setAttribute("class", "few");
  const paths = {};
  for (const buffer of buffers) {
    const x = Math.max(buffer.first, 0), width = Math.max(1, Math.min(buffer.last, calls - 1) - x + 1);
    const y = pool.bytes - buffer.offset - buffer.bytes, height = buffer.bytes;
    if (!few) {
      paths[buffer.kind] = (paths[buffer.kind] || "") + `M${x} ${y}h${width}v${height}h${-width}z`;
      continue;
    }
    const rect = svg("rect", { class: buffer.kind, x, y, width, height }, drawing);
    svg("title", {}, rect).textContent = `${buffer.name}: ${number(buffer.bytes)} bytes, calls ${buffer.first} to ${buffer.last}`;
  }
  for (const kind in paths) svg("path", { class: kind, d: paths[kind] }, drawing);
}

// Adds a key for the colors in the drawing.
function showKey(place, buffers, hasBound) {
  const kinds = new Set(buffers.map((buffer) => buffer.kind));
  const key = element("p", place, undefined, "note");
  const add = (color, text, line) => {
    const item = element("span", key, undefined, "item");
    element("span", item, undefined, line ? "key line" : "key").style.background = `var(${color})`;
    item.append(text);
  };
  if (kinds.has("tensor")) add("--accent", "tensor");
  if (kinds.has("state")) add("--accent", "state");
  if (kinds.has("scratch")) add("--warm", "scratch");
  if (kinds.has("input") || kinds.has("output")) add("--good", "input or output");
  add("--ink", "bytes in use", true);
  if (hasBound) add("--bad", "lower bound", true);
}

function showPool(pool, index) {
  const place = element("div", byId("memory"), undefined, "memory");
  const calls = Math.max(1, model.calls.length);
  const buffers = model.tensors.filter((tensor) => tensor.pool === index);
  const used = bytesInUse(buffers, calls);
  const peak = used.reduce((best, bytes, i) => (bytes > used[best] ? i : best), 0);
  const limit = pool.limit >= 0 && pool.external ? ` of the ${number(pool.limit)} that the application has` : "";
  const overlaps = pool.bytes < pool.lower_bound;
  element("p", place, `${pool.name}: ${number(pool.bytes)} bytes${limit}; ` + (overlaps
    ? `${number(pool.lower_bound)} bytes without overlap of inputs and outputs.`
    : `lower bound ${number(pool.lower_bound)} bytes.`));
  if (!pool.bytes) return;
  const call = model.calls[peak];
  if (call) element("p", place, `Peak: call ${peak}, ${titleOf(call)}.`, "peak").title = titleOf(call);
  const drawing = svg("svg", { viewBox: `0 0 ${calls} ${pool.bytes}`, preserveAspectRatio: "none", role: "img" }, place);
  drawing.setAttribute("aria-label", `Buffers of ${pool.name} over the calls; the table below has the same`);
  drawBuffers(buffers, pool, calls, drawing);
  svg("path", { class: "used", d: usedLine(used, pool.bytes) }, drawing);
  if (!overlaps) {
    const bound = pool.bytes - pool.lower_bound;
    svg("line", { x1: 0, x2: calls, y1: bound, y2: bound }, drawing);
  }
  const axis = element("p", place, undefined, "axis");
  element("span", axis, "call 0");
  element("span", axis, `call ${calls - 1}`);
  showKey(place, buffers, !overlaps);
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
