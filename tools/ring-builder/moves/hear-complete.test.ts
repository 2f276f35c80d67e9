// When who waits for moves looks again.
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { expect, test } from 'vitest';
import { hearComplete } from './watch-moves.ts';

/** Nobody waits for so long here. */
const longMs = 10 * 60_000;
const headOf = (id: string): StoredVersion => ({ id }) as unknown as StoredVersion;

test('a version that is complete ends the pause, also right after the one before', async () => {
  const asked: string[] = [];
  const pause = hearComplete(async ({ id }) => {
    asked.push(id);
    return true;
  });
  await pause(headOf('third'), longMs);
  await pause(headOf('fourth'), longMs);
  expect(asked).toEqual(['third', 'fourth']);
});

test('after a look that came too early only the time counts, once', async () => {
  let asked = 0;
  const pause = hearComplete(async () => {
    asked += 1;
    return true;
  });
  await pause(headOf('third'), longMs);
  await pause(headOf('third'), 1);
  expect(asked).toBe(1);
  await pause(headOf('third'), longMs);
  expect(asked).toBe(2);
});
