// Tests what commands say of servers that refused them or did not answer, and their exit codes.
import { CodedError } from '@ringwright/base/coded-error';
import { expect, test } from 'vitest';
import { linesOf } from '../cli/command.ts';
import { silentExit, silentLines, silentServer } from './silent-servers.ts';

const refused = silentServer(
  '10.0.0.1:6200',
  new CodedError('TOKEN_MISSING', 'this needs a token'),
);
const away = silentServer('10.0.0.2:6200', new CodedError('PEER_TIMEOUT', 'no answer'));

test('a refusal names the token that is needed, and has the exit code of push', () => {
  expect(linesOf(silentLines([refused, away]))).toEqual([
    '10.0.0.1:6200 refused: this needs a token',
    'not asked: 10.0.0.2:6200, no answer',
    expect.stringMatching(/^this needs a token with operator: --token-file FILE, or/),
  ]);
  expect(linesOf(silentLines([away]))).toHaveLength(1);
  expect([[], [refused], [away, refused]].map(silentExit)).toEqual([0, 5, 4]);
});

test('a server that is too old or too new for the command is named once', () => {
  const text = '10.0.0.3:6200 is of an older release';
  const older = silentServer('10.0.0.3:6200', new CodedError('WIRE_VERSION_UNKNOWN', text));
  expect(linesOf(silentLines([older]))).toEqual([`not asked: ${text}`]);
  expect(silentExit([older])).toBe(5);
  const there = 'the other end speaks wire version 32, release 9.0.0 speaks 99';
  const newer = silentServer('10.0.0.4:6200', new CodedError('WIRE_VERSION_UNKNOWN', there));
  expect(linesOf(silentLines([newer]))).toEqual([`10.0.0.4:6200 refused: ${there}`]);
});
