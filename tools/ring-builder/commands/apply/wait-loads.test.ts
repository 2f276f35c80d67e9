// Tests when moves count as stalled, and that the moves that are available are still returned.
import { mkdtemp, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commitVersion } from '@ringwright/repository/commit-version';
import { readVersion } from '@ringwright/repository/folder/read-version';
import type { Move } from '@ringwright/ring/move';
import { expect, test } from 'vitest';
import { sharedRepository } from '../../../../test/support/shared-repository.ts';
import {
  nextVersion,
  scratchRings,
  stageDevices,
} from '../../../../test/support/small-repository.ts';
import type { MoveRow } from '../../moves/move-rows.ts';
import type { RingStatus } from '../../servers/server-status.ts';
import { waitForLoads } from './wait-loads.ts';

function moveOf(partition: number): Move {
  const where = { partition, replica: 0, from: 0, to: 3, assignment: 10 + partition };
  return { ...where, state: 'INITIALIZING' };
}

/** The joiner answers; its moves are in the rows. */
const joiner = { first: [], paused: [], draining: [], failing: [], loads: [] };

/**
 * Runs waitForLoads. `looks`: the answers of the joiners at each look; the last one repeats.
 * `others`: the bytes that the joiner has loaded of another ring at a look.
 */
async function waitWith(looks: readonly Partial<MoveRow>[][], others: (look: number) => number[]) {
  const rings = await scratchRings();
  await stageDevices(rings);
  await commitVersion(rings, await nextVersion(rings));
  return waitIn(rings, looks, others);
}

async function waitIn(
  rings: string,
  looks: readonly Partial<MoveRow>[][],
  others: (look: number) => number[],
) {
  const head = await readVersion(rings, 'cities', 'head');
  const moves = [moveOf(0), moveOf(1)];
  let asked = 0;
  const look = () => {
    const said = looks[Math.min(asked, looks.length - 1)]!;
    asked += 1;
    const rows = moves.map((move, index): MoveRow => {
      const load = { stage: 'queued', bytes: 0, bytesTotal: 9, rows: 0, first: false } as const;
      return { ...move, ...load, reason: '', ...said[index] };
    });
    const otherLoads = others(asked).map((bytes, partition) => {
      return { ring: 'places', partition, assignment: 1, stage: 'copying', bytes, rows: 0 };
    });
    const statuses = new Map([[3, { ...joiner, otherLoads } as unknown as RingStatus]]);
    return Promise.resolve({ statuses, rows });
  };
  const watch = { look, pause: () => Promise.resolve(), show: () => undefined };
  const context = { rings, user: 'ada', nowMs: () => 2 * asked };
  return { ...(await waitForLoads(context, { head, moves, watch, stallMs: 6 })), asked };
}

const none = (): number[] => [];
const available = { stage: 'available', bytes: 9 } as const;
const failed = { stage: 'failed', reason: 'the disk is full' } as const;

test('a load that keeps failing is reported, and the other move is available', async () => {
  const trying = Array.from({ length: 20 }, (_, turn) =>
    turn % 2 === 0 ? [available, failed] : [available, { stage: 'reserving' } as const],
  );
  const { stall, asked, ...loads } = await waitWith(trying, none);
  expect(loads.available.map(({ partition }) => partition)).toEqual([0]);
  expect(stall).toMatchObject({ code: 'ROLLOUT_STALLED', details: { available: 1, moves: 2 } });
  expect(stall?.message).toContain('partition 1');
  expect(asked).toBeLessThan(10);
});

test('complete copies that fail count as progress only three times', async () => {
  const copy = ['reserving', 'copying', 'verifying', 'failed'] as const;
  const trying = Array.from({ length: 80 }, (_, turn) => [
    available,
    { stage: copy[turn % 4]!, bytes: 3 * (turn % 4), reason: 'too few holders' },
  ]);
  const { stall, asked } = await waitWith(trying, none);
  expect(stall).toMatchObject({ code: 'ROLLOUT_STALLED', details: { available: 1, moves: 2 } });
  expect(stall?.hint).toContain('ring-builder moves cities force PARTITION --reason');
  expect(asked).toBeGreaterThan(12);
  expect(asked).toBeLessThan(24);
});

test('received bytes are progress, and nothing stalls if all moves are available', async () => {
  const copying = [1, 2, 3, 4, 5, 6, 7].map((bytes) => [
    available,
    { stage: 'copying', bytes } as const,
  ]);
  const { stall, available: ready } = await waitWith([...copying, [available, available]], none);
  expect([stall, ready.length]).toEqual([null, 2]);
});

test('moves that wait for the loads of another ring do not stall', async () => {
  const waiting = Array.from({ length: 20 }, () => []);
  const { stall, asked } = await waitWith([...waiting, [available, available]], (look) => [look]);
  expect([stall, asked]).toEqual([null, 21]);
});

test('loads of another ring are no progress if they begin anew, or if no move waits', async () => {
  const anew = await waitWith([[]], (look) => [look % 3]);
  expect(anew.stall).toMatchObject({ code: 'ROLLOUT_STALLED' });
  const failing = await waitWith([[available, failed]], (look) => [look]);
  expect(failing.stall).toMatchObject({ code: 'ROLLOUT_STALLED' });
});

test('moves that another working copy has ended do not stall', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ringwright-heads-'));
  const shared = await sharedRepository(`dir:${folder}`);
  await stageDevices(shared.rings);
  await commitVersion(shared.rings, await nextVersion(shared.rings));
  const other = await shared.copy();
  await commitVersion(other, { ...(await nextVersion(other)), override: 'a test' });
  expect(await waitIn(shared.rings, [[]], none)).toMatchObject({ headMoved: true });
  // The store fails: what is known here counts.
  await rename(join(folder, 'cities'), join(folder, 'away'));
  await writeFile(join(folder, 'cities'), 'no folder');
  const alone = await waitIn(shared.rings, [[]], none);
  expect(alone).toMatchObject({ headMoved: false, stall: { code: 'ROLLOUT_STALLED' } });
});
