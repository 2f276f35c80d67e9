// The name of a partition in messages. A plan of a ring with retired ids numbers its columns. Pure.
import type { BuilderState } from './builder-state.ts';

/** Returns the partition id of a column; the column itself unless the state is dense. */
export function namedPartition(
  { columnIds }: Pick<BuilderState, 'columnIds'>,
  column: number,
): number {
  return columnIds?.[column] ?? column;
}
