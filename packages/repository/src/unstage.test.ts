// Removing single staged commands: the others keep their meaning, or the removal is refused.
import { applyChanges } from '@ringwright/builder/state/apply-changes';
import type { Change } from '@ringwright/builder/state/change';
import { expect, test } from 'vitest';
import {
  author,
  device,
  emptyState,
  scratchRings,
} from '../../../test/support/small-repository.ts';
import { openRing } from './open-ring.ts';
import { replayStaged } from './replay-staged.ts';
import { stage, stagedCommands, unstage } from './stage-changes.ts';
import { verifyRepository } from './verify/verify-repository.ts';

/** Stages four commands: 1 adds d0, 2 adds d1, 3 sets the weight of d1, and 4 that of d0. */
async function staged(): Promise<{ rings: string; ring: string }> {
  const place = { rings: await scratchRings(), ring: 'cities' };
  const changes: readonly Change[] = [
    { kind: 'add', device: device(0) },
    { kind: 'add', device: device(1) },
    { kind: 'set-weight', id: 1, weight: 7 },
    { kind: 'set-weight', id: 0, weight: 5 },
  ];
  for (const [at, change] of changes.entries()) {
    const request = { command: `command ${at + 1}`, changesOf: () => [change] };
    await stage(place, { ...author, user: `user${at + 1}@db1` }, request);
  }
  return place;
}

const commandsIn = async ({ rings, ring }: { rings: string; ring: string }) =>
  stagedCommands((await openRing(rings, ring)).staged).map(({ command, user }) => [command, user]);

test('the other commands stay with their authors when one is unstaged', async () => {
  const place = await staged();
  const dropped = await unstage(place, author, [3]);
  expect(dropped.map(({ command }) => command)).toEqual(['command 3']);
  expect(await commandsIn(place)).toEqual([
    ['command 1', 'user1@db1'],
    ['command 2', 'user2@db1'],
    ['command 4', 'user4@db1'],
  ]);
  expect(await verifyRepository(place.rings, 'cities', null)).toMatchObject({ findings: [] });
});

test('a command that a later one needs is unstaged only together with it', async () => {
  const place = await staged();
  const before = await commandsIn(place);
  const refused = unstage(place, author, [1]);
  await expect(refused).rejects.toMatchObject({ code: 'STAGED_NEEDED', exit: 3 });
  await expect(refused).rejects.toThrow('command 4');
  expect(await commandsIn(place)).toEqual(before);
  await unstage(place, author, [1, 4]);
  // The device that was d1 is now d0, also in the command that sets its weight.
  const { staged: left } = await openRing(place.rings, 'cities');
  expect(stagedCommands(left).flatMap(({ changes }) => changes)).toMatchObject([
    { kind: 'add', device: { id: 0, ip: '10.0.0.1' } },
    { kind: 'set-weight', id: 0, weight: 7 },
  ]);
  expect(await commandsIn(place)).toEqual([
    ['command 2', 'user2@db1'],
    ['command 3 # d1 is now d0', 'user3@db1'],
  ]);
  expect(await verifyRepository(place.rings, 'cities', null)).toMatchObject({ findings: [] });
});

test.each([[[0]], [[5]], [[1.5]], [[-1]]])('unstaging command %j is refused', async (numbers) => {
  const place = await staged();
  await expect(unstage(place, author, numbers)).rejects.toMatchObject({ code: 'USAGE' });
  expect(await commandsIn(place)).toHaveLength(4);
});

test('unstaging all commands keeps the creation of the ring', async () => {
  const place = await staged();
  expect(await unstage(place, author, 'all')).toHaveLength(4);
  const { staged: left } = await openRing(place.rings, 'cities');
  expect(left).toEqual([{ command: 'ring-builder create cities', changes: [] }]);
});

test('a replay never applies the weight of a refused device to another one', () => {
  const onto = { ...emptyState, devices: [{ ...device(9), id: 0, state: 'active' as const }] };
  const entries = [
    { command: 'twin', changes: [{ kind: 'add' as const, device: { ...device(9), id: 0 } }] },
    { command: 'other', changes: [{ kind: 'add' as const, device: { ...device(3), id: 1 } }] },
    { command: 'twin weight', changes: [{ kind: 'set-weight' as const, id: 0, weight: 1 }] },
  ];
  const { staged: fitting, refused } = replayStaged(entries, { from: emptyState, onto });
  expect(fitting.map(({ command }) => command)).toEqual(['other']);
  expect(refused.map(({ command }) => command)).toEqual(['twin', 'twin weight']);
});

const two = {
  ...emptyState,
  devices: [0, 1].map((id) => ({ ...device(id), state: 'active' as const })),
};
const ramp = { target: 9, step: 1, fromHour: 1, untilHour: 2 };

test.each<[Change, Change, string | null]>([
  [
    { kind: 'set-device', id: 0, fields: { zone: 7 } },
    { kind: 'set-device', id: 0, fields: { zone: 8 } },
    'the zone of d0 was 0 and is now 8',
  ],
  [
    { kind: 'set-device', id: 0, fields: { zone: 7 } },
    { kind: 'set-device', id: 0, fields: { zone: 7, meta: 'same zone, other field' } },
    null,
  ],
  [
    { kind: 'hold', id: 0, hold: 'maintenance' },
    { kind: 'hold', id: 0, hold: 'no-target' },
    'the hold of d0 was not set and is now "no-target"',
  ],
  [
    { kind: 'set-weight', id: 0, weight: 5 },
    { kind: 'ramp', id: 0, ramp },
    `the ramp of d0 was not set and is now ${JSON.stringify(ramp)}`,
  ],
  [
    { kind: 'pin', pin: { partition: 3, on: [0], off: [] } },
    { kind: 'pin', pin: { partition: 3, on: [1], off: [] } },
    'the pin of partition 3 was not set and is now {"partition":3,"on":[1],"off":[]}',
  ],
  [
    { kind: 'set', settings: { partitionPower: 4 } },
    { kind: 'set', settings: { partitionPower: 5 } },
    'the number of partitions was 4 and is now 32',
  ],
  [{ kind: 'hold', id: 0, hold: 'maintenance' }, { kind: 'hold', id: 1, hold: 'no-target' }, null],
  [
    { kind: 'set', settings: { zonesMin: 0, overload: 0.1 } },
    { kind: 'set', settings: { zonesMin: 0, overload: 0.1 } },
    null,
  ],
])('staged %j, committed by others %j: %s', (own, other, reason) => {
  const entries = [{ command: 'own', changes: [own] }];
  const { staged: fitting, refused } = replayStaged(entries, {
    from: two,
    onto: applyChanges(two, [other]),
  });
  expect(refused).toEqual(reason === null ? [] : [{ command: 'own', reason }]);
  expect(fitting).toEqual(reason === null ? entries : []);
});
