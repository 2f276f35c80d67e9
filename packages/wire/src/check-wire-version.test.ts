import { CodedError } from '@ringwright/base/coded-error';
import { programVersion } from '@ringwright/base/program-version';
import { expect, test } from 'vitest';
import { channelPair, ManualClock } from '../../../test/support/memory-ports.ts';
import { commonWireVersion, helloInCommonVersion } from './check-wire-version.ts';
import { clientHello } from './greet-server.ts';
import { hello } from './hello.ts';
import { pageRead } from './listing.ts';
import { oldestWireVersion, wireVersion } from './wire-version.ts';

test('a peer of another version is refused and told the release of this program', () => {
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

/** A program that accepts only its own version, as the releases before this one did. */
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

test('a program of the oldest version is greeted in that version', async () => {
  const older = strict(oldestWireVersion);
  expect(await helloInCommonVersion(older.say)).toBe(oldestWireVersion);
  expect(older.said).toEqual([wireVersion, oldestWireVersion]);
});

test.each([oldestWireVersion - 1, wireVersion + 1])('version %d is refused', async (own) => {
  const other = strict(own);
  await expect(helloInCommonVersion(other.say)).rejects.toMatchObject({
    code: 'WIRE_VERSION_UNKNOWN',
  });
  expect(other.said).toEqual([wireVersion]);
});

test.each([18, 19, 20, 21])(
  'version %d is found although its program only says what is wrong',
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

test('a program that accepts no version is offered each of them once', async () => {
  let said = 0;
  const say = () => {
    said += 1;
    return Promise.reject(new CodedError('PEER_FAILED', 'hello: address Invalid input'));
  };
  await expect(helloInCommonVersion(say)).rejects.toMatchObject({ code: 'PEER_FAILED' });
  expect(said).toBe(wireVersion - oldestWireVersion + 1);
});

test('another failure is not retried', async () => {
  const away = () => Promise.reject(new CodedError('PEER_UNREACHABLE', 'away'));
  await expect(helloInCommonVersion(away)).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
});

test('a message that the peer is too old for is not sent, and the error says why', async () => {
  const clock = new ManualClock();
  const older = { ...clientHello(0), wireVersion: oldestWireVersion };
  const answerHello = { request: hello.request, answer: () => older };
  const [here, there] = channelPair(clock, [new Map(), new Map([[hello.method, answerHello]])]);
  const met = here.channel.call(hello, older, 100);
  await clock.flush();
  await met;
  const page = { keyspace: 'notes', ringVersion: 1, partition: 0, from: Buffer.alloc(0), to: null };
  const asked = { ...page, reverse: false, limit: 1, nowMs: 0, give: 'keys' } as const;
  const frames = there.frames.length;
  await expect(here.channel.call(pageRead, asked, 100)).rejects.toMatchObject({
    code: 'WIRE_VERSION_UNKNOWN',
    message: expect.stringMatching(`older release \\(wire version ${oldestWireVersion}\\)`),
    hint: expect.stringContaining('upgrade that server'),
  });
  expect(there.frames).toHaveLength(frames);
});
