"use strict";

// The layered drawing of a graph. Only visible nodes are in the document, so that thousands of nodes cost nothing.
const BOX = { width: 230, height: 62, gapX: 26, gapY: 34, lane: 16 };

// Assigns a rank, below those of all nodes that it reads, and a column to every node. nodes[i].from are indices below
// i.
function layOut(nodes) {
  const ranks = [];
  nodes.forEach((node) => {
    node.rank = node.from.reduce((rank, from) => Math.max(rank, nodes[from].rank + 1), 0);
    const taken = (ranks[node.rank] = ranks[node.rank] || new Set());
    const wanted = node.from.length ? Math.min(...node.from.map((from) => nodes[from].column)) : 0;
    node.column = wanted;
    while (taken.has(node.column)) ++node.column;
    taken.add(node.column);
  });
  const edges = [];
  nodes.forEach((node, to) => node.from.forEach((from) => edges.push({ from: nodes[from], to: node })));
  edges.sort((a, b) => a.to.rank - a.from.rank - (b.to.rank - b.from.rank));
  const boxes = new Set(nodes.map((node) => node.column));
  const FAR = 400;  // ranks; a longer edge is drawn next to all others
  let columns = Math.max(0, ...boxes) + 1;
  for (const edge of edges) {
    const span = edge.to.rank - edge.from.rank;
    if (span < 2) continue;
    edge.column = span > FAR ? columns++ : freeColumn(ranks, edge);
    columns = Math.max(columns, edge.column + 1);
  }
  const left = [];
  for (let c = 0, x = BOX.gapX; c < columns; ++c) {
    left.push(x);
    x += boxes.has(c) ? BOX.width + BOX.gapX : BOX.lane;
  }
  for (const node of nodes) {
    node.x = left[node.column];
    node.y = BOX.gapY + node.rank * (BOX.height + BOX.gapY);
  }
  for (const edge of edges) {
    if (edge.column !== undefined) edge.x = left[edge.column] + (boxes.has(edge.column) ? BOX.width / 2 : BOX.lane / 2);
  }
  const last = columns - 1;
  return {
    nodes,
    edges,
    width: left[last] + (boxes.has(last) ? BOX.width : BOX.lane) + BOX.gapX,
    height: BOX.gapY + ranks.length * (BOX.height + BOX.gapY),
  };
}

// Returns the first column that is free in all ranks that an edge passes, and occupies it.
function freeColumn(ranks, edge) {
  let column = edge.from.column;
  for (let rank = edge.from.rank + 1; rank < edge.to.rank; ) {
    if (!ranks[rank].has(column)) {
      ++rank;
      continue;
    }
    ++column;
    rank = edge.from.rank + 1;
  }
  for (let rank = edge.from.rank + 1; rank < edge.to.rank; ++rank) ranks[rank].add(column);
  return column;
}

function svg(name, attributes, parent) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (parent) parent.append(element);
  return element;
}

function shortened(text, length) {
  const letters = Array.from(text);
  return letters.length <= length ? text : letters.slice(0, length - 1).join("") + "…";
}

function edgePath(edge) {
  const x1 = edge.from.x + BOX.width / 2, y1 = edge.from.y + BOX.height;
  const x2 = edge.to.x + BOX.width / 2, y2 = edge.to.y, bend = BOX.gapY;
  if (edge.column === undefined) return `M${x1} ${y1} C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`;
  return (
    `M${x1} ${y1} C${x1} ${y1 + bend} ${edge.x} ${y1} ${edge.x} ${y1 + bend}` +
    `L${edge.x} ${y2 - bend} C${edge.x} ${y2} ${x2} ${y2 - bend} ${x2} ${y2}`
  );
}

// Shows a layout in a scrolling element. `onSelect` is called with a node.
class GraphView {
  constructor(place, layout, onSelect) {
    this.place = place;
    this.layout = layout;
    this.onSelect = onSelect;
    this.scale = 1;
    this.spacer = document.createElement("div");
    this.drawing = svg("svg", {});
    place.append(this.spacer, this.drawing);
    place.addEventListener("scroll", () => requestAnimationFrame(() => this.draw()));
    place.addEventListener("keydown", (event) => this.press(event));
    new ResizeObserver(() => this.draw()).observe(place);
    this.resize(1);
  }

  resize(factor) {
    this.scale = Math.min(2, Math.max(0.25, this.scale * factor));
    this.spacer.style.width = this.layout.width * this.scale + "px";
    this.spacer.style.height = this.layout.height * this.scale + "px";
    this.draw();
  }

  draw() {
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.place;
    const width = clientWidth / this.scale, height = clientHeight / this.scale;
    const top = scrollTop / this.scale, bottom = top + height;
    // A graph that is narrower than its place is centered.
    const left = scrollLeft / this.scale - Math.max(0, (width - this.layout.width) / 2);
    this.drawing.setAttribute("width", clientWidth);
    this.drawing.setAttribute("height", clientHeight);
    this.drawing.setAttribute("viewBox", `${left} ${top} ${width} ${height}`);
    this.drawing.style.transform = `translate(${scrollLeft}px, ${scrollTop}px)`;
    this.drawing.textContent = "";
    for (const edge of this.layout.edges) {
      if (edge.from.y < bottom && edge.to.y > top) svg("path", { class: "edge", d: edgePath(edge) }, this.drawing);
    }
    for (const node of this.layout.nodes) {
      if (node.y < bottom && node.y + BOX.height > top) this.drawNode(node);
    }
  }

  drawNode(node) {
    const classes = ["node", node.kind, node === this.selected ? "selected" : ""].join(" ");
    const group = svg("g", { class: classes, transform: `translate(${node.x} ${node.y})` }, this.drawing);
    svg("rect", { class: "box", width: BOX.width, height: BOX.height, rx: 5 }, group);
    if (node.heat) svg("rect", { class: "heat", x: 1, y: BOX.height - 5, width: Math.max(1, node.heat * (BOX.width - 2)), height: 4 }, group);
    svg("text", { x: 8, y: 18 }, group).textContent = shortened(node.title, 30);
    svg("text", { x: 8, y: 35, class: "sub" }, group).textContent = shortened(node.subtitle, 35);
    svg("text", { x: 8, y: 51, class: "sub" }, group).textContent = shortened(node.shapes, 35);
    svg("title", {}, group).textContent = node.title;
    group.addEventListener("click", () => this.select(node));
  }

  select(node) {
    this.selected = node;
    const x = node.x * this.scale, y = node.y * this.scale;
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.place;
    if (y < scrollTop || y + BOX.height * this.scale > scrollTop + clientHeight) this.place.scrollTop = y - clientHeight / 3;
    if (x < scrollLeft || x + BOX.width * this.scale > scrollLeft + clientWidth) this.place.scrollLeft = x - BOX.gapX;
    this.draw();
    this.onSelect(node);
  }

  press(event) {
    const nodes = this.layout.nodes, at = nodes.indexOf(this.selected);
    const beside = (step) => {
      const row = nodes.filter((node) => this.selected && node.rank === this.selected.rank).sort((a, b) => a.column - b.column);
      return row[row.indexOf(this.selected) + step];
    };
    const moves = {
      ArrowDown: () => nodes[at + 1],
      ArrowUp: () => nodes[Math.max(0, at - 1)],
      ArrowRight: () => beside(1),
      ArrowLeft: () => beside(-1),
      Home: () => nodes[0],
      End: () => nodes[nodes.length - 1],
    };
    if (event.key in moves) {
      const node = moves[event.key]();
      if (node) this.select(node);
      event.preventDefault();
    }
    if (event.key === "+" || event.key === "=") this.resize(1.25);
    if (event.key === "-") this.resize(0.8);
  }
}
