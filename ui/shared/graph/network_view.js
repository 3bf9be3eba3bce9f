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
    edges: { font: { color: view.text, strokeWidth: 0, background: ground } },
  });
  emphasise(view, new Set(data.selected), data.edge);
  return () => view.network.destroy();
}

function draw(root, view, data) {
  const graph = JSON.parse(data.graph);
  view.graph = data.graph;
  view.labels = { size: graph.labelSize, from: graph.labelFrom };
  view.nodes = new vis.DataSet(graph.nodes);
  view.edges = new vis.DataSet(
    graph.edges.map((edge, id) => ({ ...graph.lines[edge.line], ...edge, id })));
  view.network?.destroy();
  view.host.style.height = `${graph.height}px`;
  view.network = new vis.Network(
    view.host, view, { ...OPTIONS, groups: graph.groups, physics: graph.physics });
  view.network.once("stabilizationIterationsDone", () => {
    view.network.setOptions({ physics: false });
    spread(view);
  });
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
      if (graph.labelFrom > 4) view.network.focus(at, { scale: 2 });
      announcement.textContent = graph.nodes[at].title;
    } else if (event.key === "Enter" && at >= 0) send([at]);
    else return;
    event.preventDefault();
  };
}

// Over the whole canvas, as wide as it is: a unit is a pixel then, and names can be read.
function spread(view) {
  const ids = view.nodes.getIds(), places = view.network.getPositions();
  const room = Math.min(1, 0.45 + ids.length / 60);
  const place = (axis, pixels) => {
    const all = ids.map((id) => places[id][axis]), low = Math.min(...all);
    const wide = Math.max(...all) - low || 1;
    return (id) => ((places[id][axis] - low) / wide) * room * pixels;
  };
  const x = place("x", view.host.clientWidth - 160), y = place("y", view.host.clientHeight - 80);
  view.nodes.update(ids.map((id) => ({ id, x: x(id), y: y(id) })));
  view.network.fit();
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
