// Attack: processes of the real tool commit at the same time (RACERS=30 for more of them). One wins
// each version, the others are told so, and every copy and store ends with the same linear history.
import { spawnSync } from 'node:child_process';
import { constants } from 'node:fs';
import { cp, type FileHandle, mkdir, mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '@ringwright/node/wait-for';
import { readLog } from '@ringwright/repository/folder/read-log';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { rebaseRing } from '@ringwright/repository/rebase-ring';
import { stage } from '@ringwright/repository/stage-changes';
import { verifyRepository } from '@ringwright/repository/verify/verify-repository';
import { catchUp } from '@ringwright/repository/write-ring';
import { expect, test } from 'vitest';
import { etcdForFile, etcdHere } from '../support/etcd-cluster.ts';
import { type RingBuilder, ringBuilderProgramIn } from '../support/ring-builder-program.ts';
import { storeAgainstHead } from '../support/shared-repository.ts';
import { author } from '../support/small-repository.ts';

/** Number of racers, more than the machine has processors. Each starts a process twice. */
const racers = Number(process.env['RACERS'] ?? 6);
const ring = 'cities';
const slow = { timeout: 180_000 };
const devices = [1, 2, 3].map((n) => `r1z${n}-10.0.0.${n}:6200/sdb 100`).join(' ');

const etcd = etcdForFile();

async function firstVersion(options = ''): Promise<RingBuilder> {
  const tool = await ringBuilderProgramIn();
  await tool.json(`create ${ring} --partition-power 4 --replicas 2${options}`);
  await tool.json(`add ${ring} ${devices}`);
  await tool.json(`commit ${ring} -m first`);
  return tool;
}

/** Stages a device without weight: nothing moves, and its port identifies the racer. */
async function stageDevice(rings: string, port: number): Promise<void> {
  const device = { region: 1, zone: 1, ip: '10.0.0.9', port, device: 'sdb', weight: 0, meta: '' };
  await stage({ rings, ring }, author, {
    command: `ring-builder add ${ring} r1z1-10.0.0.9:${port}/sdb 0`,
    changesOf: (state) => [{ kind: 'add', device: { id: state.devices.length, ...device } }],
  });
}

/** Runs before the program: reads a pipe that ends when all racers may start. */
const gate = "import fs from 'node:fs'; fs.readFileSync(process.env.GATE);";

/**
 * Holds each racer at its gate until all have arrived, then releases them at the same time. Returns
 * the index of the winner. Every other racer must fail by losing (exit code 3).
 */
async function race(tools: readonly RingBuilder[], options = ''): Promise<number> {
  const gates = await mkdtemp(join(tmpdir(), 'ringwright-gates-'));
  const paths = tools.map((_, at) => join(gates, `racer-${at}`));
  spawnSync('mkfifo', paths);
  const gated = await Promise.all(
    tools.map(({ folder }, at) =>
      ringBuilderProgramIn(folder, {
        options: ['--import', `data:text/javascript,${encodeURIComponent(gate)}`],
        environment: { GATE: paths[at] ?? '' },
      }),
    ),
  );
  const running = gated.map((tool, at) =>
    tool.run(`commit ${ring} -m racer-${at}${options} --json`),
  );
  const gatesOpen = await Promise.all(paths.map(openedFifo));
  for (const gate of gatesOpen) await gate.close();
  const ended = await Promise.all(running);
  await rm(gates, { recursive: true });
  const refusals = ended.filter(({ exit }) => exit !== 0);
  const codes = refusals.map(({ exit, stderr }) => [
    exit,
    JSON.parse(stderr.trim().split('\n').at(-1) ?? '').code,
  ]);
  const lost = ['HEAD_MOVED', 'STAGED_MOVED', 'STAGED_ON_OLD_HEAD', 'PLAN_STALE', 'LOCK_HELD'];
  for (const [exit, code] of codes) expect([exit, lost.includes(code) || code]).toEqual([3, true]);
  expect(codes).toHaveLength(tools.length - 1);
  return ended.findIndex(({ exit }) => exit === 0);
}

/** A pipe without a reader cannot be opened this way. Many processes start on two cores. */
function openedFifo(path: string): Promise<FileHandle> {
  return waitFor(`${path} to be read`, {
    ask: () => open(path, constants.O_WRONLY | constants.O_NONBLOCK),
    until: () => true,
    deadlineMs: 90_000,
  });
}

async function rebase(rings: string): Promise<void> {
  const refused = await catchUp({ rings, ring }, author).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'STAGED_ON_OLD_HEAD' });
  await rebaseRing({ rings, ring }, author, { upstream: null, drop: false });
}

async function requireWon(rings: string, version: number, racer: number): Promise<void> {
  const last = (await readLog(rings, ring)).at(-1);
  expect(last).toMatchObject({ version, message: `racer-${racer}`, kind: 'commit' });
  expect((await verifyRepository(rings, ring, null)).findings).toEqual([]);
}

test('one process wins each version in a shared working folder', slow, async () => {
  const tool = await firstVersion();
  const rings = join(tool.folder, 'rings');
  for (const version of [2, 3]) {
    await stageDevice(rings, 7000 + version);
    const { digest } = await tool.json<{ digest: string }>(`plan ${ring}`);
    const winner = await race(Array(racers).fill(tool), ` --plan ${digest}`);
    await requireWon(rings, version, winner);
  }
});

const kinds: readonly [string, boolean, () => Promise<string>][] = [
  ['a directory', true, async () => `dir:${await mkdtemp(join(tmpdir(), 'ringwright-heads-'))}`],
  ['etcd', etcdHere, async () => `${etcd()?.url}/races`],
];

for (const [kind, here, urlOf] of kinds) {
  test.skipIf(!here)(`one working folder wins each version: head in ${kind}`, slow, async () => {
    const url = await urlOf();
    const root = await mkdtemp(join(tmpdir(), 'ringwright-races-'));
    const stores = ['a', 'b', 'c'].map((name) => join(root, name));
    for (const store of stores) await mkdir(store);
    const first = await firstVersion(` --store ${url} --ring-stores ${stores.join(',')}`);
    const copies = await Promise.all(
      Array.from({ length: racers }, async (_, at) => {
        const folder = join(root, `racer-${at}`);
        await cp(first.folder, folder, { recursive: true });
        return ringBuilderProgramIn(folder);
      }),
    );
    const places = copies.map(({ folder }) => join(folder, 'rings'));
    const ports = places.map((_, at) => 7000 + at);
    for (const [at, rings] of places.entries()) await stageDevice(rings, ports[at]!);
    for (const version of [2, 3]) {
      const winner = await race(copies);
      const port = ports[winner]!;
      ports[winner] = port + 1000; // the winner may win again
      for (const [at, rings] of places.entries()) {
        // What the other racers staged is still there and fits the new head.
        if (at === winner) await stageDevice(rings, ports[at]!);
        else await rebase(rings);
        await requireWon(rings, version, winner);
        const { ring: made } = await readVersion(rings, ring, 'head');
        expect(made.devices.at(-1)?.port).toBe(port);
      }
      for (const store of stores) {
        expect(await storeAgainstHead(url, store)).toEqual({ beside: [], lacking: [] });
      }
    }
    const logs = await Promise.all(places.map((rings) => readFile(join(rings, ring, 'log.jsonl'))));
    for (const log of logs) expect(log).toEqual(logs[0]);
  });
}
