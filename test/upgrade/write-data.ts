// Program: writes what the programs of this checkout leave on disk and send on the wire, for later
// programs to open: `node test/upgrade/write-data.ts test/upgrade/data/NAME.tar.gz`.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { trustLifeDaysMax } from '@ringwright/base/limits';
import { askServer } from '../support/ask-server.ts';
import { ringBuilderProgramIn } from '../support/ring-builder-program.ts';
import { ServerUnderTest } from '../support/server-under-test.ts';
import { expiredBy, type Left, passphrase, serversOf } from './left.ts';
import { recordWire } from './record-wire.ts';

const archive = process.argv[2];
if (archive === undefined || fs.existsSync(archive)) {
  throw new Error(`usage: node test/upgrade/write-data.ts NEW-ARCHIVE, given: ${archive}`);
}
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ringwright-upgrade-'));
fs.mkdirSync(path.join(folder, 'data'));
process.env['RING_BUILDER_KEYS'] = path.join(folder, 'keys');
process.env['RING_BUILDER_PASSPHRASE'] = passphrase;
const tool = await ringBuilderProgramIn(folder);
const servers = serversOf(folder);
const [sd1, sd2, sd3, sd4] = servers as [
  ServerUnderTest,
  ServerUnderTest,
  ServerUnderTest,
  ServerUnderTest,
];
const values: Record<string, Record<string, string | null>> = { notes: {}, users: {}, spans: {} };

await firstRings();
await write('notes', 0);
await write('users', 0);
await write('spans', 0);
await signedJoin();
await write('notes', 1);
await historyOfUsers();
await write('users', 1);
await stopInTheMiddle();
await recordWire(path.join(folder, 'wire.jsonl'), sd1.place.port);
await endServers();
writeLeft();
spawnSync('tar', ['-czf', archive, '-C', folder, '.'], { stdio: 'inherit' });
fs.rmSync(folder, { recursive: true });

/** Creates three unsigned rings of three servers with keys. The last ring has format 2. */
async function firstRings(): Promise<void> {
  for (const server of [sd1, sd2, sd3]) await server.start();
  const devices = [sd1, sd2, sd3].flatMap(({ text }) => [text, '1']);
  await type('create notes --partition-power 2 --replicas 3 --min-part-hours 0');
  await type(
    'create users --partitions 6 --partitioner murmur3-mod --replicas 2.5 --min-part-hours 0',
  );
  await type(
    'create spans --partitioner ranges --boundaries key-4,n --replicas 3 --min-part-hours 0',
  );
  for (const ring of ['notes', 'users', 'spans']) {
    await type(['add', ring, ...devices, '--ask-key']);
    await type(['commit', ring, '-m', 'three servers']);
    await type(`push ${ring}`);
  }
  for (const server of [sd1, sd2, sd3]) await server.ready();
}

/** Begins signing in mid-history. Then a fourth server joins, which leaves receipts and trash. */
async function signedJoin(): Promise<void> {
  await type(`key generate ada --days ${trustLifeDaysMax}`);
  const trust = ['--trust', path.join(folder, 'rings', 'trust.json')];
  for (const server of [sd1, sd2, sd3]) await server.stop();
  for (const server of servers) await server.start(trust);
  for (const ring of ['notes', 'spans']) {
    await type(['commit', ring, '-m', 'signed from here on']);
    await type(`push ${ring}`);
  }
  for (const ring of ['notes', 'spans']) {
    await type(['add', ring, sd4.text, '1', '--ask-key']);
    await type(['commit', ring, '-m', 'sd4 joins']);
    await type(`rollout ${ring}`);
  }
  await type('set-weight notes d0 0.5');
  await type('pin notes 1 --on d3');
  // Staged but not committed: the archive contains the staged changes.
}

/** Adds the rest of what a history can contain: pins, a ramp, maintenance, a pruned version. */
async function historyOfUsers(): Promise<void> {
  await type(['commit', 'users', '-m', 'signed from here on']);
  await type('push users');
  await type(['add', 'users', sd4.text, '1', '--ask-key']);
  await type(['set-device', 'users', 'd3', '--meta', 'späte Platte, "neu"']);
  await type(['commit', 'users', '-m', 'sd4 joins']);
  await type('rollout users');
  await type('pin users 3 --on d3');
  await type('maintenance users d1 --no-target');
  await type(['commit', 'users', '-m', 'a pin and maintenance']);
  await type('rollout users');
  await type('unpin users 3');
  await type('maintenance users d1 --off');
  await type('ramp users d2 2 --percent 25');
  await type(['commit', 'users', '-m', 'a ramp']);
  await type('rollout users');
  await type('prune users --keep 6 --yes');
}

/** Begins a move that copies, and then writes. Two servers are killed afterwards. */
async function stopInTheMiddle(): Promise<void> {
  await type('set-weight users d0 0.25');
  await type(['commit', 'users', '-m', 'd0 gives most of what it has']);
  await type('rollout users --step');
  await write('users', 2);
}

async function endServers(): Promise<void> {
  await sd2.kill();
  await sd4.kill();
  await sd1.stop();
  await sd3.stop();
  for (const { place } of servers) fs.rmSync(`${place.data}.log`);
}

/** Writes values of all sizes to all holders. Some are deleted again, and some expire. */
async function write(keyspace: string, round: number): Promise<void> {
  const there = values[keyspace] ?? {};
  for (let index = round * 8; index < round * 8 + 16; index += 1) {
    const key = index % 5 === 0 ? `näme/${index}` : `key-${index}`;
    const value = `${round} ${key} `.repeat(index === 7 ? 3_000 : 1 + index);
    const ttl = index === 3 ? `&ttl=${expiredBy.seconds}` : '';
    await request(keyspace, { method: 'PUT', key, body: value, query: ttl });
    there[key] = ttl === '' ? sha256(value) : null;
    if (index % 6 !== 4) continue;
    await request(keyspace, { method: 'DELETE', key });
    there[key] = null;
  }
}

interface Sent {
  readonly method: 'PUT' | 'DELETE';
  readonly key: string;
  readonly body?: string;
  readonly query?: string;
}

async function request(keyspace: string, { method, key, body, query = '' }: Sent): Promise<void> {
  const args = `/v1/${keyspace}/${encodeURIComponent(key)}?consistency=all${query}`;
  for (let left = 100; left > 0; left -= 1) {
    const sent = { method, path: args, ...(body !== undefined && { body }) };
    const { status } = await askServer(sd1.place.port, sent);
    if (status === 204) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${method} of ${key} in ${keyspace} was not acknowledged by all`);
}

async function type(args: string | readonly string[]): Promise<void> {
  await tool.json(args);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function writeLeft(): void {
  const { stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' });
  const left: Left = { program: stdout.trim(), values };
  fs.writeFileSync(path.join(folder, 'left.json'), `${JSON.stringify(left, null, 1)}\n`);
}
