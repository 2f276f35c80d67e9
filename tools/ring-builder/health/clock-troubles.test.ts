// Tests that a wrong clock is reported before its server refuses writes, also that of this machine,
// and that no other server is blamed.
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { expect, test } from 'vitest';
import { notePush } from '../../../test/support/note-push.ts';
import { ringBuilderHere } from '../../../test/support/ring-builder-here.ts';
import { wellOf } from '../../../test/support/ring-status.ts';
import { statusServer } from '../../../test/support/status-server.ts';
import type { ClockReading, ServerStatus } from '../servers/server-status.ts';
import { clockTroubles } from './clock-troubles.ts';

const plain = { ready: true, rings: [], peers: [], uptimeMs: 0, refusals: [] };

/** Judges servers a, b, c … by the seconds each is ahead of this machine; null: it is down. */
function judge(seconds: readonly (number | null | ClockReading)[]): string[] {
  const answers = new Map<string, ServerStatus | CodedError>();
  for (const [index, one] of seconds.entries()) {
    const address = 'abcde'.charAt(index);
    const clock = typeof one === 'number' ? { aheadMs: one * 1_000, slackMs: 5 } : one;
    const down = new CodedError('PEER_UNREACHABLE', 'away');
    answers.set(address, clock === null ? down : { ...plain, address, clock });
  }
  const troubles = clockTroubles('cities', [...answers.keys()], answers);
  return troubles.map(({ address, why }) => `${address}: ${why.split(';')[0]}`);
}

const own = 'null: the clocks of most servers are 90 s ahead of the clock of this machine';

test.each<[string, Parameters<typeof judge>[0], string[]]>([
  ['all agree', [0, 1, -1], []],
  ['this machine alone is wrong', [90, 91, 90], [own]],
  ['this machine alone is wrong, two servers', [90, 91], [own]],
  ['this machine is off by less than a minute', [-59, -59, -59], []],
  ['one ahead', [0, 90, 0], ['b: its clock is 90 s ahead of the others']],
  ['one behind', [0, 0, -90, 0], ['c: its clock is 90 s behind the others']],
  ['one of two', [90, 0], ['a: its clock is 90 s ahead of the others']],
  ['nine seconds', [0, 0, 9], []],
  ['eleven seconds', [0, 0, 11], ['c: its clock is 11 s ahead of the others']],
  ['eleven seconds, answered after five', [0, 0, { aheadMs: 11_000, slackMs: 2_500 }], []],
  ['one that answers alone', [90, null], []],
])('%s: only wrong clocks are reported', (_, seconds, wanted) => {
  expect(judge(seconds)).toEqual(wanted);
});

test('a server with a corrected clock is reported while its stamps are far ahead', () => {
  const answering = (address: string, stampsAheadMs?: number): [string, ServerStatus] => {
    const clock = { aheadMs: 0, slackMs: 5 };
    return [address, { ...plain, address, clock, ...(stampsAheadMs && { stampsAheadMs }) }];
  };
  const answers = new Map([answering('a', 3_600_000), answering('b', 59_000), answering('c')]);
  const [first, ...more] = clockTroubles('cities', [...answers.keys()], answers);
  expect(first).toMatchObject({ address: 'a', kind: 'clock' });
  expect(first?.why).toMatch(/^it refuses writes for 3540 s: /);
  expect(more).toEqual([]);
});

test('health and servers name the server with the wrong clock and the remedy', async () => {
  const tool = await ringBuilderHere();
  const ports: number[] = [];
  for (const device of [0, 1, 2]) {
    const { port } = await statusServer(() => ({
      nowMs: Date.now() + (device === 1 ? 90_000 : 0),
      rings: [wellOf(head.ring, device)].map((one) => ({ ...one, id: head.id, disk: head.disk })),
    }));
    ports.push(port);
  }
  await tool.json('create cities --partitions 8 --replicas 1');
  for (const port of ports) await tool.json(`add cities r1z1-127.0.0.1:${port}/a 1`);
  await tool.json('commit cities -m first');
  const { ring, id } = await readVersion(join(tool.folder, 'rings'), 'cities', 'head');
  const head = { ring, id, disk: { version: 1, id } };
  await notePush(tool.folder);

  const wrong = `127.0.0.1:${ports[1]}`;
  const health = await tool.answer('health');
  const why = 'its clock is 90 s ahead of the others; it refuses writes from 60 s on';
  expect([health.exit, health.json]).toMatchObject([
    1,
    { ok: false, troubles: [{ kind: 'clock', address: wrong, why }] },
  ]);
  expect(health.lines).toContain(
    `clock: correct the clock of ${wrong}, and keep it correct with NTP`,
  );
  const servers = await tool.answer('servers cities');
  expect(servers.exit).toBe(1);
  expect(servers.lines.join('\n')).toContain(`correct the clock of ${wrong}`);
});
