// Tests what `restore --from` means, a server or a file, and which root verifies the ring.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { ringFetch } from '@ringwright/wire/rings';
import { trustFetch } from '@ringwright/wire/trust';
import { expect, test } from 'vitest';
import { fakeServer } from '../../../../test/support/fake-server.ts';
import { ringBuilderIn } from '../../../../test/support/ring-builder-program.ts';
import { serverOf } from './restore-source.ts';

test.each([
  ['10.0.0.1:6201', '10.0.0.1:6201'],
  ['[::1]:6201', '[::1]:6201'],
  ['localhost:6201', 'localhost:6201'],
  ['ws://10.0.0.1:6201', '10.0.0.1:6201'],
  ['http://10.0.0.1:6201/', '10.0.0.1:6201'],
  ['ws://10.0.0.1', '10.0.0.1:6200'],
  ['backup/0000007.ring', null],
  ['0000007.ring', null],
  ['./odd:1', null],
])('the server in --from %s is %s', (from, address) => expect(serverOf(from)).toBe(address));

test('a --ca file that is absent or has no certificate is named in the error', async () => {
  const tool = await ringBuilderIn();
  const empty = join(tool.folder, 'empty.pem');
  await writeFile(empty, 'no certificate\n');
  const errorOf = async (ca: string) =>
    (await tool.run(`restore cities --from 127.0.0.1:1 --ca ${ca}`)).stderr;
  const absent = await errorOf('/nosuch');
  expect(absent).toContain('--ca /nosuch cannot be read');
  expect(absent).not.toContain('check that a ring-server listens there');
  expect(await errorOf(empty)).toContain(`--ca ${empty} contains no certificate`);
});

/** A folder with the signed ring `cities`. */
async function signedRing() {
  const keys = { RING_BUILDER_KEYS: await mkdtemp(join(tmpdir(), 'keys-')) };
  const tool = await ringBuilderIn(undefined, { ...keys, RING_BUILDER_PASSPHRASE: 'a long one' });
  await tool.json('create cities --partitions 8 --replicas 1');
  await tool.json('key generate ada');
  await tool.json('add cities r1z1-127.0.0.1:1/sdb 1');
  await tool.json('commit cities -m first');
  return tool;
}

test('a signed ring restored without a root suggests a restore with --trust', async () => {
  const tool = await signedRing();
  const rings = join(tool.folder, 'rings');
  const file = join(rings, 'cities', 'versions', '0000001.ring');
  const anew = `--from ${file} --rings ${join(tool.folder, 'anew')}`;
  const { stdout } = await tool.run(`restore cities ${anew}`);
  expect(stdout).toContain('signatures NOT CHECKED');
  expect(stdout).toMatch(/^Next: ring-builder restore cities .* --replace --trust TRUST.JSON/m);
  const checked = await tool.run(
    `restore cities ${anew} --replace --trust ${join(rings, 'trust.json')}`,
  );
  expect(checked.stdout).toContain('signed by ada, as the root requires');
  const copied = `--rings ${join(tool.folder, 'copied')}`;
  // Another operator is making a root there.
  await mkdir(join(tool.folder, 'copied'));
  const lock = join(tool.folder, 'copied', '.lock-other');
  const claim = { pid: process.pid, host: hostname(), user: 'bo', time: '2026-11-29T00:00:00Z' };
  await writeFile(lock, JSON.stringify(claim));
  const held = await tool.run(
    `restore cities --from ${rings} ${copied} --trust ${join(rings, 'trust.json')}`,
  );
  expect([held.exit, await readdir(join(tool.folder, 'copied'))]).toEqual([3, ['.lock-other']]);
  expect(held.stderr).toContain('LOCK_HELD: trust.json is being changed by bo ');
  await rm(lock);
  await tool.json(`restore cities --from ${rings} ${copied} --trust ${join(rings, 'trust.json')}`);
  expect(await tool.run(`verify cities ${copied}`), 'the trust was copied').toMatchObject({
    exit: 0,
  });
});

test('a root id is suggested only for a server that can send its document', async () => {
  const tool = await signedRing();
  const rings = join(tool.folder, 'rings');
  const root = await readFile(join(rings, 'trust.json'));
  const { id, bytes } = await readVersion(rings, 'cities', 'head');
  const data = Buffer.from(bytes);
  const ring = { version: 1, id, bytes: data.length, isDelta: false, data };
  const nextFrom = async (roots: readonly Uint8Array[]): Promise<string> => {
    const { port } = await fakeServer([
      [ringFetch.method, { request: ringFetch.request, answer: () => ring }],
      [
        trustFetch.method,
        { request: trustFetch.request, answer: () => ({ roots, beacons: [], access: null }) },
      ],
    ]);
    const anew = join(tool.folder, `anew-${roots.length}`);
    return (await tool.run(`restore cities --from 127.0.0.1:${port} --rings ${anew}`)).stdout;
  };
  expect(await nextFrom([root])).toMatch(/^Next: .* --replace --trust ID /m);
  expect(await nextFrom([])).toMatch(/^Next: .* --replace --trust TRUST\.JSON /m);
});

test('a restore from a folder without a version of the ring is refused', async () => {
  const tool = await ringBuilderIn();
  const [theirs, ours] = ['theirs', 'rings'].map((name) => join(tool.folder, name));
  for (const rings of [theirs, ours]) {
    await tool.json(`create cities --partitions 8 --replicas 1 --rings ${rings}`);
  }
  await tool.json('add cities r1z1-127.0.0.1:1/sdb 1');
  await tool.json('commit cities -m first');
  const { exit, stderr } = await tool.run(`restore cities --from ${theirs} --replace`);
  expect({ exit, stderr }).toMatchObject({ exit: 2 });
  expect(stderr).toContain(`RING_EMPTY: ring cities of ${theirs} has no committed version`);
  expect(stderr).toContain('hint: use --from with another folder of rings');
});

test('a restore from a server without the ring names where the ring is instead', async () => {
  const tool = await ringBuilderIn();
  const hint = 'ring-builder push cities';
  const unknown = new CodedError('RING_UNKNOWN', "no ring 'cities' is here", { hint });
  const { request } = ringFetch;
  const { port } = await fakeServer([
    [ringFetch.method, { request, answer: () => Promise.reject(unknown) }],
  ]);
  const { exit, stderr } = await tool.run(`restore cities --from 127.0.0.1:${port}`);
  expect({ exit, stderr }).toMatchObject({ exit: 2 });
  expect(stderr).toContain(`RING_UNKNOWN: 127.0.0.1:${port}: no ring 'cities' is here`);
  expect(stderr).toContain('hint: name a server of the ring');
  expect(stderr).not.toContain('push');
});
