// A hint is typed as it stands.
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { moveVersions, servedRing } from '../../../test/support/served-ring.ts';
import { goneForGood } from './gone-for-good.ts';

const typed = (ring: Parameters<typeof goneForGood>[0], devices: readonly number[]): string[] => {
  const commands = goneForGood(ring, devices).replaceAll('ring-builder ', 'show ');
  const script = `show() { printf '[%s]' "$@"; echo; }; ${commands}`;
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).trimEnd().split('\n');
};

const rest = ['[commit][cities][-m][will not come back]', '[rollout][cities]'];

test('a shell runs each command with its ring, one after the other', () => {
  expect(typed(servedRing(), [3, 2])).toEqual(['[remove][cities][d3][d2]', ...rest]);
});

test('moves on their way to a device are cancelled before it is removed', () => {
  const [moving] = moveVersions(servedRing({ replicas: 2 }), [
    { partition: 2, replica: 0, from: 2, to: 1 },
  ]);
  const cancel = '[moves][cities][cancel][d1]';
  expect(typed(moving, [1, 2])).toEqual([cancel, '[remove][cities][d1][d2]', ...rest]);
  expect(typed(moving, [2])).toEqual(['[remove][cities][d2]', ...rest]);
});
