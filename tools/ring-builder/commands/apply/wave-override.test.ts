// Tests how the change guard judges later waves of a commit. A search over random weights found
// these commits, whose second wave alone is a large change.
import path from 'node:path';
import { guardMovedShareMax } from '@ringwright/base/limits';
import { nextRing } from '@ringwright/builder/plan/next-ring';
import { planVersion } from '@ringwright/builder/plan/plan-version';
import { readLog } from '@ringwright/repository/folder/read-log';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { finalizeMoves, initializeMoves } from '@ringwright/ring/advance-ring';
import { auditRing } from '@ringwright/ring/audit/audit-ring';
import { changeSize, whyLarge } from '@ringwright/ring/audit/large-change';
import { expect, test } from 'vitest';
import { ringBuilderIn } from '../../../../test/support/ring-builder-program.ts';
import { waveOverride } from './propose-next-wave.ts';

/** Commits the changes in a ring that servers may know. Returns the folder of rings. */
async function committed(weights: readonly number[], changes: string[], override = '') {
  const first = await ringBuilderIn();
  await first.json('create cities --partition-power 3 --replicas 3 --min-part-hours 0');
  const devices = weights.map((w, id) => `r1z${id + 1}-10.0.0.${id + 1}:6200/sdb ${w}`);
  await first.json(`add cities ${devices.join(' ')}`);
  await first.json('commit cities -m first');
  const tool = await ringBuilderIn();
  await tool.json(`restore --from ${first.folder}/rings/cities/versions/0000001.ring`);
  for (const change of changes) await tool.json(change);
  await tool.json(`commit cities -m change${override}`);
  return path.join(tool.folder, 'rings');
}

/** Plans the second wave after the first is done. Returns why it is large, and its override. */
async function secondWave(rings: string, withReason = true) {
  const stored = await readVersion(rings, 'cities', 'head');
  const { id, state } = stored;
  const head = finalizeMoves(initializeMoves(stored.ring, id), id);
  const from = { head, headId: id, state: state!, direct: false };
  const ring = nextRing(planVersion({ ...from, versionHours: new Map(), nowHours: 1e6 }), from);
  expect(auditRing(ring)).toEqual([]);
  const why = whyLarge(changeSize(head, ring), guardMovedShareMax);
  const logged = await readLog(rings, 'cities');
  // Older programs accepted commits whose first wave alone looked small, without a reason.
  const entries = withReason ? logged : logged.map((entry) => ({ ...entry, details: {} }));
  return {
    why,
    override: await waveOverride(rings, { head: { ...stored, ring: head }, ring, entries }),
  };
}

test('a second wave that alone looks large passes if the whole change is small', async () => {
  const rings = await committed(
    [1, 2, 2, 0.5, 2],
    ['remove cities d0', 'set-weight cities d1 0.5'],
  );
  const { why, override } = await secondWave(rings);
  expect(why).toBe('2 of 24 slots move, at most 1 allowed');
  expect(override).toBe('a later wave of version 2: no large change with it');
});

test('a commit that is large with its waves is blocked, as is a wave without reason', async () => {
  const weights = [2, 2, 0.5, 2, 0.5, 0.5];
  const changes = ['remove cities d2', 'set-weight cities d3 1'];
  await expect(committed(weights, changes)).rejects.toThrow(
    '4 of 24 slots move, 2 of them explained by what d2 gives away',
  );
  const rings = await committed(weights, changes, ' --override meant');
  const { why, override } = await secondWave(rings, false);
  expect([why === null, override]).toEqual([false, null]);
});

test('the override of a large commit applies to its later waves', async () => {
  const weights = [1, 1, 1, 1, 1];
  const changes = ['remove cities d0', 'remove cities d1'];
  const rings = await committed(weights, changes, ' --override meant');
  const { override } = await secondWave(rings);
  expect(override).toBe('meant');
});
