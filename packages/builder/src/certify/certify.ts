// Proves that a table keeps the guarantees, and that no other such table needs fewer moves. Pure.
// The second half is linear programming duality: if potentials exist, no cycle of exchanges saves a
// move (Klein 1967), and every difference of two flows is a sum of such cycles.
import type { Finding } from '@ringwright/base/finding';
import { deviceIn, noDeviceIn, type Ring, type Table } from '@ringwright/ring/ring';
import { pinnedProblem } from '../flow/pinned-targets.ts';
import { heldProblem, withoutHeld } from '../placement/held-devices.ts';
import { placementOf } from '../placement/placement.ts';
import { type PlacementProblem, placementProblem } from '../placement/placement-problem.ts';
import type { BuilderState } from '../state/builder-state.ts';
import { scanTables } from './certificate-faults.ts';
import { certificateGraph } from './certificate-graph.ts';
import { findPotentials } from './certificate-potentials.ts';

export interface Certificate {
  /** Whether the table keeps every guarantee, and no such table is reached with fewer moves. */
  readonly optimal: boolean;
  /** Slots on devices that the partition did not have before. */
  readonly moves: number;
  /** Whether pins exist. They override the guarantees, which hold as far as the pins permit. */
  readonly pinned: boolean;
  /** Violations of the guarantees. With any of them, no potentials are computed. */
  readonly faults: readonly Finding[];
  /** Passes over the changed partitions until the potentials converged. */
  readonly passes: number;
  /** By device id: the dual potential of the proof; 0 for devices without slots. */
  readonly potentials: Int32Array;
  /** When not optimal: devices that can exchange slots in a cycle and save one move. */
  readonly cycle: readonly number[];
}

interface CertifyInput {
  /** The table before; rows may be longer or shorter than in `after`. */
  readonly before: Table;
  readonly after: Table;
  readonly state: BuilderState;
  readonly problem?: PlacementProblem;
}

/** Linear in the slots, and in the changed partitions per pass. Throws REPLICAS_EXCEED_DEVICES. */
export function certify(input: CertifyInput): Certificate {
  const tables = withoutEmpty(input);
  const { tree, targets } = input.problem ?? problemOf({ ...tables, state: input.state });
  const graph = certificateGraph(tree, targets, tables);
  const { faults, moves, changed } = scanTables(graph);
  const potentials = new Int32Array(input.state.devices.length);
  const pinned = targets.own !== undefined;
  if (faults.length > 0) {
    return { optimal: false, moves, pinned, faults, passes: 0, potentials, cycle: [] };
  }
  const { converged, passes, cycle } = findPotentials(graph, changed);
  graph.potential.forEach((value, leaf) => {
    potentials[tree.deviceIds[leaf]!] = value;
  });
  return {
    optimal: converged,
    moves,
    pinned,
    faults,
    passes,
    potentials,
    cycle: cycle.map((leaf) => tree.deviceIds[leaf]!),
  };
}

/** Removes the columns of split or merged partitions, which have no devices, from both tables. */
function withoutEmpty({ before, after }: CertifyInput): Pick<CertifyInput, 'before' | 'after'> {
  const [first] = after;
  if (first === undefined || !first.includes(noDeviceIn(first))) return { before, after };
  const isHeld = (_: number, column: number): boolean => deviceIn(first, column) !== undefined;
  const withoutUnheld = (table: Table): Table => table.map((row) => row.filter(isHeld));
  return { before: withoutUnheld(before), after: withoutUnheld(after) };
}

function problemOf({ before, after, state }: CertifyInput): PlacementProblem {
  const head = ringOf(before.length > 0 ? before : after);
  const problem =
    before.length > 0
      ? heldProblem(placementProblem(state), state, head)
      : placementProblem(withoutHeld(state));
  const width = Math.ceil(state.replicas);
  return pinnedProblem(problem, state, () => placementOf(head, problem.tree, width));
}

function ringOf(table: Table): Pick<Ring, 'partitions' | 'replicas' | 'table'> {
  const partitions = table[0]?.length ?? 0;
  const slots = table.reduce((sum, row) => sum + row.length, 0);
  return { partitions, replicas: slots / partitions, table };
}
