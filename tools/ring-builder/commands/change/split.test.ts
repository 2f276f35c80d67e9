// Tests split, merge, retire and --partition-power as commands that are staged, planned and
// committed without servers. Refused commands change no file.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { finalizeMoves, initializeMoves } from '@ringwright/ring/advance-ring';
import { deviceIdsAt } from '@ringwright/ring/quorum';
import { expect, test } from 'vitest';
import { advance, receiptsOf } from '../../../../test/support/finalized-moves.ts';
import { notePush } from '../../../../test/support/note-push.ts';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';
import { filesOf } from '../../../../test/support/small-repository.ts';

async function withRing(shape: string, devices = 3) {
  const tool = await ringBuilderHere({ yes: true });
  await tool.json(`create cities ${shape} --replicas 2`);
  for (let n = 1; n <= devices; n += 1) await tool.json(`add cities r1z${n}-127.0.0.1:1/d${n} 1`);
  await tool.json('commit cities -m first');
  return tool;
}

test('one commit splits and merges partitions, and the next plan balances them', async () => {
  const tool = await withRing('--partitioner hash-intervals --partitions 4');
  await tool.json('split cities 0 --parts 3');
  await tool.json('merge cities 5 6');
  const plan = await tool.json<{ warnings: { code: string }[] }>('plan cities');
  expect(plan.warnings.map(({ code }) => code)).toEqual(Array(2).fill('PARTITION_RESHAPED'));
  await tool.json('commit cities -m both');
  const { intervals } = await tool.json<{ intervals: { id: number }[] }>('table cities');
  expect(intervals.map(({ id }) => id)).toEqual([7, 1, 2, 3, 4]);
  await tool.json('set-weight cities d0 9');
  const { moves } = await tool.json<{ moves: { partition: number }[] }>('plan cities');
  expect(moves.length).toBeGreaterThan(0);
  await tool.json('commit cities -m heavier');
  expect(await tool.json('verify cities')).toMatchObject({ findings: [] });
});

test('the pins that bring neighbors together are staged only once', async () => {
  const tool = await withRing('--partitioner hash-intervals --partitions 8');
  const first = await tool.json<{ changes: number }>('set cities --partition-power 2');
  expect(first.changes).toBeGreaterThan(1);
  const again = await tool.json('set cities --partition-power 2');
  expect(again).toMatchObject({ changes: first.changes, changed: false });
});

test('the limit on a change of replicas counts the partitions after a split', async () => {
  const tool = await withRing('--partitioner hash-intervals --partitions 4', 4);
  await tool.json('set cities --partition-power 4');
  await tool.json('commit cities -m split');
  const { lines } = await tool.answer('set cities --replicas 4');
  expect(lines.join('\n')).toContain(
    '2 to 4 replicas changes 32 slots, one version can change to at most 3',
  );
});

test('a removal staged beside a split waits for a later commit, and plan says so', async () => {
  const tool = await withRing('--partitioner hash-intervals --partitions 4');
  await tool.json('split cities 0');
  await tool.json('remove cities d2');
  const plan = await tool.json<{ warnings: { code: string }[] }>('plan cities');
  expect(plan.warnings.map(({ code }) => code)).toContain('STAGED_WAITS');
  await tool.json('commit cities -m split');
  const { next } = await tool.json<{ next: string }>('status cities');
  expect(next).toMatch(/^ring-builder plan cities/);
  const { rings } = await tool.json<{ rings: { state: string }[] }>('list');
  expect(rings[0]?.state).toContain('1 removed device with slots');
  const { moves } = await tool.json<{ moves: object[] }>('plan cities');
  expect(moves.length).toBeGreaterThan(0);
  await tool.json('commit cities -m removed');
  expect((await tool.json<typeof plan & { next: string }>('status cities')).next).not.toContain(
    'plan',
  );
});

const refused: readonly [shape: string, command: string, code: string][] = [
  ['--partitioner ranges --boundaries g,n', 'split cities 0 --at z', 'SPLIT_OUTSIDE'],
  ['--partitioner ranges --boundaries g,n', 'split cities 0 --at g', 'SPLIT_OUTSIDE'],
  ['--partitioner ranges --boundaries g,n', 'split cities 0 --at b b', 'SPLIT_OUTSIDE'],
  ['--partitioner ranges --boundaries g,n', 'split cities 0 --parts 2', 'SPLIT_OUTSIDE'],
  ['--partitioner ranges --boundaries g,n', 'merge cities 0 2', 'MERGE_NOT_ADJACENT'],
  ['--partitioner ranges --boundaries g,n', 'merge cities 1 1', 'MERGE_NOT_ADJACENT'],
  ['--partitioner ranges --boundaries g,n', 'split cities 9 --at b', 'VALUE_OUT_OF_RANGE'],
  ['--partitioner ranges --boundaries g,n', 'retire cities --before b', 'RETIRE_NOTHING'],
  ['--partitioner ranges', 'retire cities --before b', 'RETIRE_NOTHING'],
  ['--partitions 8', 'retire cities --before b', 'RESHAPE_UNFIT'],
  ['--partitioner ranges --boundaries g,n', 'set cities --partition-power 2', 'RESHAPE_UNFIT'],
  ['--partitions 8 --hash-suffix ab', 'split cities 1', 'RESHAPE_UNFIT'],
  ['--partitions 8 --partitioner murmur3-mod', 'set cities --partition-power 4', 'RESHAPE_UNFIT'],
  [
    '--partitions 6 --partitioner hash-intervals',
    'set cities --partition-power 4',
    'RESHAPE_UNFIT',
  ],
  ['--partitions 8', 'set cities --partition-power 4 --overload .1', 'USAGE'],
  ['--partitions 8', 'set cities --partition-power 25', 'VALUE_OUT_OF_RANGE'],
];

test.each(refused)('in a ring created with %s, %s is refused as %s', async (...row) => {
  const [shape, command, code] = row;
  const tool = await withRing(shape);
  const before = await filesOf(tool.folder);
  await expect(tool.json(command)).rejects.toMatchObject({ code });
  expect(await filesOf(tool.folder)).toEqual(before);
});

test('while moves are in flight a split or merge is staged but not committed', async () => {
  const tool = await withRing('--partitioner hash-intervals --partitions 4 --min-part-hours 0');
  await notePush(tool.folder);
  await tool.json('add cities r1z4-127.0.0.1:1/d4 1');
  await tool.json('commit cities -m joins');
  const { moves } = await tool.json<{ moves: unknown[] }>('table cities');
  expect(moves.length).toBeGreaterThan(0);
  for (const command of ['split cities 0', 'merge cities 1 2', 'set cities --partition-power 3']) {
    await tool.json(command);
    const before = await filesOf(tool.folder);
    for (const next of ['plan cities', 'commit cities -m no']) {
      await expect(tool.json(next)).rejects.toMatchObject({
        ...{ code: 'MOVES_IN_FLIGHT', details: { version: 2, moves: moves.length } },
        message: expect.stringContaining(`${moves.length} moves`),
      });
    }
    expect(await filesOf(tool.folder)).toEqual(before);
    await tool.json('unstage cities');
  }
});

test('retired partitions count as risk, also the retired part of a split partition', async () => {
  const tool = await withRing('--partitioner ranges --boundaries g,n');
  await tool.json('split cities 1 --at k');
  await tool.json('retire cities --before k');
  const givenUp = { partitions: [0, 1], bytes: null };
  expect(await tool.json('plan cities')).toMatchObject({ givenUp });
  expect(await tool.text('plan cities')).toContain(
    'at risk: 2 partitions are dropped, of unknown size',
  );
  expect(await tool.refusal('commit cities -m old --if risk=0')).toMatchObject({
    code: 'PLAN_OVER_LIMIT',
  });
  await tool.json('commit cities -m old --if risk=2');
  // The partition that replaces the retired ones starts empty. It can be merged like any other.
  await tool.json('merge cities 5 4');
  expect(await tool.json('plan cities')).toMatchObject({ givenUp: null });
  await tool.json('commit cities -m later');
  expect(await tool.json('verify cities')).toMatchObject({ findings: [] });
});

test('after a split a revert across it and fractional replicas are refused', async () => {
  const tool = await withRing('--partitioner ranges');
  await tool.json('split cities 0 --at m');
  await tool.json('commit cities -m split');
  await expect(tool.json('revert cities 1')).rejects.toMatchObject({
    code: 'RESHAPE_UNFIT',
    details: { changes: ['ring-builder merge cities 1 2'] },
  });
  await tool.json('set cities --replicas 2.5');
  await expect(tool.json('plan cities')).rejects.toMatchObject({
    code: 'RESHAPE_UNFIT',
    details: { before: 2, after: 2.5 },
  });
});

test('commands that undo a merge quote their keys, which any writer may have chosen', async () => {
  const tool = await withRing("--partitioner ranges --boundaries=--h,a$(id),it's", 2);
  await tool.json('merge cities 0 1');
  await tool.json('merge cities 4 2');
  await tool.json('merge cities 5 3');
  await tool.json('commit cities -m merged');
  await expect(tool.json('revert cities 1')).rejects.toMatchObject({
    code: 'RESHAPE_UNFIT',
    details: {
      changes: [
        'ring-builder split cities 6 --at=--h',
        "ring-builder split cities 6 --at 'a$(id)'",
        "ring-builder split cities 6 --at 'it'\\''s'",
      ],
    },
  });
});

test('a split at once, of a ring that servers have, needs a reason', async () => {
  const tool = await withRing('--partitioner ranges');
  await notePush(tool.folder);
  await tool.json('split cities 0 --at m');
  await expect(tool.json('commit cities -m split --direct')).rejects.toMatchObject({
    code: 'BRAKE',
    message: expect.stringContaining('1 partition ends, and no other gets the records'),
  });
  await tool.json('commit cities -m split --direct --override servers-hold-nothing');
});

test('why shows the slots of a partition after a split or merge as new', async () => {
  const tool = await withRing('--partitioner ranges');
  const rings = join(tool.folder, 'rings');
  await tool.json('split cities 0 --at m');
  await tool.json('commit cities -m split');
  const direct = await tool.text('why cities 1');
  expect(direct).toMatch(/v2 +new on d\d direct: its partition was split off or merged/);
  expect(direct).not.toContain('65535');

  await notePush(tool.folder);
  await tool.json('merge cities 1 2');
  await tool.json('commit cities -m merge');
  await expect(tool.text('why cities 3')).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining('being filled from 1, 2'),
  });
  await advance(rings, initializeMoves);
  await advance(rings, finalizeMoves, receiptsOf);
  const moved = await tool.text('why cities 3');
  expect(moved).toMatch(/v5 +new on d\d finalized[^]*v3 +new on d\d proposed/);
  expect(moved).not.toMatch(/65535|history ends/);
});

test('the printed table of a split ring can be imported as it is', async () => {
  const tool = await withRing('--partitioner hash-intervals --partitions 4');
  await tool.json('split cities 1');
  await tool.json('commit cities -m split');
  const printed = await tool.json<{
    table: (number | null)[][];
    partitioner: object;
  }>('table cities');
  expect(printed.table[0]?.[1]).toBeNull();
  await writeFile(join(tool.folder, 'table.json'), JSON.stringify(printed));
  await tool.json('import --from-json table.json copy');
  const { table, partitioner } = printed;
  expect(await tool.json('table copy')).toMatchObject({ table, partitioner });
  expect(await tool.json('verify copy')).toMatchObject({ findings: [] });
  const broken = { ...printed, table: printed.table.map((row) => row.with(0, null)) };
  await writeFile(join(tool.folder, 'table.json'), JSON.stringify(broken));
  await expect(tool.json('import --from-json table.json other')).rejects.toMatchObject({
    message: expect.stringContaining('table.0.0 is null'),
    hint: expect.not.stringContaining('RING'),
  });
});

test('after a split and a canceled split, replicas can be added and removed', async () => {
  const tool = await withRing('--partitioner ranges --boundaries g,n', 4);
  const rings = join(tool.folder, 'rings');
  await notePush(tool.folder);
  const land = async (...changes: string[]) => {
    for (const change of changes) await tool.json(change);
    await tool.json('commit cities -m change');
    await advance(rings, initializeMoves);
    await advance(rings, finalizeMoves, receiptsOf);
  };
  const replicasIn = async () => {
    const { ring } = await readVersion(rings, 'cities', 'head');
    const ids = Array.from({ length: ring.partitions }, (_, id) => id);
    return ids.map((id) => deviceIdsAt(ring.table, id).length);
  };
  await land('split cities 1 --at j');
  await tool.json('split cities 0 --at c');
  await tool.json('commit cities -m given-up');
  await tool.json('moves cities cancel all');
  await land('set cities --replicas 3');
  expect(await replicasIn()).toEqual([3, 0, 3, 3, 3, 0, 0]);
  await land('set cities --replicas 2');
  expect(await replicasIn()).toEqual([2, 0, 2, 2, 2, 0, 0]);
  expect(await tool.json('diff cities 9 10')).toMatchObject({ slotsRemoved: 4 });
  expect(await tool.json('verify cities')).toMatchObject({ ok: true, findings: [] });
  expect(await tool.json('verify cities --optimal')).toMatchObject({ ok: true });
});

test('--partition-power splits and merges all partitions, with moves where needed', async () => {
  const tool = await withRing('--partitions 8');
  const live = async () =>
    (await tool.json<{ intervals: unknown[] }>('table cities')).intervals.length;
  const keyAt = async () => {
    const [found] = (await tool.json<{ keys: { devices: unknown }[] }>('lookup cities Ulm')).keys;
    return found?.devices;
  };
  const before = await keyAt();
  await tool.json('set cities --partition-power 5');
  await tool.json('commit cities -m four');
  expect([await live(), await keyAt()]).toEqual([32, before]);
  await tool.json('set cities --partition-power 3');
  await tool.json('commit cities -m back');
  expect(await live()).toBe(8);
  await tool.json('set cities --partition-power 2');
  await tool.json('commit cities -m together --override test');
  await tool.json('set cities --partition-power 2');
  await tool.json('commit cities -m half');
  expect(await live()).toBe(4);
  const { devices } = await tool.json<{ devices: { before: number }[] }>('plan cities');
  expect(devices.reduce((sum, { before: slots }) => sum + slots, 0)).toBe(8);
  expect(await tool.json('verify cities')).toMatchObject({ findings: [] });
});

test.each([
  ['--partitioner ranges --boundaries g,n', ['split cities 1 --at k', 'merge cities 4 2']],
  ['--partitioner hash-intervals --partitions 4', ['split cities 3', 'merge cities 5 0']],
])('the commands that a refused revert names restore the intervals: %s', async (shape, changes) => {
  const tool = await withRing(shape, 2);
  const ends = async () => {
    const { intervals } = await tool.json<{ intervals: { end: unknown }[] }>('table cities');
    return intervals.map(({ end }) => end);
  };
  const before = await ends();
  for (const change of changes) await tool.json(change);
  await tool.json('commit cities -m other --override test');
  expect(await ends()).not.toEqual(before);
  for (let step = 0; step < 9; step += 1) {
    const error: unknown = await tool.json('revert cities 1').catch((one: unknown) => one);
    if (!(error instanceof CodedError)) throw error;
    const { changes: wanted = [] } = error.details as { changes?: string[] };
    const [command] = wanted;
    if (command === undefined) break;
    await tool.json(command.replace('ring-builder ', ''));
    await tool.json('commit cities -m back --override test');
  }
  expect(await ends()).toEqual(before);
});

test('partitions on different devices are pinned together until they are merged', async () => {
  const tool = await withRing('--partitioner hash-intervals --partitions 16');
  const { table } = await tool.json<{ table: number[][] }>('table cities');
  const at = (id: number) =>
    table
      .map((row) => row[id])
      .toSorted((a = 0, b = 0) => a - b)
      .join();
  const apart = Array.from({ length: 15 }, (_, id) => id).find((id) => at(id) !== at(id + 1))!;
  const merge = `merge cities ${apart} ${apart + 1}`;
  const { staged } = await tool.json<{ staged: { kind: string }[] }>(merge);
  expect(staged.map(({ kind }) => kind)).toEqual(['pin', 'pin']);
  await tool.json('commit cities -m together --override test');
  expect(await tool.json(merge)).toMatchObject({ staged: [{ kind: 'merge' }] });
  await tool.json('commit cities -m merged');
  await expect(tool.json('unpin cities all')).resolves.toMatchObject({ changed: false });
});

test('half of a split partition cannot be merged with a neighbor on other devices', async () => {
  const tool = await withRing('--partitioner hash-intervals --partitions 16');
  const { table } = await tool.json<{ table: number[][] }>('table cities');
  const at = (id: number) => table.map((row) => row[id] ?? -1);
  const ids = Array.from({ length: 15 }, (_, id) => id);
  const apart = ids.find((id) => new Set([...at(id), ...at(id + 1)]).size > 2)!;
  await tool.json(`split cities ${apart}`);
  const before = await filesOf(tool.folder);
  await expect(tool.json(`merge cities 17 ${apart + 1}`)).rejects.toMatchObject({
    code: 'MERGE_APART',
    hint: expect.stringContaining(`merge cities ${apart + 1} ${apart}:`),
    details: { partitions: [apart + 1, apart], devices: [at(apart + 1), at(apart)] },
  });
  expect(await filesOf(tool.folder)).toEqual(before);
});

test('before the first version a merge can be staged, but its plan is refused', async () => {
  const tool = await ringBuilderHere();
  await tool.json('create cities --partitions 8 --replicas 2 --partitioner hash-intervals');
  await tool.json('add cities r1z1-127.0.0.1:1/a 1 r1z2-127.0.0.1:1/b 1 r1z3-127.0.0.1:1/c 1');
  expect(await tool.json('set cities --replicas 3')).toMatchObject({ changed: true });
  for (const reshape of ['merge cities 4 5', 'set cities --partition-power 4']) {
    expect(await tool.json(reshape)).toMatchObject({ changed: true });
    expect(await tool.refusal('plan cities')).toMatchObject({ code: 'RESHAPE_UNFIT' });
    await tool.json('unstage cities 3');
  }
  expect(await tool.json('commit cities -m first')).toMatchObject({ version: 1 });
});

test('a merge is refused while a change of replicas is staged', async () => {
  const tool = await withRing('--partitions 16', 6);
  await tool.json('set cities --replicas 2.5');
  await tool.json('commit cities -m more');
  await tool.json('set cities --replicas 3');
  for (const typed of ['set cities --partition-power 3', 'merge cities 2 3']) {
    await expect(tool.answer(typed), typed).rejects.toMatchObject({
      code: 'RESHAPE_UNFIT',
      message: 'cities cannot be split or merged: 2.5 replicas are to become 3',
      hint: expect.stringMatching(/unstage cities, .* --replicas 3, commit and rollout first$/),
    });
  }
  await tool.json('commit cities -m three');
  await tool.json('set cities --partition-power 3');
});

test.each(['--partition-power 4', '--partitions 16 --partitioner hash-intervals'])(
  'the current partition power changes nothing, and later commits succeed (%s)',
  async (shape) => {
    const tool = await withRing(shape);
    await notePush(tool.folder);
    expect(await tool.json('set cities --partition-power 4')).toMatchObject({ changed: false });
    const { partitioner } = await tool.json('table cities');
    await tool.json('commit cities -m same');
    await tool.json('set-weight cities d0 3');
    expect(await tool.json('commit cities -m heavier --override x')).toMatchObject({ version: 2 });
    expect(await tool.json('table cities')).toMatchObject({ version: 2, partitioner });
  },
);
