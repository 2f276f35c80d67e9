// Data that older programs left: the current program opens it, serves it, changes it and finds it
// sound. FORMATS.md says what each archive contains and when one is added.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { trustLifeDaysMax } from '@ringwright/base/limits';
import { waitFor } from '@ringwright/node/wait-for';
import { checkStore } from '@ringwright/partition/audit/check-store';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { unpackFrame } from '@ringwright/wire/frame';
import { afterAll, expect, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { unequalReplicas } from '../support/replica-digests.ts';
import { type RingBuilder, ringBuilderProgramIn } from '../support/ring-builder-program.ts';
import type { ServerUnderTest } from '../support/server-under-test.ts';
import { type Left, passphrase, serversOf } from './left.ts';
import { sayAgain, type WireLine } from './record-wire.ts';

const archives = path.join(import.meta.dirname, 'data');
const unpacked: string[] = [];
/** Test options: four servers and twenty commands need the time. */
const slow = { timeout: 180_000 };

afterAll(() => {
  for (const folder of unpacked) fs.rmSync(folder, { recursive: true });
});

function unpack(archive: string): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ringwright-upgrade-'));
  unpacked.push(folder);
  execFileSync('tar', ['-xzf', path.join(archives, archive), '-C', folder]);
  return folder;
}

/** Returns what all holders of each key answer; null for an absent key. */
async function readAll(port: number, { values }: Left): Promise<Left['values']> {
  const read: Record<string, Record<string, string | null>> = {};
  for (const [keyspace, expected] of Object.entries(values)) {
    const found: Record<string, string | null> = {};
    for (const key of Object.keys(expected)) {
      const args = `/v1/${keyspace}/${encodeURIComponent(key)}?consistency=all`;
      const { status, bytes } = await waitFor(`an answer of all holders of ${key}`, {
        ask: () => askServer(port, { path: args }),
        until: ({ status }) => status === 200 || status === 404,
      });
      found[key] = status === 404 ? null : createHash('sha256').update(bytes).digest('hex');
    }
    read[keyspace] = found;
  }
  return read;
}

async function isSound(tool: RingBuilder, keyspace: string): Promise<void> {
  const { exit, stdout, stderr } = await tool.run(['verify', keyspace, '--json']);
  expect(exit, stdout + stderr).toBe(0);
}

async function replicasEqual(folder: string, keyspace: string): Promise<void> {
  const { ring } = await readVersion(path.join(folder, 'rings'), keyspace, 'head');
  // Devices with keys report digests only to each other: there, the reads from all holders must do.
  if (ring.devices.some((device) => device?.key !== undefined)) return;
  await waitFor(`all replicas of ${keyspace} to be equal`, {
    ask: () => unequalReplicas(ring),
    until: (faults) => faults.length === 0,
  });
}

/**
 * Sends again what an older tool sent: each frame is answered as it was then, in the version of
 * then. Only digests of a ring that names every key were refused to tools then, with RING_STALE,
 * and are answered now.
 */
async function understandsWire(folder: string, server: ServerUnderTest): Promise<void> {
  const text = fs.readFileSync(path.join(folder, 'wire.jsonl'), 'utf8');
  const lines = text.split('\n').slice(0, -1);
  const recorded = lines.map((line) => JSON.parse(line) as WireLine);
  const said = recorded.filter(({ from }) => from === 'tool');
  const answered = await sayAgain(
    server.place.port,
    said.map(({ frame }) => Buffer.from(frame, 'base64')),
  );
  expect(answered).toHaveLength(recorded.length);
  for (const [index, line] of recorded.entries()) {
    if (!wasRefused(line)) expect(formOf(answered[index]!)).toEqual(formOf(line));
  }
  expect(server.isRunning).toBe(true);
}

function wasRefused({ frame }: WireLine): boolean {
  const envelopes = unpackFrame(Buffer.from(frame, 'base64'));
  const isStale = (body: unknown): boolean => (body as { code?: string }).code === 'RING_STALE';
  return envelopes?.some(([kind, , body]) => kind === 2 && isStale(body)) ?? false;
}

/** Returns which answers arrived, and the fields of each. */
function formOf({ from, frame }: WireLine) {
  const envelopes = unpackFrame(Buffer.from(frame, 'base64'));
  return envelopes?.map(([kind, id, body]) => {
    if (kind !== 1) return { from, kind, id };
    const { wireVersion } = body as { wireVersion?: number };
    return { from, kind, id, wireVersion, fields: Object.keys(body as object).sort() };
  });
}

test.each(fs.readdirSync(archives))(
  '%s is opened, served, changed and sound',
  slow,
  async (archive) => {
    const folder = unpack(archive);
    process.env['RING_BUILDER_KEYS'] = path.join(folder, 'keys');
    process.env['RING_BUILDER_PASSPHRASE'] = passphrase;
    const left = JSON.parse(fs.readFileSync(path.join(folder, 'left.json'), 'utf8')) as Left;
    const keyspaces = Object.keys(left.values);
    const tool = await ringBuilderProgramIn(folder);
    const servers = serversOf(folder);
    for (const keyspace of keyspaces) await isSound(tool, keyspace);
    for (const { place } of servers) expect(await checkStore(place.data)).toEqual([]);
    // The root in the archive expires; its keys sign the next one.
    await tool.json(`key trust --days ${trustLifeDaysMax}`);

    const trust = ['--trust', path.join(folder, 'rings', 'trust.json')];
    try {
      for (const server of servers) await server.start(trust);
      const [first] = servers;
      expect(await readAll(first!.place.port, left)).toEqual(left.values);
      await understandsWire(folder, first!);
      // The move in flight completes, and what was staged is committed.
      await tool.json('rollout users');
      await tool.json(['commit', 'notes', '-m', 'what an older program staged']);
      await tool.json('rollout notes');
      expect(await readAll(servers.at(-1)!.place.port, left)).toEqual(left.values);
      for (const keyspace of keyspaces) await replicasEqual(folder, keyspace);
      for (const server of servers) expect(await server.stop()).toBe(0);
    } finally {
      for (const server of servers) await server.kill();
    }
    for (const keyspace of keyspaces) await isSound(tool, keyspace);
    for (const { place } of servers) expect(await checkStore(place.data)).toEqual([]);
  },
);
