import { CodedError } from '@ringwright/base/coded-error';
import { programVersion } from '@ringwright/base/program-version';
import { expect, test } from 'vitest';
import { commonWireVersion, helloInCommonVersion } from './check-wire-version.ts';
import { oldestWireVersion, wireVersion } from './wire-version.ts';

test('an end of another version is refused, and told the release of this one', () => {
  expect(commonWireVersion(wireVersion)).toBe(wireVersion);
  expect(commonWireVersion(oldestWireVersion)).toBe(oldestWireVersion);
  for (const theirs of [1, oldestWireVersion - 1, wireVersion + 1]) {
    expect(() => commonWireVersion(theirs, '10.0.0.1:6200')).toThrow(
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

/** A program that takes its own version only, as those before this one did. */
function strict(own: number): { said: number[]; say: (version: number) => Promise<number> } {
  const said: number[] = [];
  const say = (version: number): Promise<number> => {
    said.push(version);
    if (version === own) return Promise.resolve(own);
    const details = { theirs: version, wireVersion: own };
    return Promise.reject(new CodedError('WIRE_VERSION_UNKNOWN', 'no', { details }));
  };
  return { said, say };
}

test('a program of the version before is greeted in that version', async () => {
  const older = strict(oldestWireVersion);
  expect(await helloInCommonVersion(older.say)).toBe(oldestWireVersion);
  expect(older.said).toEqual([wireVersion, oldestWireVersion]);
});

test.each([oldestWireVersion - 1, wireVersion + 1])('one of version %d is not', async (own) => {
  const other = strict(own);
  await expect(helloInCommonVersion(other.say)).rejects.toMatchObject({
    code: 'WIRE_VERSION_UNKNOWN',
  });
  expect(other.said).toEqual([wireVersion]);
});

test.each([18, 19, 20, 21])(
  'one of version %d that only says what is wrong is found',
  async (own) => {
    const said: number[] = [];
    const say = (version: number): Promise<number> => {
      said.push(version);
      if (version === own) return Promise.resolve(own);
      const isForm = version >= 22;
      const message = isForm
        ? 'hello:  Unrecognized key: "access"'
        : 'the other end speaks another';
      const code = isForm ? 'PEER_FAILED' : 'WIRE_VERSION_UNKNOWN';
      return Promise.reject(new CodedError(code, message));
    };
    expect(await helloInCommonVersion(say)).toBe(own);
    expect(said.length).toBe(own - oldestWireVersion + 2);
  },
);

test('one that takes no version is asked each once', async () => {
  let said = 0;
  const say = () => {
    said += 1;
    return Promise.reject(new CodedError('PEER_FAILED', 'hello: address Invalid input'));
  };
  await expect(helloInCommonVersion(say)).rejects.toMatchObject({ code: 'PEER_FAILED' });
  expect(said).toBe(wireVersion - oldestWireVersion + 1);
});

test('another failure is not tried again', async () => {
  const away = () => Promise.reject(new CodedError('PEER_UNREACHABLE', 'away'));
  await expect(helloInCommonVersion(away)).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
});
