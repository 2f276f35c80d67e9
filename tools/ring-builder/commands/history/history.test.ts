// Tests commands on a ring and its history: queries, log filters, revert, rebase, archive, restore
// and simulate.
import { cp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { notePush } from '../../../../test/support/note-push.ts';
import { type RingBuilder, ringBuilderIn } from '../../../../test/support/ring-builder-program.ts';
import { filesOf } from '../../../../test/support/small-repository.ts';

const devices = [1, 2, 3, 4].map((n) => `r1z${n}-10.0.0.${n}:6200/sdb 100`).join(' ');

async function committed(): Promise<RingBuilder> {
  const tool = await ringBuilderIn();
  await tool.json('create cities --partition-power 5 --replicas 2.5 --min-part-hours 0');
  await tool.json(`add cities ${devices}`);
  await tool.json('commit cities -m first');
  return tool;
}

const slow = { timeout: 120_000 };

test.concurrent('verify says what it reads if that takes a while', slow, async () => {
  const tool = await committed();
  expect((await tool.run('verify cities')).stderr).toBe('');
  const stray = join(tool.folder, 'rings/cities/versions/stray');
  await writeFile(stray, '');
  await truncate(stray, 21e6);
  expect((await tool.run('verify cities')).stderr).toBe(
    'verifying the versions of cities, 21.0 MB …\n',
  );
});

test.concurrent('queries answer in JSON and change no file', slow, async () => {
  const tool = await committed();
  const before = await filesOf(tool.folder);
  const balance = await tool.json<{ rows: unknown[] }>('balance cities');
  expect(balance).toMatchObject({ balanced: true, version: 1, rows: { length: 13 } });
  const dispersion = await tool.json('dispersion cities --exit-code');
  expect(dispersion).toMatchObject({ slotsWrong: 0, partitions: 32, replicas: 2.5 });
  const frontier = await tool.json('frontier cities 0 0.5');
  expect(frontier).toMatchObject({ required: 0, recommended: 0, points: { length: 2 } });
  const drill = await tool.json('drill cities zone r1z2 --offline');
  expect(drill).toMatchObject({ gone: [1], availability: { slotsLost: 20, withoutReplica: 0 } });
  const all = await tool.json('drill cities region 1 --offline');
  expect(all).toMatchObject({ unrecoverable: { code: 'REPLICAS_EXCEED_DEVICES' } });
  const why = await tool.json<{ slots: unknown[] }>('why cities 3');
  expect(why).toMatchObject({ partition: 3, blocks: [], next: { moves: [], refused: null } });
  expect(why.slots).toHaveLength(3);
  expect(await tool.json('why cities d2')).toMatchObject({ share: 20, slots: 20 });
  expect(await tool.json('why cities --as-key 3')).toMatchObject({ key: '3' });
  expect(await tool.json('lookup cities a --at 2027-01-01')).toMatchObject({ version: 1 });
  for (const [args, exit, code] of [
    ['why cities 32', 2, 'USAGE'],
    ['drill cities zone 9', 2, 'DEVICE_UNKNOWN'],
    ['lookup cities a --at 2020-01-01', 2, 'RING_VERSION_UNKNOWN'],
    ['log cities --since yesterday', 2, 'USAGE'],
    ['plan cities --rate fast', 2, 'USAGE'],
    ['rollout cities --rate none', 2, 'USAGE'],
    ['prune cities --keep 1', 5, 'CONFIRMATION_NEEDED'],
    ['archive cities --keep 0 --to x', 2, 'VALUE_OUT_OF_RANGE'],
    ['archive cities --keep 1 --to rings', 2, 'USAGE'],
    ['archive cities --keep 1 --to rings/cities', 2, 'USAGE'],
    ['archive cities --keep 1 --to rings/old/ones', 2, 'USAGE'],
    ['restore other --from rings/cities/versions/0000001.ring', 2, 'USAGE'],
    ['simulate missing.json', 2, 'USAGE'],
    ['revert cities 9', 2, 'RING_VERSION_UNKNOWN'],
  ] as const) {
    const typed = args.replace(/--(from|to) rings/, `--$1 ${tool.folder}/rings`);
    const ended = await tool.run(`${typed} --json`);
    expect(ended, args).toMatchObject({ exit, stdout: '' });
    expect(JSON.parse(ended.stderr), args).toMatchObject({ code });
  }
  expect(await filesOf(tool.folder)).toEqual(before);
});

test.concurrent(
  'a revert cancels moves in flight, and why shows a move while it is in flight',
  slow,
  async () => {
    const tool = await committed();
    await notePush(tool.folder);
    await tool.json('add cities r1z5-10.0.0.5:6200/sdb 100');
    const plan = await tool.json<{ moved: number }>('plan cities --offline');
    expect(plan).toMatchObject({ traffic: null, risk: { length: 4 }, tiers: { length: 11 } });
    await tool.json('commit cities -m joins');
    const { moves } = await tool.json<{ moves: { partition: number }[] }>('table cities');
    const partition = moves[0]?.partition;
    expect(await tool.json(`why cities ${partition}`)).toMatchObject({
      blocks: [{ code: 'MOVE_IN_FLIGHT' }],
      history: [{ kind: 'proposed', to: 4, version: 2, reason: { rule: 'share' } }, {}, {}, {}],
      next: { refused: 'MOVES_IN_FLIGHT' },
    });
    const shown = await tool.json<{ digest: string }>('revert cities 1');
    expect(shown).toMatchObject({ cancels: moves.length, moved: 0, version: 4 });
    const stale = await tool.run('revert cities 1 -m x --plan 0123456789ab --json');
    expect(JSON.parse(stale.stderr)).toMatchObject({ code: 'PLAN_STALE' });
    await tool.json('set cities --overload 0.1');
    const staged = await tool.run('revert cities 1 -m x --json');
    expect(JSON.parse(staged.stderr)).toMatchObject({ code: 'STAGED_MOVED' });
    await tool.json('unstage cities');
    const done = await tool.json(`revert cities 1 -m back --plan ${shown.digest}`);
    expect(done).toMatchObject({ version: 4, cancelled: moves.length, moved: 0 });
    expect(await tool.json('revert cities 1')).toMatchObject({ changed: false });
    const table = await tool.json<{ devices: { weight: number }[] }>('table cities');
    expect(table).toMatchObject({ moves: [] });
    expect(table.devices[4]?.weight).toBe(0);
    const diff = await tool.json('diff cities 2 4');
    expect(diff).toMatchObject({
      movesEnded: moves.length,
      devicesChanged: [{ fields: ['weight'] }],
    });
    const log = await tool.json<{ entries: { version: number }[] }>(
      'log cities --device d4 --stat',
    );
    expect(log.entries.map(({ version }) => version)).toEqual([4, 3, 2]);
    expect(await tool.json('log cities --author nobody')).toMatchObject({ entries: [] });
    expect(await tool.json('log cities --since 1h -n 1')).toMatchObject({
      entries: [{ version: 4 }],
    });
    expect(await tool.json('verify cities')).toMatchObject({ ok: true, versions: 4 });
  },
);

test.concurrent(
  'the second of two operators rebases; old versions are archived and restored',
  slow,
  async () => {
    const first = await committed();
    const second = await ringBuilderIn();
    await cp(first.folder, second.folder, { recursive: true });
    await first.json('set-weight cities d0 50');
    await first.json('commit cities -m smaller');
    await second.json('set-weight cities d1 70');
    const files = join(second.folder, 'rings', 'cities');
    for (const name of ['log.jsonl', 'versions']) {
      await cp(join(first.folder, 'rings', 'cities', name), join(files, name), { recursive: true });
    }
    const refused = await second.run('plan cities --json');
    expect(refused.exit).toBe(3);
    expect(JSON.parse(refused.stderr)).toMatchObject({
      code: 'STAGED_ON_OLD_HEAD',
      hint: expect.stringContaining('ring-builder rebase cities'),
    });
    expect(await second.json('rebase cities')).toMatchObject({
      onto: { version: 2 },
      staged: [{ changes: [{ kind: 'set-weight', id: 1, weight: 70 }] }],
    });
    await second.json('commit cities -m smaller');
    const fetched = await first.json(`rebase cities --onto ${join(second.folder, 'rings')}`);
    expect(fetched).toMatchObject({ fetched: [3], onto: { version: 3 }, staged: [] });
    const old = join(first.folder, 'old');
    expect(await first.json(`archive cities --keep 1 --to ${old}`)).toMatchObject({
      versions: [1, 2],
    });
    const [noted = ''] = (await first.run('log cities -n 1')).stdout.split('\n');
    expect(noted).toMatch(/^v3 .* archive {2}versions 1 to 2$/);
    // The kind is still prune, because older programs read the log too.
    expect(await first.json('log cities -n 1')).toMatchObject({ entries: [{ kind: 'prune' }] });
    expect(await first.json('show cities 1')).toMatchObject({ version: 1 });
    expect(await first.json('verify cities')).toMatchObject({ ok: true });
    await first.json(`restore --from ${old}/cities/0000002.ring --rings anew`);
    const states = ['rings', 'anew'].map((rings) => first.json(`show cities 2 --rings ${rings}`));
    const [kept, restored] = await Promise.all(states);
    expect(restored?.['id']).toBe(kept?.['id']);
    await rm(old, { recursive: true });
    const gone = await first.run('show cities 2 --json');
    expect(JSON.parse(gone.stderr)).toMatchObject({ code: 'RING_VERSION_PRUNED' });
    expect(await first.json('verify cities')).toMatchObject({ ok: true, versions: 3, pruned: 2 });
    const { stdout } = await first.run('verify cities');
    expect(stdout).toContain('2 pruned versions: only the log describes them\n');
    expect(stdout).toMatch(/^1 version, .* are sound$/m);
    const newest = join(first.folder, 'rings', 'cities', 'versions', '0000003.ring');
    const whole = await readFile(newest);
    await writeFile(newest, whole.subarray(0, 100));
    const cut = await first.run('show cities 3 --json');
    expect(JSON.parse(cut.stderr)).toMatchObject({
      code: 'RING_FILE_INVALID',
      message: expect.stringContaining('rings/cities/versions/0000003.ring: '),
      hint: expect.stringContaining('ring-builder restore cities --from IP:PORT --replace'),
    });
    const found = await first.run('verify cities');
    expect(found.stdout).toContain(
      'ring-builder restore cities --from IP:PORT --replace takes over what',
    );
    await writeFile(newest, whole);
    const log = join(first.folder, 'rings', 'cities', 'log.jsonl');
    await writeFile(log, (await readFile(log, 'utf8')).replace('"through":2', '"through":3'));
    expect((await first.run('verify cities')).exit).toBe(1);
  },
);

test.concurrent('a simulated scenario with a refused step exits with 1', slow, async () => {
  const tool = await ringBuilderIn();
  const device = (zone: number) => ({
    zone,
    ip: `10.0.0.${zone}`,
    port: 6200,
    device: 'sdb',
    weight: 1,
  });
  const scenario = {
    part_power: 4,
    replicas: 2,
    devices: [1, 2, 3].map(device),
    sequence: [
      { kind: 'grow', after_hours: 5, ops: [{ op: 'add', dev: device(4) }] },
      { kind: 'shrink', ops: [{ op: 'replicas', replicas: 1 }] },
      { kind: 'bad', ops: [{ op: 'remove', id: 9 }] },
    ],
  };
  await writeFile(join(tool.folder, 's.json'), JSON.stringify(scenario));
  const ended = await tool.run(`simulate ${tool.folder}/s.json --json`);
  expect(ended.exit).toBe(1);
  const [run] = JSON.parse(ended.stdout).runs;
  expect(run.steps).toMatchObject([
    { name: 'first', version: 1 },
    { name: 'grow', version: 2, moved: 8, hours: 5 },
    { name: 'shrink', version: 3, moved: 0 },
    { name: 'bad', version: 3, refusal: { code: 'DEVICE_UNKNOWN' } },
  ]);
});
