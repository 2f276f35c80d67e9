// Tests `list`, which shows the rings of a folder without asking a server, and argument order.
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { notePush } from '../../../../test/support/note-push.ts';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';
import { ringBuilderIn } from '../../../../test/support/ring-builder-program.ts';

test('list shows the rings of the folder in every state and ignores other entries', async () => {
  const tool = await ringBuilderHere();
  expect(await tool.refusal('list')).toEqual({ exit: 2, code: 'RINGS_UNKNOWN' });
  const rings = join(tool.folder, 'rings');
  await mkdir(rings);
  expect(await tool.json('list')).toEqual({ rings: [] });
  await tool.json('create empty --partitions 8 --replicas 2');
  await tool.json('create cities --partitions 8 --replicas 2');
  await tool.json(
    'add cities r1z1-10.0.0.1:6200/a 1 r1z1-10.0.0.1:6200/b 1 r1z2-10.0.0.2:6200/a 1',
  );
  const { id } = await tool.json<{ id: string }>('commit cities -m first');
  await mkdir(join(rings, 'no-ring'));
  await writeFile(join(rings, 'trust'), 'a file');
  expect(await tool.json('list')).toMatchObject({
    rings: [
      { ring: 'cities', version: 1, id, servers: 2, devices: 3, state: 'never pushed' },
      { ring: 'empty', version: null, id: null, servers: 0, state: 'no version yet' },
    ],
  });
  await notePush(tool.folder);
  await tool.json('add cities r1z3-10.0.0.3:6200/a 1');
  const shown = await tool.text('list');
  expect(shown).toMatch(/^2 rings in .*rings\n\nRING +HEAD +ID/);
  expect(shown).toMatch(new RegExp(`cities +1 +${id.slice(0, 12)} .* 1 changes? staged\n`));
  await tool.json('commit cities -m second');
  expect(await tool.text('list')).toMatch(/cities +2 .* pushed up to 1, \d+ moves in flight/);
  await writeFile(join(rings, 'cities', 'log.jsonl'), 'x\n');
  expect(await tool.text('list')).toMatch(/cities .* RING_LOG_DAMAGED\n/);
  // A ring that cannot be read is a row too. A link to itself is unreadable even for root.
  const builder = join(rings, 'cities', 'builder.json');
  await rm(builder);
  await symlink(builder, builder);
  expect(await tool.text('list')).toMatch(
    /cities .* DISK_FAILED: ELOOP.*\nempty .* no version yet/,
  );
  const health = { ok: false, rings: [{ ring: 'cities' }, { ring: 'empty' }] };
  const troubles = [{ ring: 'cities', kind: 'unreadable', why: /^DISK_FAILED: ELOOP/ }];
  expect(await tool.json('health')).toMatchObject({
    ...health,
    troubles: troubles.map((one) => ({ ...one, why: expect.stringMatching(one.why) })),
  });
});

test('a new ring has no empty tables, and no next command that leads nowhere', async () => {
  const tool = await ringBuilderHere();
  await tool.json('create cities --partitions 8 --replicas 2');
  const created = ['cities: no version yet', 'never pushed to servers', '', 'nothing is staged'];
  expect((await tool.answer('status cities')).lines).toEqual(created);
  const none = await tool.answer('search cities r1');
  expect([none.lines, none.next]).toEqual([['0 devices of cities'], 'ring-builder status cities']);
  expect((await tool.answer('health')).next).toBe('ring-builder status cities');
  const log = await tool.answer('access log');
  expect([log.lines.length, log.next]).toEqual([1, 'ring-builder health']);
  await tool.json('add cities r1z1-10.0.0.1:6200/a 1 r1z1-10.0.0.1:6201/a 1');
  await tool.json('commit cities -m first');
  expect((await tool.answer('log cities')).next).toBe('ring-builder show cities');
  expect((await tool.answer('drill cities server 10.0.0.1')).lines.at(-1)).toMatch(
    /^recovery: none/,
  );
});

test('list and health go on without a trust.json that they can read', async () => {
  const tool = await ringBuilderIn();
  await tool.json('create cities --partitions 8 --replicas 1 --unsigned');
  await tool.json('add cities r1z1-127.0.0.1:1/a 1');
  await tool.json('commit cities -m first');
  const trust = join(tool.folder, 'rings', 'trust.json');
  for (const damage of [() => symlink(trust, trust), () => writeFile(trust, 'x\n')]) {
    await rm(trust, { force: true });
    await damage();
    const listed = await tool.run('list');
    expect([listed.exit, listed.stdout]).toEqual([0, expect.stringContaining('never pushed')]);
    const health = await tool.run('health');
    expect([health.exit, health.stdout]).toEqual([1, expect.stringContaining('trust.json')]);
  }
});

test('the ring is the first argument, and the old order of arguments still works', async () => {
  const tool = await ringBuilderHere();
  for (const ring of ['cities', 'list']) {
    await tool.json(`create ${ring} --partitions 8 --replicas 1`);
    await tool.json(`add ${ring} r1z1-127.0.0.1:1/a 1`);
    await tool.json(`commit ${ring} -m first`);
  }
  // No server listens there: the answer has to name the right ring in both orders.
  for (const [args, ring] of [
    ['trash cities list', 'cities'],
    ['trash list cities', 'cities'],
    ['trash confirm cities --yes', 'cities'],
    ['trash list confirm --yes', 'list'],
    ['trash list list', 'list'],
  ] as const) {
    expect(await tool.json(args), args).toMatchObject({ ring });
  }
  expect(await tool.refusal('trash cities burn')).toEqual({ exit: 2, code: 'USAGE' });
  expect(await tool.refusal('trash other list')).toEqual({ exit: 2, code: 'RING_UNKNOWN' });
  expect(await tool.refusal('trash list other')).toEqual({ exit: 2, code: 'RING_UNKNOWN' });
  // The file may be in either place. swift.test.ts imports real files in the old order.
  for (const args of ['import-swift x absent.builder', 'import-swift absent.builder x']) {
    const error = await tool.answer(args).catch((one: unknown) => one);
    expect(error).toMatchObject({ code: 'USAGE', message: expect.stringContaining('absent.b') });
  }
});
