// Draws what shared/graph/network.py made. Text of a catalog is only ever set as text: labels on the
// canvas, titles through innerText (vis-network does that with strings), the rest by textContent.
const OPTIONS = {
  edges: { smooth: false },
  layout: { randomSeed: 1 },
  interaction: {
    dragNodes: false,
    hideEdgesOnDrag: true,
    hover: true,
    multiselect: true,
    selectConnectedEdges: false,
    tooltipDelay: 80,
    zoomSpeed: 0.6,
  },
};
const FAINT = 0.18;
const DOT = 11, GAP = 3, NUMBER = 12, ALWAYS = 4, ROUNDS = 400;
const SHARES = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82];

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".network");
  const view = (root.view ??= { host: root.querySelector(".canvas") });
  view.send = setTriggerValue;
  const css = getComputedStyle(view.host);
  const theme = (name) => css.getPropertyValue(`--st-${name}`).trim();
  view.text = theme("text-color");
  if (view.graph !== data.graph) draw(root, view, data);
  const ground = theme("background-color");
  view.network.setOptions({
    nodes: {
      font: { color: view.text, size: view.labels.size, strokeWidth: 3, strokeColor: ground },
      scaling: { label: { drawThreshold: view.labels.from } },
    },
  });
  view.ground = ground;
  emphasise(view, new Set(data.selected), data.edge);
  return () => view.network.destroy();
}

function draw(root, view, data) {
  const graph = JSON.parse(data.graph);
  view.graph = data.graph;
  view.labels = { size: graph.labelSize, from: graph.labelFrom };
  view.nodes = new vis.DataSet(graph.nodes);
  view.edges = new vis.DataSet(graph.edges.map(
    ({ label, ...edge }, id) => ({ ...graph.lines[edge.line], ...edge, id, number: label })));
  view.network?.destroy();
  view.host.style.height = `${graph.height}px`;
  view.network = new vis.Network(
    view.host, view, { ...OPTIONS, groups: graph.groups, physics: graph.physics });
  view.network.once("stabilizationIterationsDone", () => {
    view.network.setOptions({ physics: false });
    spread(view);
  });
  view.numbers = [];
  view.network.on("afterDrawing", (canvas) => write(view, canvas));
  root.querySelector(".legend").replaceChildren(...graph.legend.map(key));
  view.host.setAttribute("aria-label", graph.alt);
  const announcement = root.querySelector(".announcement");
  const send = (nodes, edge = false, opened = false) =>
    view.send("clicked", { nodes, edge, opened });
  view.network.on("click", ({ nodes, edges }) => {
    const edge = view.edges.get(edges[0] ?? -1);
    if (nodes.length) send(nodes);
    else if (edge) send([edge.from, edge.to], true);
  });
  view.network.on("doubleClick", ({ nodes }) => nodes.length && send(nodes, false, true));
  let at = -1;
  view.host.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step) {
      at = (at + step + graph.nodes.length) % graph.nodes.length;
      view.network.selectNodes([at], false);
      if (graph.labelFrom > ALWAYS) view.network.focus(at, { scale: 2 });
      announcement.textContent = graph.nodes[at].title;
    } else if (event.key === "Enter" && at >= 0) send([at]);
    else return;
    event.preventDefault();
  };
}

// Over the whole canvas, in pixels: half as the springs placed them, half in equal steps, and then
// apart until no dot or name lies on another. Names that appear from near count for nothing.
function spread(view) {
  const { clientWidth: wide, clientHeight: high } = view.host;
  const places = view.network.getPositions(), items = view.nodes.get();
  const room = Math.min(1, 0.5 + items.length / 24);
  const middle = (axis, pixels) => {
    const all = items.map(({ id }) => places[id][axis]).sort((a, b) => a - b);
    const span = all.at(-1) - all[0] || 1, steps = all.length - 1 || 1;
    return (id) => ((((places[id][axis] - all[0]) / span + all.indexOf(places[id][axis]) / steps) / 2
      - 0.5) * room + 0.5) * pixels;
  };
  const x = middle("x", wide), y = middle("y", high);
  const boxes = items.map(({ id, label, size = DOT }) => {
    const named = view.labels.from <= ALWAYS;
    return {
      id, x: x(id), y: y(id), up: size + GAP, down: size + GAP + (named ? view.labels.size * 2 : 0),
      side: Math.max(size, named ? textWidth(label, view.labels.size) / 2 : 0) + GAP,
    };
  });
  for (let round = 0; round < ROUNDS && pushApart(boxes, wide, high); round++);
  view.nodes.update(boxes.map(({ id, x, y }) => ({ id, x, y })));
  view.network.moveTo({ position: { x: wide / 2, y: high / 2 }, scale: 1 });
  view.numbers = placed(view.edges.get(), boxes);
  view.network.redraw(); // what stood outside is passed over once more, until its place is known
}

// Whether two boxes lay on each other: they are moved apart by half of what they share.
function pushApart(boxes, wide, high) {
  let moved = false;
  boxes.forEach((a, at) => boxes.slice(at + 1).forEach((b) => {
    const across = a.side + b.side - Math.abs(a.x - b.x);
    const [above, below] = a.y <= b.y ? [a, b] : [b, a];
    const along = above.y + above.down - (below.y - below.up);
    if (across <= 0 || along <= 0) return;
    moved = true;
    if (across < along) {
      const step = (a.x <= b.x ? -1 : 1) * (across / 2 + 0.1);
      a.x += step, b.x -= step;
    } else above.y -= along / 2 + 0.1, below.y += along / 2 + 0.1;
  }));
  for (const box of boxes) {
    box.x = Math.min(Math.max(box.x, box.side), wide - box.side);
    box.y = Math.min(Math.max(box.y, box.up), high - box.down);
  }
  return moved;
}

// The numbers of lines where they lie on no name and no other number, near the middle of the line;
// one that has no such place is left to the tooltip and the table.
function placed(edges, boxes) {
  const numbers = [];
  const at = new Map(boxes.map((box) => [box.id, box]));
  for (const { id, from, to, number } of edges.filter((edge) => edge.number)) {
    const a = at.get(from), b = at.get(to), side = textWidth(number, NUMBER) / 2 + 4;
    for (const share of SHARES) {
      const box = { id, number, side, up: NUMBER / 2 + 1, down: NUMBER / 2 + 1,
        x: a.x + (b.x - a.x) * share, y: a.y + (b.y - a.y) * share };
      if (![...boxes, ...numbers].some((other) => overlap(box, other))) {
        numbers.push(box);
        break;
      }
    }
  }
  return numbers;
}

function overlap(a, b) {
  return Math.abs(a.x - b.x) < a.side + b.side && a.y + a.down > b.y - b.up
    && b.y + b.down > a.y - a.up;
}

function write(view, canvas) {
  canvas.font = `${NUMBER}px arial`;
  canvas.textAlign = "center", canvas.textBaseline = "middle";
  for (const { id, number, x, y, side, up } of view.numbers) {
    canvas.globalAlpha = view.edges.get(id).off ? FAINT : 1;
    canvas.fillStyle = view.ground;
    canvas.fillRect(x - side, y - up, 2 * side, 2 * up);
    canvas.fillStyle = view.text;
    canvas.fillText(number, x, y);
  }
  canvas.globalAlpha = 1;
}

const pen = document.createElement("canvas").getContext("2d");
function textWidth(text, size) {
  pen.font = `${size}px arial`;
  return pen.measureText(text).width;
}

// What is selected stands out, the rest stands back. Only what changes is drawn anew.
function emphasise(view, selected, edge) {
  const chosen = edge && view.edges.get().find((e) => e.from === edge[0] && e.to === edge[1]);
  const lit = new Set(chosen ? edge : selected);
  const faint = (id) => lit.size > 0 && !lit.has(id);
  const changed = (items, dim, style) => items.map((item) => [item, dim(item)])
    .filter(([item, off]) => Boolean(item.off) !== off)
    .map(([item, off]) => ({ id: item.id, off, ...style(item, off) }));
  view.nodes.update(changed(view.nodes.get(), ({ id }) => faint(id), (_, off) => ({
    opacity: off ? FAINT : 1,
    font: { color: off ? "transparent" : view.text, strokeWidth: off ? 0 : 3 },
  })));
  view.edges.update(changed(view.edges.get(),
    (e) => lit.size > 0 && (chosen ? e.id !== chosen.id : faint(e.from) && faint(e.to)),
    (e, off) => ({ color: { ...e.color, opacity: off ? FAINT : 1 } })));
  view.network.setSelection(
    { nodes: [...selected], edges: chosen ? [chosen.id] : [] }, { highlightEdges: false });
}

function key({ text, color, sign, line }) {
  const mark = Object.assign(document.createElement("i"), { textContent: sign });
  mark.style.color = color;
  if (line) mark.style.cssText = `border-top:${line};width:26px;margin-bottom:4px`;
  const item = document.createElement("span");
  item.append(mark, text);
  return item;
}
