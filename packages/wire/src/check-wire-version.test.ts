import { programVersion } from '@ringwright/base/program-version';
import { expect, test } from 'vitest';
import { checkWireVersion } from './check-wire-version.ts';
import { wireVersion } from './wire-version.ts';

test('an end of another version is refused, and told the release of this one', () => {
  expect(checkWireVersion(wireVersion)).toBeUndefined();
  for (const theirs of [1, wireVersion - 1, wireVersion + 1]) {
    expect(() => checkWireVersion(theirs, '10.0.0.1:6200')).toThrow(
      expect.objectContaining({
        code: 'WIRE_VERSION_UNKNOWN',
        message: expect.stringMatching(
          `^10.0.0.1:6200 speaks wire version ${theirs}, release ${programVersion} speaks `,
        ),
        hint: expect.stringContaining('--version'),
      }),
    );
  }
});
