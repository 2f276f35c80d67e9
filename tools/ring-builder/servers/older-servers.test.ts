// Tests which servers are named as older during an upgrade.
import { CodedError } from '@ringwright/base/coded-error';
import { oldestWireVersion, wireVersion } from '@ringwright/wire/wire-version';
import { expect, test } from 'vitest';
import { olderLines, olderServers } from './older-servers.ts';
import type { ServerStatus } from './server-status.ts';

const told = (version?: number): ServerStatus => {
  const plain = { address: '', ready: true, rings: [], peers: [], uptimeMs: 0, refusals: [] };
  return version === undefined ? plain : { ...plain, wireVersion: version };
};

const answers = new Map<string, ServerStatus | CodedError>([
  ['a:1', told(wireVersion)],
  ['b:1', told(wireVersion - 1)],
  ['c:1', told()],
  ['d:1', new CodedError('PEER_UNREACHABLE', 'nobody')],
]);

test('older servers are named, also a server that reports no version', () => {
  const older = olderServers(['a:1', 'b:1', 'c:1', 'd:1'], answers);
  expect(older).toEqual([
    { address: 'b:1', wireVersion: wireVersion - 1, newest: wireVersion },
    { address: 'c:1', wireVersion: oldestWireVersion, newest: wireVersion },
  ]);
  const [line = ''] = olderLines(older);
  expect(line).toContain('2 servers run an older release');
  expect(line).toContain(`wire version ${oldestWireVersion}, ${wireVersion - 1}`);
  expect(line).toContain('b:1 c:1');
});

test('servers that are newer than this program make the others older', () => {
  const newer = new Map([...answers, ['b:1', told(wireVersion + 1)]]);
  expect(olderServers(['a:1', 'b:1'], newer)).toEqual([
    { address: 'a:1', wireVersion, newest: wireVersion + 1 },
  ]);
  expect(olderLines(olderServers(['a:1'], answers))).toEqual([]);
});
