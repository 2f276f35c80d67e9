// Tests what health says without a cluster, and what status says of servers that it does not ask.
import { once } from 'node:events';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { useStore } from '@ringwright/repository/shared/store-file';
import { catchUp } from '@ringwright/repository/write-ring';
import { wireVersion } from '@ringwright/wire/wire-version';
import { expect, onTestFinished, test } from 'vitest';
import { appendPush, notePush } from '../../../test/support/note-push.ts';
import { ringBuilderHere } from '../../../test/support/ring-builder-here.ts';
import { wellOf } from '../../../test/support/ring-status.ts';
import { author } from '../../../test/support/small-repository.ts';
import { statusServer } from '../../../test/support/status-server.ts';

test('status shows the newest push and how many servers accepted it', async () => {
  const tool = await ringBuilderHere();
  await tool.json('create cities --partitions 8 --replicas 1');
  await tool.json('add cities r1z1-127.0.0.1:1/sdb 1 r1z2-127.0.0.1:2/sdb 1');
  const { id } = await tool.json<{ id: string }>('commit cities -m first');
  expect(await tool.text('status cities')).toContain('never pushed to servers');
  expect(await tool.json('status cities')).toMatchObject({ pushed: null, push: null });

  const place = { rings: join(tool.folder, 'rings'), ring: 'cities' };
  const note = (time: string, details: Record<string, number>) =>
    appendPush(place, { version: 1, id }, { time, user: 'ada', message: '', details });
  await note('2026-11-21T03:00:00.000Z', {});
  expect(await tool.text('status cities')).toContain(
    'version 1 was pushed at 2026-11-21T03:00:00Z',
  );
  await note('2026-11-21T03:00:01.000Z', { accepted: 1, servers: 2 });
  expect(await tool.text('status cities')).toContain(
    'version 1 was pushed to 1 of 2 servers at 2026-11-21T03:00:01Z; health shows',
  );
  await note('2026-11-21T03:09:00.000Z', { accepted: 2, servers: 2 });
  expect(await tool.json('status cities')).toMatchObject({
    pushed: 1,
    push: { version: 1, by: 'push', accepted: 2, servers: 2 },
  });
  // No server listens there: an earlier push says nothing about the present state.
  const health = await tool.answer('health');
  expect([health.exit, health.lines.join('\n')]).toEqual([4, expect.stringMatching(/down +127/)]);
  expect(health.lines[0]).toBe('1 problem on 2 servers, with 1 of 1 ring');
  expect(health.json).toMatchObject({ troubles: [{ kind: 'down' }, { kind: 'down' }] });
  const moves = await tool.text('moves cities list');
  expect(moves).toMatch(/^127\.0\.0\.1:1 did not answer: .*\n127\.0\.0\.1:2 did not answer: /m);
  const servers = await tool.answer('servers cities');
  expect(servers.exit).toBe(4);
  expect(servers.lines.join('\n')).toMatch(/127\.0\.0\.1:1 +d0( +-){8} +\S/);
});

test('moves list says which servers refuse the token, and fails as other commands do', async () => {
  const tool = await ringBuilderHere();
  const refusal = { code: 'TOKEN_REFUSED', message: 'it was revoked', hint: '', details: {} };
  const { port } = await statusServer(() => refusal, 401);
  await tool.json('create cities --partitions 8 --replicas 1');
  await tool.json(`add cities r1z1-127.0.0.1:${port}/sdb 1`);
  await tool.json('commit cities -m first');
  const { exit, lines } = await tool.answer('moves cities list');
  expect(exit).toBe(5);
  expect(lines).toContain(`127.0.0.1:${port} refused: it was revoked`);
  expect(lines.join('\n')).toContain('--token-file FILE');
  expect(lines.join('\n')).not.toContain('did not answer');
});

test.each([
  ['health', 'here'],
  ['servers cities', 'here'],
  ['health', 'in another working copy'],
])('%s does not take a newer head for a fault that is committed %s', async (command, place) => {
  // The head is committed while the servers answer.
  const tool = await ringBuilderHere();
  const other = place === 'here' ? tool : await ringBuilderHere();
  const rings = join(other.folder, 'rings');
  const head = () => readVersion(rings, 'cities', 'head');
  const folder = await mkdtemp(join(tmpdir(), 'ringwright-stores-'));
  const store = { url: `dir:${folder}/heads`, stores: [folder] };
  let committing: Promise<unknown> | null = null;
  const commit = async (): Promise<void> => {
    if (other !== tool) await useStore(rings, store);
    await catchUp({ rings, ring: 'cities' }, author);
    await other.json('set-device cities d0 --meta rack-7');
    await other.json('commit cities -m second');
  };
  const status = async (): Promise<string> => {
    await (committing ??= commit());
    const { ring, id } = await head();
    const rings = [{ ...wellOf(ring, 0), id }];
    return JSON.stringify({ address: 'here', wireVersion, ready: true, rings, refusals: [] });
  };
  const server = createServer((_, response) => {
    void status().then((text) => response.end(text));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  await tool.json('create cities --partitions 8 --replicas 1');
  await tool.json(`add cities r1z1-127.0.0.1:${port}/a 1`);
  if (other !== tool) await useStore(join(tool.folder, 'rings'), store);
  await tool.json('commit cities -m first');
  await notePush(tool.folder);
  const { lines, json } = await tool.answer(command);
  expect(lines.join('\n')).not.toContain('ahead');
  const found = { version: 2, current: 1 };
  expect(json).toMatchObject(command === 'health' ? { rings: [found] } : found);
});

test('health reports rings that were never pushed, damaged rings and an empty folder', async () => {
  const tool = await ringBuilderHere();
  // A monitor with a mistyped or unmounted folder must not stay green.
  expect(await tool.refusal('health')).toEqual({ exit: 2, code: 'RINGS_UNKNOWN' });
  await mkdir(join(tool.folder, 'rings'));
  const empty = await tool.answer('health');
  expect(empty).toMatchObject({ exit: 1, json: { ok: false, rings: [] } });
  expect(empty.lines).toEqual(['there are no rings here']);
  await tool.json('create cities --partitions 8 --replicas 1');
  await tool.json('create notes --partitions 8 --replicas 1');
  await tool.json('add notes r1z1-127.0.0.1:1/sdb 1');
  await tool.json('commit notes -m first');
  const unasked = await tool.answer('health');
  expect(unasked).toMatchObject({
    exit: 0,
    json: { rings: [{ asked: false }, { version: 1, given: false }] },
  });
  expect(unasked.lines.join('\n')).toMatch(/cities .*no version yet\nnotes .*never pushed/);
  // health and servers agree: a ring that was never pushed is no trouble of any server.
  expect(unasked.next).toBe('ring-builder push notes');
  const asked = await tool.answer('servers notes');
  expect(asked).toMatchObject({ exit: 0, json: { ok: true, given: false, troubles: [] } });
  expect(asked.next).toBe('ring-builder push notes');

  await writeFile(join(tool.folder, 'rings', 'cities', 'log.jsonl'), 'x\n');
  const damaged = await tool.answer('health');
  const trouble = { ring: 'cities', kind: 'unreadable', command: 'ring-builder verify cities' };
  expect(damaged).toMatchObject({ exit: 1, json: { ok: false, troubles: [trouble] } });
  expect(await tool.refusal('health nothing')).toEqual({ exit: 2, code: 'RING_UNKNOWN' });
});

test('an unreadable trust.json is a trouble in addition to those of the servers', async () => {
  const tool = await ringBuilderHere();
  await tool.json('create cities --partitions 8 --replicas 1');
  await tool.json('add cities r1z1-127.0.0.1:1/sdb 1');
  await tool.json('commit cities -m first');
  await notePush(tool.folder);
  for (const damage of ['{', '{"roots":[]}']) {
    await writeFile(join(tool.folder, 'rings', 'trust.json'), damage);
    for (const command of ['servers cities', 'health']) {
      const { exit, json, lines } = await tool.answer(command);
      const [why, all] = [/trust\.json: TRUST_INVALID: /, lines.join('\n')];
      const troubles = [
        { kind: 'unreadable', address: null, why: expect.stringMatching(why) },
        { kind: 'down', address: '127.0.0.1:1' },
      ];
      expect([exit, json], command).toMatchObject([1, { ok: false, troubles }]);
      expect(all, command).toMatch(why);
      expect(all, command).toMatch(/127\.0\.0\.1:1 cannot be reached|it cannot be reached/);
      expect(all, command).toContain('restore trust.json from git');
    }
  }
});

/** A tool whose keys have a passphrase. */
async function signing() {
  const folder = await mkdtemp(join(tmpdir(), 'keys-'));
  const passphrase = () => Promise.resolve('correct horse');
  return ringBuilderHere({ keys: { folder, name: null, passphrase } });
}

test('a head signed only by a revoked key is a trouble until it is signed again', async () => {
  const tool = await signing();
  await tool.json('create cities --partitions 8 --replicas 1');
  await tool.json('key generate ada');
  const { port } = await statusServer(() => ({
    rings: [{ ...wellOf(head.ring, 0), ...{ id: head.id, version: there, disk } }],
  }));
  await tool.json(`add cities r1z1-127.0.0.1:${port}/sdb 1`);
  await tool.json('commit cities -m first');
  const rings = join(tool.folder, 'rings');
  const head = await readVersion(rings, 'cities', 'head');
  const disk = { version: 1, id: head.id };
  let there = 1;
  await notePush(tool.folder);
  expect(await tool.answer('health')).toMatchObject({ exit: 0, json: { troubles: [] } });

  const bob = await tool.json<{ line: string }>('key generate bob --role ring');
  await tool.json(['key', 'trust', '--add', bob.line]);
  await tool.json('key revoke ada');
  const { exit, json, lines, next } = await tool.answer('health');
  const sign = 'ring-builder sign cities 1';
  const why = expect.stringMatching(/^version 1 is signed by no trusted key .0 of 1.; 1 more/);
  const unsigned = { ring: 'cities', address: null, kind: 'unsigned', why, command: sign };
  expect({ exit, json, next }).toMatchObject({
    ...{ exit: 1, json: { ok: false, troubles: [unsigned] }, next: sign },
  });
  expect(lines.at(-1)).toBe(`unsigned: ${sign} adds a valid signature`);
  const told = await tool.answer('servers cities');
  expect(told.lines).toContainEqual(expect.stringMatching(/^unsigned: version 1 is signed by no/));
  expect(told.next).toBe(sign);
  expect(await tool.text('list')).toMatch(/cities .* lacks 1 signature\n/);
  expect(await tool.json('list')).toMatchObject({ rings: [{ signaturesMissing: 1 }] });
  // The version has to be signed before it can be pushed.
  there = 0;
  const behind = await tool.answer('health');
  const inactive = { kind: 'inactive', command: sign };
  expect(behind).toMatchObject({ json: { troubles: [inactive, unsigned] }, next: sign });

  there = 1;
  await tool.json('sign cities');
  expect(await tool.text('list')).toContain('nothing pending');
  expect(await tool.answer('health')).toMatchObject({ exit: 0, json: { troubles: [] } });
});

test('beside a root, an unsigned head is a trouble only after it was pushed', async () => {
  const tool = await signing();
  await tool.json('create cities --partitions 8 --replicas 1 --unsigned');
  await tool.json('add cities r1z1-127.0.0.1:1/sdb 1');
  await tool.json('commit cities -m first');
  await tool.json('key generate ada');
  const command = "ring-builder commit cities -m 'signed from here on'";
  const draft = await tool.answer('health');
  expect(draft).toMatchObject({ exit: 0, json: { troubles: [] }, next: command });
  expect(draft.lines.join('\n')).toContain('never pushed, unsigned');
  expect((await tool.answer('servers cities')).next).toBe(command);
  await notePush(tool.folder);
  expect((await tool.answer('health')).json).toMatchObject({
    troubles: [{ kind: 'unsigned', command }, { kind: 'down' }],
  });
});
