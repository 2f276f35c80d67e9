// Tests the commands for devices that will not come back: a shell runs them as they are printed.
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { moveVersions, servedRing } from '../../../test/support/served-ring.ts';
import { asCommands, permanentRemovalCommands, withoutForGood } from './gone-for-good.ts';

const typed = (...changed: Parameters<typeof permanentRemovalCommands>): string[] => {
  const commands = asCommands(permanentRemovalCommands(...changed)).replaceAll(
    'ring-builder ',
    'show ',
  );
  const script = `show() { printf '[%s]' "$@"; echo; }; ${commands}`;
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).trimEnd().split('\n');
};

const rest = ['[commit][cities][-m][will not come back]', '[rollout][cities]'];

test('a shell runs each command with its ring, one after the other', () => {
  expect(typed(servedRing(), [3, 2])).toEqual(['[remove][cities][d3][d2]', ...rest]);
});

test('moves to a device are cancelled before the device is removed', () => {
  const [moving] = moveVersions(servedRing({ replicas: 2 }), [
    { partition: 2, replica: 0, from: 2, to: 1 },
  ]);
  const cancel = '[moves][cities][cancel][d1]';
  expect(typed(moving, [1, 2])).toEqual([cancel, '[remove][cities][d1][d2]', ...rest]);
  expect(typed(moving, [2])).toEqual(['[remove][cities][d2]', ...rest]);
});

test('of a device that is removed already, only the moves to it are cancelled', () => {
  const [ring] = moveVersions(servedRing({ replicas: 2 }), [
    { partition: 2, replica: 0, from: 2, to: 1 },
  ]);
  expect(withoutForGood({ ring, removed: [1] }, [1])).toBe(
    '; if it will not come back: ring-builder moves cities cancel d1 && ' +
      "ring-builder commit cities -m 'will not come back' && ring-builder rollout cities",
  );
  expect(withoutForGood({ ring, removed: [2] }, [2])).toBe('');
});

test('devices of a composite ring are removed from its components, which it then follows', () => {
  const of = { version: 1, id: 'an id', replicas: 1 };
  const components = [
    { ...of, ring: 'east', devices: [0, 2] },
    { ...of, ring: 'west', devices: [1, 3] },
  ];
  const plain = servedRing({ replicas: 2 });
  const east = ['[remove][east][d1]', '[commit][east][-m][will not come back]'];
  const west = ['[remove][west][d1]', '[commit][west][-m][will not come back]'];
  const follow = ['[compose][cities][east][west]', '[rollout][cities]'];
  expect(typed({ ...plain, components }, [2])).toEqual([...east, ...follow]);
  const both = [...east, ...west, ...follow];
  expect(typed({ ...plain, components }, [2, 3])).toEqual(both);
  const [ring] = moveVersions(plain, [{ partition: 2, replica: 0, from: 2, to: 1 }]);
  const cancel = ['[moves][cities][cancel][d1]', '[remove][west][d0]'];
  expect(typed({ ...ring, components }, [1]).slice(0, 2)).toEqual(cancel);
  // Other moves finish first, because compose refuses a ring with moves in flight.
  expect(typed({ ...ring, components }, [1])).toContain('[rollout][cities][--skip-down]');
  const standing = { ring: plain, components };
  expect(withoutForGood(standing, [2])).toContain('ring-builder replace east d1 NEW instead');
  expect(withoutForGood(standing, [1, 3])).toBe(
    '; if it has another address now, with its disk: ' +
      'ring-builder set-device west DEVICE --ip IP --port PORT, then commit' +
      '; if it will not come back, replace it: ring-builder replace west OLD NEW',
  );
});
