// Plain min-cost flow: one Bellman-Ford path per unit. Slow, and meant to be obviously right.

export interface FlowArc {
  readonly from: string;
  readonly to: string;
  readonly low: number;
  readonly high: number;
  readonly cost: number;
}

/** Meeting one unit of a lower bound outweighs all costs of a small instance. */
const LOWER_BOUND_REWARD = 1e6;

interface Half {
  readonly from: number;
  readonly to: number;
  readonly cost: number;
  room: number;
}

/**
 * Returns the least cost of `units` from 'source' to 'sink' within the bounds; null if no such flow
 * exists.
 */
export function minCostFlow(arcs: readonly FlowArc[], units: number): number | null {
  const ids = new Map<string, number>();
  const idOf = (name: string): number => {
    const id = ids.get(name) ?? ids.size;
    ids.set(name, id);
    return id;
  };
  const halves: Half[] = [];
  const add = (arc: FlowArc, room: number, cost: number): void => {
    if (room <= 0) return;
    const [from, to] = [idOf(arc.from), idOf(arc.to)];
    halves.push({ from, to, cost, room }, { from: to, to: from, cost: -cost, room: 0 });
  };
  let bounds = 0;
  for (const arc of arcs) {
    add(arc, arc.low, arc.cost - LOWER_BOUND_REWARD);
    add(arc, arc.high - arc.low, arc.cost);
    bounds += arc.low;
  }
  const [source, sink] = [idOf('source'), idOf('sink')];
  let total = 0;
  for (let unit = 0; unit < units; unit += 1) {
    const path = shortestPath(halves, { nodes: ids.size, source, sink });
    if (path === null) return null;
    for (const index of path) {
      total += halves[index]!.cost;
      halves[index]!.room -= 1;
      halves[index ^ 1]!.room += 1;
    }
  }
  const cost = total + bounds * LOWER_BOUND_REWARD;
  return cost < LOWER_BOUND_REWARD ? cost : null;
}

function shortestPath(
  halves: readonly Half[],
  graph: { readonly nodes: number; readonly source: number; readonly sink: number },
): number[] | null {
  const distance = new Float64Array(graph.nodes).fill(Infinity);
  const via = new Int32Array(graph.nodes).fill(-1);
  distance[graph.source] = 0;
  for (let changed = true; changed; ) {
    changed = false;
    halves.forEach(({ from, to, cost, room }, index) => {
      if (room === 0 || distance[from]! + cost >= distance[to]!) return;
      distance[to] = distance[from]! + cost;
      via[to] = index;
      changed = true;
    });
  }
  if (distance[graph.sink] === Infinity) return null;
  const path: number[] = [];
  for (let node = graph.sink; node !== graph.source; node = halves[via[node]!]!.from) {
    path.push(via[node]!);
  }
  return path;
}
