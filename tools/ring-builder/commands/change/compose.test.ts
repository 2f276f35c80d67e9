// Tests the command compose: the rows of the components in order, refusals and next commands. The
// oracle is the components' own tables, device by device.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  deviceText as device,
  makeRing as ring,
  rowsOf,
  twoRings,
} from '../../../../test/support/composed-ring.ts';
import { notePush } from '../../../../test/support/note-push.ts';
import type { RingBuilderHere } from '../../../../test/support/ring-builder-here.ts';

interface Table {
  readonly devices: readonly ({ readonly ip: string; readonly device: string } | null)[];
}

interface Composed {
  readonly version: number;
  readonly components: readonly { readonly ring: string; readonly version: number }[];
}

async function isComposed(tool: RingBuilderHere): Promise<void> {
  expect(await rowsOf(tool, 'both')).toEqual(await rowsOf(tool, 'east', 'west'));
  expect(await tool.json('verify both')).toMatchObject({ findings: [] });
}

test('the rows of a composite ring are those of its components, also after changes', async () => {
  const tool = await twoRings();
  const first = await tool.json<Composed>('compose both east west');
  expect(first).toMatchObject({
    version: 1,
    components: [
      { ring: 'east', version: 1, replicas: 2 },
      { ring: 'west', version: 1, replicas: 1 },
    ],
  });
  await isComposed(tool);
  expect(await tool.json('compose both east west')).toMatchObject({ changed: false, version: 1 });
  const { devices: before } = await tool.json<Table>('table both');
  await tool.json(['add', 'east', device(6), '9', device(7), '1']);
  await tool.json('remove east d0');
  await tool.json('commit east -m more');
  await tool.json('set-weight west d0 1');
  await tool.json('commit west -m less');
  expect(await tool.json('compose both east west -m later')).toMatchObject({ version: 2 });
  await isComposed(tool);
  const { devices: after } = await tool.json<Table>('table both');
  // A device keeps its id; a removed device leaves a hole.
  expect(after.map((one) => one?.device)).toEqual([
    ...[undefined, ...before.slice(1).map((one) => one?.device)],
    ...['sd6', 'sd7'],
  ]);
  for (const [word, command] of [
    ['add', `add both ${device(9)} 1`],
    ['plan', 'plan both'],
    ['commit', 'commit both -m x'],
    ['revert', 'revert both 1'],
  ] as const) {
    await expect(tool.json(command), word).rejects.toMatchObject({ code: 'RING_COMPOSED' });
  }
  expect(await tool.text('status both')).toContain('composed of east 2, west 2');
  for (const look of ['status both', 'list', 'log both', 'diff both 1 2', 'why both 3']) {
    await tool.json(look);
  }
});

test('components that do not fit together are refused, and no ring is created', async () => {
  const tool = await twoRings();
  await ring(tool, 'other', { replicas: 1, devices: [8], partitions: 32 });
  await ring(tool, 'shared', { replicas: 1, devices: [1] });
  await ring(tool, 'half', { replicas: 1.5, devices: [8, 9] });
  await tool.json('create empty --partitions 16 --replicas 1');
  const refused = [
    ['east other', 'COMPONENTS_UNFIT', /^east has .*"power":4.*, other has .*"power":5/],
    ['east shared', 'COMPONENTS_UNFIT', /10\.0\.0\.1:6200\/sd1 is d0 of east and d0 of shared/],
    ['east half', 'COMPONENTS_UNFIT', /half version 1 has 1\.5 replicas/],
    ['east empty', 'COMPONENTS_UNFIT', /empty has no version yet/],
    ['east nowhere', 'RING_UNKNOWN', /nowhere/],
    ['east', 'USAGE', /two other rings/],
    ['east east', 'USAGE', /two other rings/],
    ['east new', 'USAGE', /two other rings/],
  ] as const;
  for (const [names, code, message] of refused) {
    const error = expect(tool.json(`compose new ${names}`), names).rejects;
    await error.toMatchObject({ code, message: expect.stringMatching(message) });
  }
  await expect(tool.json('table new')).rejects.toMatchObject({ code: 'RING_UNKNOWN' });
  await expect(tool.json('compose other east west')).rejects.toMatchObject({ code: 'RING_EXISTS' });
});

test('a later compose must name the same rings, in order and with their history', async () => {
  const tool = await twoRings();
  await tool.json('compose both east west');
  const others = async (names: string, message: RegExp): Promise<void> => {
    const error = expect(tool.json(`compose both ${names}`), names).rejects;
    await error.toMatchObject({
      code: 'COMPONENTS_OTHER',
      message: expect.stringMatching(message),
    });
  };
  await others('west east', /of east west, not of west east/);
  await rm(join(tool.folder, 'rings', 'east'), { recursive: true });
  await ring(tool, 'east', { replicas: 2, devices: [1, 2, 6] });
  await others('east west', /version 1 of east \([0-9a-f]{12}\), which is now [0-9a-f]{12}/);
  await tool.json('add east r1z7-10.0.0.7:6200/sd7 1');
  await tool.json('commit east -m second');
  await others('east west', /version 1 of east \([0-9a-f]{12}\), which is now [0-9a-f]{12}/);
  await isStill(tool);
});

async function isStill(tool: RingBuilderHere): Promise<void> {
  const { devices } = await tool.json<Table>('table both 1');
  expect(devices.map((one) => one?.device)).toEqual(['sd1', 'sd2', 'sd3', 'sd4', 'sd5']);
}

test('a device that servers know must drain in one component before another has it', async () => {
  const tool = await twoRings();
  await tool.json('compose both east west');
  await notePush(tool.folder, 'both');
  expect(await tool.text(['add', 'west', device(1), '1'])).toContain(
    'sd1 is d0 of east, but both can use it from only one ring: before the commit, run ring-builder remove east d0 &&',
  );
  await tool.json('commit west -m takes');
  const refused = expect(tool.json('compose both east west')).rejects;
  await refused.toMatchObject({
    message: '10.0.0.1:6200/sd1 is d0 of east and d2 of west',
    hint: expect.stringContaining('ring-builder remove east d0 or ring-builder remove west d2'),
  });
  await tool.json('set-weight east d0 0');
  await tool.json('commit east -m drains');
  // The servers know the device as part of east, so it must drain there before west may fill it.
  const wayOut =
    'ring-builder remove west d2 && ring-builder commit west -m TEXT && ' +
    'ring-builder compose both east west && ring-builder rollout both; then west can have it';
  const early = expect(tool.json('compose both east west')).rejects;
  await early.toMatchObject({ code: 'COMPONENTS_UNFIT', hint: wayOut });
  await tool.json('remove west d2');
  await tool.json('commit west -m later');
  expect(await tool.json('compose both east west')).toMatchObject({ version: 2 });
});

test('in a ring that no server has, a device changes its component at once', async () => {
  const tool = await twoRings();
  await tool.json('compose both east west');
  await tool.json(['add', 'west', device(1), '1']);
  await tool.json('commit west -m takes');
  await tool.json('set-weight east d0 0');
  await tool.json('commit east -m drains');
  await tool.json('compose both east west');
  await isComposed(tool);
  const { devices } = await tool.json<Table>('table both');
  expect(devices.map((one) => one?.device)).toEqual(['sd1', 'sd2', 'sd3', 'sd4', 'sd5']);
  await tool.json('remove east d0');
  await tool.json('commit east -m gone');
  await tool.json('compose both east west');
  await isComposed(tool);
});
