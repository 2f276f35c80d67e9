// Tests composite rings whose components split or merge partitions and move slots: what one compose
// applies, what it leaves for the next one, and that its output says so.
import { expect, test } from 'vitest';
import { composedRing, rowsOf } from '../../../../test/support/composed-ring.ts';
import { notePush } from '../../../../test/support/note-push.ts';
import type { RingBuilderHere } from '../../../../test/support/ring-builder-here.ts';

test('compose applies splits of the components first, and their moves the next time', async () => {
  const tool = await composedRing();
  for (const name of ['east', 'west']) await split(tool, name, 5);
  await tool.json('set-weight east d0 2');
  expect(await tool.json('commit east -m wider')).toMatchObject({ moved: 8 });

  const first = await tool.answer('compose both east west');
  expect(first.json).toMatchObject({
    ...{ version: 2, moved: 96, slotsLater: 8 },
    components: [{ version: 1 }, { version: 1 }],
  });
  expect(first.lines.join('\n')).toContain(
    'its slots are still those of east 1, west 1: 8 slots that they moved follow',
  );
  expect(first.next).toBe('ring-builder compose both east west');
  expect(await rowsOf(tool, 'both')).not.toEqual(await rowsOf(tool, 'east', 'west'));

  const second = await tool.answer('compose both east west');
  expect(second.json).toMatchObject({
    ...{ version: 3, moved: 8, slotsLater: 0 },
    components: [{ version: 3 }, { version: 2 }],
  });
  expect(await rowsOf(tool, 'both')).toEqual(await rowsOf(tool, 'east', 'west'));
  expect(await tool.json('compose both east west')).toMatchObject({ changed: false });
  expect(await tool.json('verify both')).toMatchObject({ findings: [] });
});

test('splits without moves are applied by one compose', async () => {
  const tool = await composedRing();
  for (const name of ['east', 'west']) await split(tool, name, 5);
  const answer = await tool.answer('compose both east west');
  expect(answer.json).toMatchObject({
    slotsLater: 0,
    components: [{ version: 2 }, { version: 2 }],
  });
  expect(await rowsOf(tool, 'both')).toEqual(await rowsOf(tool, 'east', 'west'));
  expect(await tool.json('compose both east west')).toMatchObject({ changed: false });
});

test('a device that a component removed after a split leaves by the second compose', async () => {
  const tool = await composedRing();
  for (const name of ['east', 'west']) await split(tool, name, 5);
  await tool.json('remove east d0');
  await tool.json('commit east -m smaller');
  await tool.json('compose both east west');
  expect(await tool.json('verify both')).toMatchObject({ findings: [] });
  await tool.json('compose both east west');
  expect(await rowsOf(tool, 'both')).toEqual(await rowsOf(tool, 'east', 'west'));
});

test('if servers have the ring, compose proposes the splits and suggests rollout', async () => {
  const tool = await composedRing();
  await notePush(tool.folder, 'both');
  for (const name of ['east', 'west']) await split(tool, name, 5);
  await tool.json('set-weight east d0 2');
  await tool.json('commit east -m wider');
  const answer = await tool.answer('compose both east west');
  expect(answer.lines[0]).toMatch(/: 96 moves proposed$/);
  expect(answer.next).toBe('ring-builder rollout both');
});

test('compose refuses to merge partitions whose slots still differ in its own table', async () => {
  const tool = await composedRing();
  for (const name of ['east', 'west']) await split(tool, name, 5);
  await tool.json('set-weight east d0 2');
  await tool.json('commit east -m wider');
  await tool.json('compose both east west');
  await tool.json('compose both east west');
  // In east, pins first move the partitions to merge together: this takes a version of its own.
  await split(tool, 'east', 4);
  for (const name of ['east', 'west']) await split(tool, name, 4);
  await expect(tool.json('compose both east west')).rejects.toMatchObject({
    code: 'COMPONENTS_UNFIT',
    message: expect.stringMatching(/^partitions \d+ and \d+ are merged, but lie apart in both$/),
  });
  for (const name of ['east', 'west']) await split(tool, name, 5);
  await tool.json('compose both east west');
  await tool.json('compose both east west');
  for (const name of ['east', 'west']) await split(tool, name, 4);
  expect(await tool.json('compose both east west')).toMatchObject({ slotsLater: 0 });
  expect(await rowsOf(tool, 'both')).toEqual(await rowsOf(tool, 'east', 'west'));
});

async function split(tool: RingBuilderHere, name: string, power: number): Promise<void> {
  await tool.json(`set ${name} --partition-power ${power}`);
  await tool.json(`commit ${name} -m ${power}`);
}
