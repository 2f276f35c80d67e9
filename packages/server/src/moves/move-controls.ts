// Which moves an operator has paused, put first or forced. Durable: a restart must not resume what
// somebody stopped, perhaps because the disk was filling up.
import { join } from 'node:path';
import type { Move } from '@ringwright/ring/move';
import type { MoveAction } from '@ringwright/wire/moves';
import { z } from 'zod';
import { LatestState, readState } from '../device/state-file.ts';

const controlsSchema = z.strictObject({
  format: z.literal(1),
  /** Assignment ids by keyspace; `first` in order of priority. */
  keyspaces: z.record(
    z.string(),
    z.strictObject({
      paused: z.array(z.int()),
      first: z.array(z.int()),
      /** Valid until the partition serves: a later refill may not make do with less. */
      forced: z.array(
        z.strictObject({
          /** Null for a refill, which belongs to no move. */
          assignment: z.nullable(z.int()),
          partition: z.int(),
          reason: z.string(),
        }),
      ),
    }),
  ),
});
type Control = z.infer<typeof controlsSchema>['keyspaces'][string];

const emptyControl: Control = { paused: [], first: [], forced: [] };

export class MoveControls {
  readonly #controls: Map<string, Control>;
  readonly #state: LatestState<typeof controlsSchema>;

  private constructor(file: string, controls: Map<string, Control>) {
    this.#controls = controls;
    const stored = () => ({ format: 1, keyspaces: Object.fromEntries(controls) }) as const;
    this.#state = new LatestState(file, controlsSchema, stored);
  }

  /** Throws DISK_FAILED when the notes cannot be read. */
  static async load(directory: string): Promise<MoveControls> {
    const file = join(directory, 'moves.json');
    const stored = await readState(file, controlsSchema);
    return new MoveControls(file, new Map(Object.entries(stored?.keyspaces ?? {})));
  }

  of(keyspace: string): Control {
    return this.#controls.get(keyspace) ?? emptyControl;
  }

  isPaused(keyspace: string, assignment: number): boolean {
    return this.of(keyspace).paused.includes(assignment);
  }

  /** Higher goes first; 0 if the move was not put first. */
  priority(keyspace: string, assignment: number): number {
    const { first } = this.of(keyspace);
    const index = first.indexOf(assignment);
    return index < 0 ? 0 : first.length - index;
  }

  /**
   * Returns why a partition may join or refill without all records; null if it may not. For a move,
   * only a reason given for that move counts.
   */
  forceReason(keyspace: string, partition: number, assignment: number | null): string | null {
    const found = this.of(keyspace).forced.findLast(
      (one) => one.partition === partition && (assignment ?? one.assignment) === one.assignment,
    );
    return found?.reason ?? null;
  }

  /**
   * Durable when it resolves. Drops notes of moves that are no longer in flight and were not named:
   * assignment ids never come back.
   */
  async change(
    keyspace: string,
    action: MoveAction,
    order: {
      readonly moves: readonly Pick<Move, 'assignment' | 'partition'>[];
      /** Partitions to refill with what there is; for the action `force` only. */
      readonly refills?: readonly number[];
      readonly inFlight: ReadonlySet<number>;
      readonly reason: string | null;
    },
  ): Promise<void> {
    const { moves, refills = [], inFlight, reason } = order;
    const assignments = moves.map(({ assignment }) => assignment);
    const { paused, first, forced } = this.of(keyspace);
    const targets: { readonly assignment: number | null; readonly partition: number }[] = [
      ...moves.map(({ assignment, partition }) => ({ assignment, partition })),
      ...refills.map((partition) => ({ assignment: null, partition })),
    ];
    const without = (ids: readonly number[]): number[] =>
      ids.filter((id) => inFlight.has(id) && !assignments.includes(id));
    const pausedInFlight = paused.filter((id) => inFlight.has(id));
    const next: Control = {
      paused:
        action === 'pause'
          ? [...without(paused), ...assignments]
          : action === 'resume'
            ? without(paused)
            : pausedInFlight,
      first: action === 'prioritise' ? [...assignments, ...without(first)] : first,
      forced:
        action === 'force' && reason !== null
          ? [...forced, ...targets.map((one) => ({ ...one, reason }))]
          : forced,
    };
    this.#controls.set(keyspace, next);
    await this.#state.save();
  }

  /** To be called when the partition serves: from now on it is like any other. */
  async endForce(keyspace: string, partition: number): Promise<void> {
    const control = this.of(keyspace);
    const forced = control.forced.filter((one) => one.partition !== partition);
    if (forced.length === control.forced.length) return;
    this.#controls.set(keyspace, { ...control, forced });
    await this.#state.save();
  }
}
