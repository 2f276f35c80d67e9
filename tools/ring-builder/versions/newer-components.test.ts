// Tests what status, list and health say of a composite ring whose components have newer versions,
// and which command comes next.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { composedRing } from '../../../test/support/composed-ring.ts';
import { notePush } from '../../../test/support/note-push.ts';
import type { RingBuilderHere } from '../../../test/support/ring-builder-here.ts';

const looks = ['status both', 'list', 'health'] as const;
const again = 'ring-builder compose both east west';

test('a newer version of a component is reported until the ring follows it', async () => {
  const tool = await composedRing();
  for (const look of looks) expect(await tool.text(look), look).not.toContain('component ');
  await goOn(tool);
  for (const look of looks) {
    const { lines, next } = await tool.answer(look);
    expect(lines.join('\n'), look).toContain('component east has version 2');
    expect(next, look).toBe(again);
  }
  expect(await tool.json('status both')).toMatchObject({
    newer: [{ ring: 'east', composed: 1, newest: 2 }],
  });
  await tool.json('compose both east west');
  for (const look of looks) expect(await tool.text(look), look).not.toContain('component ');
});

test('compose stays the next command while slots are left after a split', async () => {
  const tool = await composedRing();
  for (const name of ['east', 'west']) {
    await tool.json(`set ${name} --partition-power 5`);
    await tool.json(`commit ${name} -m split`);
  }
  await goOn(tool);
  await tool.json('compose both east west');
  for (const look of looks) expect((await tool.answer(look)).next, look).toBe(again);
});

test('moves of a component come first, and a missing component is reported', async () => {
  const tool = await composedRing();
  await notePush(tool.folder, 'east');
  await goOn(tool);
  const moving = await tool.answer('status both');
  expect(moving.lines.join('\n')).toMatch(/component east has version 2 with \d+ moves in flight/);
  expect(moving.next).toBe('ring-builder rollout east');
  await rm(join(tool.folder, 'rings', 'east'), { recursive: true });
  const lost = await tool.answer('status both');
  expect(lost.lines.join('\n')).toContain('component east cannot be read (RING_UNKNOWN');
  expect(lost.next).toBe('ring-builder push both');
});

test('compose comes next after a commit of a component that is not pushed by itself', async () => {
  const tool = await composedRing();
  expect((await tool.answer('status east')).next).toBe('ring-builder status both');
  expect((await tool.answer('health')).next).toBe('ring-builder push both');
  await notePush(tool.folder, 'both');
  await tool.json('set-weight east d0 9');
  expect((await tool.answer('commit east -m wider')).next).toBe(again);
  expect((await tool.answer('status east')).next).toBe(again);
  await tool.json('compose both east west');
  // Servers also have this component as a ring of its own, so its moves come first.
  await notePush(tool.folder, 'west');
  await tool.json('set-weight west d0 9');
  const commit = ['commit', 'west', '-m', 'wider', '--override', 'test'];
  expect((await tool.answer(commit)).next).toBe('ring-builder rollout west');
});

async function goOn(tool: RingBuilderHere): Promise<void> {
  await tool.json('set-weight east d0 9');
  await tool.json('commit east -m wider');
}
