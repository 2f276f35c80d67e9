// Tests when a command that waits for moves looks at the servers again.
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { expect, test } from 'vitest';
import { pauseUntilComplete } from './watch-moves.ts';

/** Longer than the timeout of a test: such a pause has to end by a report. */
const longMs = 10 * 60_000;
const headOf = (id: string): StoredVersion => ({ id }) as unknown as StoredVersion;

test('a report that the version is complete ends the pause, for each new version', async () => {
  const asked: string[] = [];
  const pause = pauseUntilComplete(async ({ id }) => {
    asked.push(id);
    return true;
  });
  await pause(headOf('third'), longMs);
  await pause(headOf('fourth'), longMs);
  expect(asked).toEqual(['third', 'fourth']);
});

test('the next pause after a report for the same version lasts its full time, once', async () => {
  let asked = 0;
  const pause = pauseUntilComplete(async () => {
    asked += 1;
    return true;
  });
  await pause(headOf('third'), longMs);
  await pause(headOf('third'), 1);
  expect(asked).toBe(1);
  await pause(headOf('third'), longMs);
  expect(asked).toBe(2);
});
