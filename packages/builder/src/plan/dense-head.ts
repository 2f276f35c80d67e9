// A ring whose partitions were split or merged has columns without devices. The builder plans a
// dense ring without them, and then maps the plan back to the original partition ids. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { liveIds } from '@ringwright/ring/partitioner/live-ids';
import { type IntervalPartitioner, isIntervals } from '@ringwright/ring/partitioner/partitioner';
import { noDeviceIn, type Ring, type Table } from '@ringwright/ring/ring';
import type { BuilderState } from '../state/builder-state.ts';
import type { LaterWaves, Plan, PlannedMove } from './plan.ts';
import { planDigest } from './plan-digest.ts';

interface DenseHead {
  readonly head: Ring;
  readonly state: BuilderState;
  /** Partition ids by column. */
  readonly ids: readonly number[];
}

/** Returns null when every column has a partition. Throws RESHAPE_UNFIT for fractional replicas. */
export function denseHead(head: Ring, state: BuilderState): DenseHead | null {
  const live = liveIds(head.partitioner);
  if (live === null || !isIntervals(head.partitioner)) return null;
  if (!Number.isInteger(state.replicas)) {
    const { ring, replicas } = state;
    const what = `${ring} has unused partition ids after splits or merges`;
    throw new CodedError('RESHAPE_UNFIT', `${what}: ${replicas} replicas are not a whole number`, {
      hint:
        `ring-builder set ${ring} --replicas N, a whole number; if one more moves too many slots ` +
        'for one version, use commit --direct if no server has the ring',
      details: { before: head.replicas, after: replicas },
    });
  }
  const ids = [...live.keys()].filter((id) => live[id] === 1);
  const columnOf = new Map(ids.map((id, column) => [id, column]));
  const column = (id: number): number => columnOf.get(id) ?? -1;
  const partitioner = densePartitioner(head.partitioner, column, ids.length);
  const { pins, sizes } = state;
  return {
    ids,
    head: {
      ...head,
      partitioner,
      partitions: ids.length,
      reshape: undefined,
      table: head.table.map((row) => row.filter((_, id) => live[id] === 1)),
      minVersions: head.minVersions.filter((_, id) => live[id] === 1),
      moves: head.moves.map((move) => ({ ...move, partition: column(move.partition) })),
    },
    state: {
      ...state,
      partitioner,
      columnIds: ids,
      ...(sizes && {
        sizes: { ...sizes, levels: ids.map((id) => sizes.levels[id] ?? null) },
      }),
      ...(pins && {
        pins: pins
          .filter(({ partition }) => columnOf.has(partition))
          .map((pin) => ({ ...pin, partition: column(pin.partition) })),
      }),
    },
  };
}

function densePartitioner(
  partitioner: IntervalPartitioner,
  column: (id: number) => number,
  partitions: number,
): IntervalPartitioner {
  const { ids, ...intervals } = partitioner;
  return { ...intervals, partitions, ...(ids && { ids: ids.map(column) }) };
}

/** Maps the plan of the dense head back to the head itself. */
export function sparsePlan(
  plan: Plan,
  { head, state }: { readonly head: Ring; readonly state: BuilderState },
  { ids }: DenseHead,
): Plan {
  const sparse = <Moves extends readonly PlannedMove[]>(moves: Moves): PlannedMove[] =>
    moves.map((move) => ({ ...move, partition: ids[move.partition] ?? -1 }));
  const [moves, later]: [PlannedMove[], LaterWaves] = [sparse(plan.moves), plan.later.map(sparse)];
  const digest = planDigest(plan.parent, state, [moves, ...later]);
  const target = sparseTable(plan.target, head.partitions, ids);
  const cut = plan.cut && { ...plan.cut, table: sparseTable(plan.cut.table, head.partitions, ids) };
  return { ...plan, moves, later, target, cut, digest };
}

function sparseTable(table: Table, partitions: number, ids: readonly number[]): Table {
  return table.map((row) => {
    const wide =
      row.BYTES_PER_ELEMENT === 2 ? new Uint16Array(partitions) : new Uint32Array(partitions);
    wide.fill(noDeviceIn(wide));
    for (const [column, device] of row.entries()) wide[ids[column] ?? 0] = device;
    return wide;
  });
}
