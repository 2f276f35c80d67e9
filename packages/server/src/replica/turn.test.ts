// Answers about many partitions yield to the event loop, however long one partition takes.
import { setImmediate } from 'node:timers/promises';
import { workTurnMsMax } from '@ringwright/base/limits-listeners';
import type { Store } from '@ringwright/partition/store';
import type { Caller } from '@ringwright/wire/call-channel';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ReplicaPorts } from './replica.ts';
import { answerDigests } from './replication-answers.ts';

let nowMs = 0;

beforeEach(() => void vi.spyOn(performance, 'now').mockImplementation(() => nowMs));
afterEach(() => void vi.restoreAllMocks());

/** Counts the turns of the event loop while the work runs. */
async function turnsOf(work: Promise<unknown>): Promise<number> {
  let isOver = false;
  void work.finally(() => (isOver = true));
  let turns = 0;
  for (; !isOver; turns += 1) await setImmediate();
  return turns;
}

test.each([0, workTurnMsMax / 4, workTurnMsMax])(
  'digests of 40 partitions yield to the event loop, at %d ms each',
  async (stepMs) => {
    const info = () => {
      nowMs += stepMs;
      return { incarnation: 'i', state: 'ready', digest: '', rows: 3, seq: 3, floorMs: 0 };
    };
    const store = { info, expired: () => Promise.resolve(1) } as unknown as Store;
    const exchange = { reach: () => Promise.resolve(null) };
    const ports = { store, exchange } as unknown as ReplicaPorts;
    const partitions = [...Array(40).keys()];
    const request = { keyspace: 'cities', ringVersion: 1, partitions, nowMs: 5 };
    const answer = answerDigests(ports, request, {} as Caller);
    const turns = await turnsOf(answer);
    expect((await answer).holdings).toHaveLength(40);
    expect((await answer).holdings).toContainEqual(
      expect.objectContaining({ rows: 3, expired: 1 }),
    );
    expect(turns).toBeGreaterThanOrEqual((40 * stepMs) / workTurnMsMax);
    if (stepMs === 0) expect(turns).toBeLessThan(5);
  },
);
