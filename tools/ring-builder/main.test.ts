// Tests typed commands in scratch folders: JSON, exit codes, bad input, races and determinism.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { notePush } from '../../test/support/note-push.ts';
import {
  type RingBuilder,
  ringBuilderIn,
  ringBuilderProgramIn,
} from '../../test/support/ring-builder-program.ts';
import { filesOf } from '../../test/support/small-repository.ts';

const create = 'create cities --partition-power 5 --replicas 3';
const devices = [1, 2, 3, 4].map((n) => `r1z${n}-10.0.0.${n}:6200/sdb 100`).join(' ');

interface TableDocument {
  readonly devices: readonly unknown[];
  readonly table: readonly (readonly number[])[];
  readonly moves: readonly unknown[];
}

async function committed(): Promise<RingBuilder> {
  const tool = await ringBuilderIn();
  await tool.json(create);
  await tool.json(`add cities ${devices}`);
  await tool.json('commit cities -m first');
  return tool;
}

test.concurrent('a ring is created, committed and changed, and every command reports each step', {
  timeout: 60_000,
}, async () => {
  const tool = await ringBuilderIn();
  expect(await tool.json(create)).toMatchObject({ ring: 'cities', partitions: 32, changed: true });
  expect(await tool.json(`add cities ${devices}`)).toMatchObject({ changes: 4, changed: true });
  const plan = await tool.json<{ digest: string }>('plan cities');
  expect(plan).toMatchObject({ version: 1, parent: null, moved: 0, changed: true, warnings: [] });
  const first = await tool.json(`commit cities -m first --plan ${plan.digest}`);
  expect(first).toMatchObject({ version: 1, moved: 0, direct: true, changed: true });
  expect(await tool.json('commit cities -m again')).toMatchObject({ version: 1, changed: false });

  await notePush(tool.folder);
  await tool.json('add cities r1z5-10.0.0.5:6200/sdb 100');
  const status = await tool.json('status cities');
  expect(status).toMatchObject({ head: 1, id: first['id'], changes: 1, pushed: 1 });
  expect(status['next']).toBe('ring-builder plan cities');
  const next = await tool.json<{ moved: number; moveLowerBound: number }>('plan cities');
  expect(Object.keys(next)).toEqual(
    expect.arrayContaining(['digest', 'moved', 'moves', 'moveLowerBound', 'movesLeft', 'devices']),
  );
  expect(next.moved).toBe(next.moveLowerBound);
  const second = await tool.json('commit cities -m second');
  expect(second).toMatchObject({ version: 2, moved: next.moved, direct: false });

  const table = await tool.json<TableDocument>('table cities');
  expect(table).toMatchObject({ partitions: 32, replicas: 3, version: 2 });
  expect(table.moves).toHaveLength(next.moved);
  expect(table.moves[0]).toMatchObject({ state: 'PROPOSED', to: 4, assignment: 1 });
  expect(table.table.map((row) => row.length)).toEqual([32, 32, 32]);
  expect(table.devices[0]).toMatchObject({ id: 0, region: 1, zone: 1, port: 6200, weight: 100 });

  expect(await tool.json('plan cities')).toMatchObject({
    ...{ changed: false, moved: 0, inFlight: next.moved },
  });
  expect((await tool.run('commit cities -m again --json')).exit).toBe(5);
  expect((await tool.run('diff cities --exit-code')).exit).toBe(1);
  const diff = await tool.json('diff cities 1 2');
  expect(diff).toMatchObject({ differs: true, moved: 0, movesStarted: next.moved });
  const log = await tool.json<{ entries: { kind: string }[] }>('log cities');
  expect(log.entries.map(({ kind }) => kind)).toEqual(['commit', 'push', 'commit']);
  expect(await tool.json('show cities v1')).toMatchObject({ version: 1, slots: 96, parent: null });
  const found = await tool.json<{ keys: { key: string; devices: object[] }[] }>([
    'lookup',
    'cities',
    '007',
    '-',
    '--',
    '--key',
  ]);
  expect(found.keys.map(({ key }) => key)).toEqual(['007', '-', '--key']);
  expect(found.keys[0]).toMatchObject({ devices: { length: 3 } });
  expect(await tool.json('verify cities')).toMatchObject({ ok: true, versions: 2, findings: [] });
});

const badInput = [
  ['ad', 2, 'USAGE'],
  ['add', 2, 'USAGE'],
  ['add cities --bogus 1', 2, 'USAGE'],
  ['add nope r1z1-10.0.0.1:6200/sdb 1', 2, 'RING_UNKNOWN'],
  ['add cities r1z1-10.0.0.1:6200/sdb 1', 2, 'DEVICE_DUPLICATE'],
  ['add cities r1z1-10.0.0.300:6200/sdb 1', 2, 'DEVICE_INVALID'],
  ['add cities r1z1-10.0.0.9:6200/sdb -1', 2, 'VALUE_OUT_OF_RANGE'],
  ['add cities --from missing.csv', 2, 'USAGE'],
  ['create cities --partition-power 4 --replicas 3', 2, 'RING_EXISTS'],
  ['create a --partition-power 25 --replicas 3', 2, 'VALUE_OUT_OF_RANGE'],
  ['create a --partition-power 4 --replicas 33', 2, 'VALUE_OUT_OF_RANGE'],
  ['create ../a --partition-power 4 --replicas 3', 2, 'NAME_INVALID'],
  ['set-weight cities d9 100', 2, 'DEVICE_UNKNOWN'],
  ['set cities --overload 11', 2, 'VALUE_OUT_OF_RANGE'],
  ['plan few', 2, 'REPLICAS_EXCEED_DEVICES'],
  ['commit few -m x', 2, 'REPLICAS_EXCEED_DEVICES'],
  ['commit cities', 2, 'USAGE'],
  ['commit cities -m x --plan 0123456789ab', 3, 'PLAN_STALE'],
  ['show cities 9', 2, 'RING_VERSION_UNKNOWN'],
  ['show cities --fingerprint c0ffee', 2, 'USAGE'],
  ['show few', 2, 'RING_EMPTY'],
] as const;

test.concurrent('bad input ends with an error code and a message, and changes nothing', {
  timeout: 60_000,
}, async () => {
  const tool = await committed();
  await tool.json('create few --partition-power 4 --replicas 3');
  await tool.json('add few r1z1-10.0.0.1:6200/sdb 100');
  const before = await filesOf(tool.folder);
  const check = async ([args, exit, code]: (typeof badInput)[number]): Promise<void> => {
    const ended = await tool.run(`${args} --json`);
    expect(ended, args).toMatchObject({ exit, stdout: '' });
    const document = JSON.parse(ended.stderr);
    expect(document, args).toMatchObject({ code, details: {} });
    expect(document.message, args).not.toBe('');
  };
  await Promise.all(badInput.map(check));
  expect(await filesOf(tool.folder)).toEqual(before);
});

test.concurrent('the same commands give the same ring files in any folder', {
  timeout: 60_000,
}, async () => {
  const [a, b] = await Promise.all([committed(), committed()]);
  const change = 'add cities r2z1-10.0.1.1:6200/sdb 50';
  for (const tool of [a, b]) {
    await tool.json(change);
    await tool.json('remove cities 10.0.0.1:6200/sdb');
    await tool.json('commit cities -m second');
  }
  for (const name of ['0000001.ring', '0000002.ring']) {
    const path = join('rings', 'cities', 'versions', name);
    const bytes = await readFile(join(a.folder, path));
    expect(bytes.equals(await readFile(join(b.folder, path)))).toBe(true);
  }
  const { devices: left } = await a.json<TableDocument>('table cities');
  expect(left[0]).toBe(null);
  expect((await a.json('commit cities -m third'))['changed']).toBe(false);
});

test.concurrent('exactly one of two racing committers wins', { timeout: 60_000 }, async () => {
  const tool = await ringBuilderProgramIn();
  await tool.json(create);
  await tool.json(`add cities ${devices}`);
  const args = 'commit cities -m race --json';
  const ended = await Promise.all([tool.run(args), tool.run(args)]);
  const won = ended.filter(({ exit, stdout }) => exit === 0 && JSON.parse(stdout).changed);
  expect(won).toHaveLength(1);
  // The other commit was either late (nothing left to do) or refused with both heads.
  const lost = ended.find((one) => one !== won[0]);
  expect([0, 3]).toContain(lost?.exit);
  expect(await readdir(join(tool.folder, 'rings', 'cities', 'versions'))).toHaveLength(1);
  expect(await tool.json('verify cities')).toMatchObject({ ok: true, versions: 1 });
});

test.concurrent('devices are read as JSON and CSV, from a file and from stdin', {
  timeout: 60_000,
}, async () => {
  const tool = await ringBuilderIn();
  await tool.json(create);
  await writeFile(
    join(tool.folder, 'd.csv'),
    'zone,region,ip,port,device,weight,meta\n1,1,10.0.0.1,6200,sdb,100,"a, b"\n\n2,1,::1,6200,sdb,5.5,\n',
  );
  const program = await ringBuilderProgramIn(tool.folder);
  await program.json('add cities --from d.csv');
  const one = { region: 1, zone: 3, ip: 'host-3', port: 6200, device: 'sdb', weight: 100 };
  expect((await program.run('add cities --from -', JSON.stringify([one]))).exit).toBe(0);
  await tool.json('add cities --zone 4 --ip 10.0.0.4 --port 6200 --device sdb --weight 1');
  const { devices: found } = await tool.json('status cities');
  expect(found).toMatchObject([
    { id: 0, meta: 'a, b' },
    { id: 1, ip: '::1', zone: 2, weight: 5.5 },
    { id: 2, ip: 'host-3', meta: '' },
    { id: 3, region: 1, zone: 4 },
  ]);
  const bad = await program.run('add cities --from - --json', '[{"region":1}]');
  expect(JSON.parse(bad.stderr)).toMatchObject({ code: 'DEVICE_INVALID' });
  await tool.json('set-weight cities d0 7 [::1]:6200/sdb 8');
  await tool.json('set-device cities host-3:6200/sdb --meta rack-7');
  await tool.json('set cities --min-part-hours 24');
  expect((await tool.json('status cities'))['changes']).toBe(8);
  expect(await tool.json('unstage cities')).toMatchObject({ changed: true });
  expect((await tool.json('status cities'))['changes']).toBe(0);
});

test.concurrent('a direct commit of a pushed ring needs a confirmation and an override reason', {
  timeout: 60_000,
}, async () => {
  const tool = await committed();
  await notePush(tool.folder);
  await tool.json('set-weight cities d0 50');
  const refused = await tool.run('commit cities -m x --direct --json');
  expect(refused.exit).toBe(5);
  expect(JSON.parse(refused.stderr)).toMatchObject({ code: 'CONFIRMATION_NEEDED' });
  const heldUp = await tool.run('commit cities -m x --direct --yes --json');
  expect(heldUp.exit).toBe(5);
  expect(JSON.parse(heldUp.stderr)).toMatchObject({ code: 'BRAKE', details: { moved: 10 } });
  const done = await tool.json('commit cities -m x --direct --yes --override servers-hold-nothing');
  expect(done).toMatchObject({ version: 2, direct: true, changed: true });
  expect((await tool.json('table cities'))['moves']).toEqual([]);
});

test.concurrent('verify and status fail if the log was edited', { timeout: 60_000 }, async () => {
  const tool = await committed();
  const path = join(tool.folder, 'rings', 'cities', 'log.jsonl');
  await writeFile(path, (await readFile(path, 'utf8')).replace('"first"', '"forged"'));
  const ended = await tool.run('verify cities --json');
  expect(ended.exit).toBe(1);
  expect(JSON.parse(ended.stdout)).toMatchObject({ ok: false });
  expect((await tool.run('status cities')).exit).toBe(1);
});

test.concurrent('the log names the person of --author, at this machine', {
  timeout: 120_000,
}, async () => {
  const tool = await ringBuilderIn();
  await tool.json(create);
  await tool.json(`add cities ${devices}`);
  await tool.json('commit cities -m first --author carol');
  const { entries } = await tool.json<{ entries: unknown[] }>('log cities --author carol');
  expect(entries).toEqual([expect.objectContaining({ user: `carol@${hostname()}` })]);
});

test.concurrent('a hint includes the --rings folder, so that it can be typed as printed', {
  timeout: 60_000,
}, async () => {
  const tool = await ringBuilderIn();
  const ended = await tool.run('status cities --rings there');
  const restore = 'ring-builder restore --rings there cities --from FILE.ring';
  expect(ended.stderr).toContain(restore);
  const inJson = await tool.run('status cities --rings there --json');
  expect((JSON.parse(inJson.stderr) as { hint: string }).hint).toContain(restore);
  expect((await tool.run('status cities')).stderr).toContain('ring-builder restore cities --from');
});
