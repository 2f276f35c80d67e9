// Tests random operations on two stores, with crashes, copies and drops, against a model made of
// maps.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  copyPartition,
  cutUnfinished,
  cutWals,
  type Scratch,
  scratch,
  textOf,
  write,
} from '../test/support/scratch-store.ts';
import type { Store } from './store.ts';

/** Small limits, so that segments, checkpoints and closing of files happen within a few writes. */
const LIMITS = {
  logSegmentBytesMax: 600,
  logSegmentsBehindMax: 1,
  logBatchWritesMax: 3,
  openPartitionFilesMax: 2,
  walBytesMax: 30_000,
  mergeRowsMax: 3,
  memtableRowsMax: 2,
  memtablesBytesMax: 6_000,
};
const PARTITIONS = [0, 1, 2];
const KEYS = ['a', 'b', 'c', 'd', 'e', 'f'];

/** The oracle: the newest write of each key. Writes with equal stamps have equal values. */
type Rows = Map<string, { ms: number; value: string | null }>;
/**
 * A partition of one store. A promise, by key, refuses older records until a record at least as new
 * is written.
 */
interface There {
  readonly rows: Rows;
  readonly promises: Map<string, number>;
  state: string;
  isCopied: boolean;
}
type Model = Map<number, There>;

interface Side {
  place: Scratch;
  store: Store;
  model: Model;
}

const side = fc.integer({ min: 0, max: 1 });
const partition = fc.constantFrom(...PARTITIONS);
/** A partition that is `filling` has its first rows in memory. */
const state = fc.constantFrom('filling' as const, 'ready' as const);
const operation = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('write' as const),
      side,
      writes: fc.array(
        fc.record({
          partition,
          key: fc.constantFrom(...KEYS),
          ms: fc.integer({ min: 1, max: 60 }),
          isPreparedBallot: fc.integer({ min: 0, max: 5 }).map((number) => number === 0),
        }),
        { minLength: 1, maxLength: 9 },
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('create' as const), side, partition, state }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('state' as const), side, partition, state }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const), side, partition }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen' as const), side }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('crash' as const),
      side,
      /**
       * A killed process leaves whole WALs; a power loss may take them. A cut at any other place
       * would be wrong here: a checkpoint syncs what it moves, and no power loss takes synced
       * bytes.
       */
      walsLost: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('copy' as const), side, partition }) },
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

function valueOf(key: string, ms: number): string | null {
  return ms % 5 === 0 ? null : `${key}@${ms}`.padEnd(ms % 7 === 0 ? 2_000 : 10);
}

interface Change {
  readonly key: string;
  readonly ms: number;
  readonly isPreparedBallot: boolean;
}

function merge(model: Model, number: number, { key, ms, isPreparedBallot }: Change): string {
  const there = model.get(number);
  if (there === undefined) return 'absent';
  const held = there.rows.get(key);
  if (held !== undefined && held.ms === ms) return 'same';
  if (held !== undefined && held.ms > ms) return 'stale';
  if ((there.promises.get(key) ?? 0) > ms) return 'promised';
  if (isPreparedBallot) there.promises.set(key, ms);
  else {
    there.rows.set(key, { ms, value: valueOf(key, ms) });
    there.promises.delete(key);
  }
  return 'applied';
}

/** Merges a copy: its records are taken whatever was promised here, and its promises are kept. */
function mergeCopy(model: Model, number: number, from: There): void {
  const there = model.get(number);
  if (there === undefined) return;
  there.isCopied = true;
  const mine = [...there.promises];
  there.promises.clear();
  for (const [key, { ms }] of from.rows) merge(model, number, { key, ms, isPreparedBallot: false });
  for (const [key, ms] of [...from.promises, ...mine]) {
    merge(model, number, { key, ms, isPreparedBallot: true });
  }
}

async function perform(sides: [Side, Side], step: Operation): Promise<void> {
  const on = sides[step.side === 0 ? 0 : 1];
  const other = sides[step.side === 0 ? 1 : 0];
  switch (step.kind) {
    case 'write': {
      const writes = step.writes.map(({ key, ms, isPreparedBallot, partition: number }) => ({
        ...write(key, isPreparedBallot ? null : valueOf(key, ms), ms, number),
        isPreparedBallot,
      }));
      const outcomes = await on.store.write(writes);
      const expected = step.writes.map((each) => merge(on.model, each.partition, each));
      expect(outcomes.map(({ kind }) => kind)).toEqual(expected);
      return;
    }
    case 'create':
      if (on.model.has(step.partition)) return;
      await on.store.create('test', step.partition, step.state);
      on.model.set(step.partition, {
        ...{ rows: new Map(), promises: new Map() },
        ...{ state: step.state, isCopied: false },
      });
      return;
    case 'state': {
      const there = on.model.get(step.partition);
      if (there === undefined) return;
      await on.store.setState('test', step.partition, step.state);
      there.state = step.state;
      return;
    }
    case 'drop':
      if (!on.model.delete(step.partition)) return;
      await on.store.drop('test', step.partition);
      return;
    case 'reopen':
      await on.store.close();
      on.store = await on.place.open(LIMITS);
      return;
    case 'crash': {
      const infos = on.store.list();
      const image = on.place.image();
      if (step.walsLost) {
        cutWals(image.directory, () => 0);
        cutUnfinished(image.directory);
      }
      await on.store.close();
      on.place = image;
      on.store = await image.open(LIMITS);
      // Sequence numbers stay valid for peers that confirmed them: they are the same, or higher
      // after a copy was merged with rows of which the log has all versions.
      for (const { seq, ...info } of infos) {
        const isCopied = on.model.get(info.partition)?.isCopied;
        const found = on.store.info('test', info.partition);
        expect(found).toMatchObject(isCopied ? info : { ...info, seq });
        expect(found?.seq).toBeGreaterThanOrEqual(seq);
      }
      return;
    }
    case 'copy': {
      const from = on.model.get(step.partition);
      if (from === undefined || !other.model.has(step.partition)) return;
      await copyPartition(on.store, other.store, step.partition);
      mergeCopy(other.model, step.partition, from);
    }
  }
}

function compare({ store, model }: Side): void {
  const numbers = store.list().map((info) => info.partition);
  expect(new Set(numbers)).toEqual(new Set(model.keys()));
  for (const [number, { rows, promises, state: known }] of model) {
    const kept = store.preparedBallots('test', number).map(({ key, ms }) => [key.toString(), ms]);
    expect(Object.fromEntries(kept)).toEqual(Object.fromEntries(promises));
    for (const key of KEYS) expect(textOf(store, key, number)).toBe(rows.get(key)?.value);
    const all = store.rowsSince('test', number, 0, { rowsMax: 100, bytesMax: 1e9 });
    expect(all.rows.map(({ key }) => key.toString()).sort()).toEqual([...rows.keys()].sort());
    const live = [...rows.values()].filter(({ value }) => value !== null);
    const info = store.info('test', number);
    const counts = { rows: live.length, tombstones: rows.size - live.length };
    expect(info).toMatchObject({ ...counts, state: known });
    expect(info?.bytes).toBe(live.reduce((sum, { value }) => sum + (value?.length ?? 0), 0));
  }
}

test('two stores behave like two maps, through crashes, copies, drops and reopening', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(operation, { minLength: 1, maxLength: 25, size: 'max' }),
      async (steps) => {
        await using first = scratch();
        await using second = scratch();
        const make = async (place: Scratch): Promise<Side> => {
          return { place, store: await place.open(LIMITS), model: new Map() };
        };
        const sides: [Side, Side] = [await make(first), await make(second)];
        for (const step of steps) {
          await perform(sides, step);
          for (const each of sides) compare(each);
        }
      },
    ),
    { numRuns: 60 },
  );
}, 240_000);
