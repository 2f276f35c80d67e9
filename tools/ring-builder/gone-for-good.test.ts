// A hint is typed as it stands.
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { goneForGood } from './gone-for-good.ts';

test('a shell runs each command with its ring, one after the other', () => {
  const commands = goneForGood('cities', [3, 4]).replaceAll('ring-builder ', 'show ');
  const script = `show() { printf '[%s]' "$@"; echo; }; ${commands}`;
  const ran = execFileSync('sh', ['-c', script], { encoding: 'utf8' });
  expect(ran.trimEnd().split('\n')).toEqual([
    '[remove][cities][d3][d4]',
    '[commit][cities][-m][will not come back]',
    '[rollout][cities]',
  ]);
});
