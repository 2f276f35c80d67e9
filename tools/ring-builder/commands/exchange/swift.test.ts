// Tests the commands that import and export files of Swift and JSON tables. The oracle is a set of
// answers recorded from Swift.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { notePush } from '../../../../test/support/note-push.ts';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';
import { filesOf } from '../../../../test/support/small-repository.ts';

const fixtures = join(import.meta.dirname, '../../../../packages/swift/test-data');
const lines = (await readFile(join(fixtures, 'lookups.jsonl'), 'utf8')).trim().split('\n');
const limit = { timeout: 60_000 };

test('an imported ring answers as Swift does and is exported unchanged', limit, async () => {
  const tool = await ringBuilderHere();
  const name = 'f03_regions_v2';
  const wanted = lines.map((line) => JSON.parse(line)).find(({ fixture }) => fixture === name);
  const salts = `--hash-prefix-hex ${wanted.prefix} --hash-suffix-hex ${wanted.suffix}`;
  const answer = await tool.json(`import-swift objects ${fixtures}/${name}.builder ${salts}`);
  expect(answer).toMatchObject({
    ring: 'objects',
    source: 'swift builder',
    version: 1,
    warnings: [],
  });
  expect(await tool.json('verify objects')).toMatchObject({ ok: true });
  expect(await tool.json('plan objects')).toMatchObject({ version: 2, moveLowerBound: 0 });

  // Only keys that can be arguments: text without NUL, and not too long.
  const paths = wanted.lookups
    .map((one: { key: string }) => ({
      ...one,
      path: Buffer.from(one.key, 'hex').toString('utf8'),
    }))
    .filter(
      ({ path, key }: { path: string; key: string }) =>
        Buffer.from(path).toString('hex') === key && !path.includes('\0') && key.length < 2_000,
    );
  expect(paths.length).toBeGreaterThan(30);
  const found = await tool.json<{
    keys: { partition: number; devices: { id: number }[]; handoffs: { id: number }[] }[];
  }>([
    'lookup',
    'objects',
    '--handoffs',
    '5',
    '--',
    ...paths.map(({ path }: { path: string }) => path),
  ]);
  expect(
    found.keys.map(({ partition, devices, handoffs }) => ({
      partition,
      primaries: devices.map(({ id }) => id),
      handoffs: handoffs.map(({ id }) => id),
    })),
  ).toEqual(
    paths.map(({ partition, primaries, handoffs }: Record<string, unknown>) => ({
      partition,
      primaries,
      handoffs,
    })),
  );

  expect(await tool.json('export-swift objects o.builder')).toMatchObject({
    changed: true,
  });
  expect(await tool.json('export-swift objects o.builder --builder')).toMatchObject({
    changed: false,
  });
  for (const format of [1, 2]) {
    const out = await tool.json(`export-swift objects o${format}.ring.gz --format ${format}`);
    expect(out).toMatchObject({
      kind: `ring of format ${format}`,
      swiftVersion: 34,
      changed: true,
    });
    await tool.json(`import-swift o${format}.ring.gz back${format} ${salts}`);
  }
  await tool.json(`import-swift o.builder back3 ${salts}`);
  const tables = await Promise.all(
    ['objects', 'back1', 'back2', 'back3'].map((ring) => tool.json(`table ${ring}`)),
  );
  for (const { devices, table } of tables) {
    expect({ devices, table }).toEqual({
      devices: tables[0]!['devices'],
      table: tables[0]!['table'],
    });
  }
});

test(
  'a change of a Swift ring continues with commits and exports, without a rollout',
  limit,
  async () => {
    const tool = await ringBuilderHere();
    await tool.json(`import-swift ${fixtures}/f02_holes_v1.builder objects --hash-suffix changeme`);
    await tool.json('add objects r1z8-10.0.8.9:6200/sdz 100000 r1z9-10.0.9.9:6200/sdz 100000');
    const again = 'commit again when Swift has replicated this version';
    expect(await tool.text('plan objects')).toContain(`remedy: ${again}`);
    const ends = 'ring-builder export-swift objects objects.ring.gz';
    expect((await tool.answer('commit objects -m two')).next).toBe(ends);
    const status = await tool.answer('status objects');
    const left = '16 moves are left: when Swift has replicated this version';
    expect(status.lines.join('\n')).toContain(`${left}, ring-builder plan objects and a commit`);
    expect(status.next).toBe(ends);

    const rest = await tool.answer('commit objects -m rest');
    expect([rest.lines.length, rest.next]).toEqual([1, ends]);
    expect(await tool.json('status objects')).toMatchObject({ movesLeft: 0, next: ends });
    await notePush(tool.folder, 'objects');
    await tool.json('set-weight objects d0 1');
    expect((await tool.answer('commit objects -m pushed')).next).toBe(
      'ring-builder rollout objects',
    );
  },
);

test.each([
  ['--hash-suffix changeme', ['    swift_hash_path_suffix = changeme']],
  [
    '--hash-prefix é --hash-suffix-hex 00ff',
    [
      '    swift_hash_path_prefix = é',
      '    swift_hash_path_suffix = the bytes 00ff (hex), which are not text',
    ],
  ],
  ['', []],
])('export-swift shows %s as lines of swift.conf', async (salts, wanted) => {
  const tool = await ringBuilderHere();
  await tool.json(`import-swift ${fixtures}/f01_smallest_v1.builder objects ${salts}`.trim());
  const { lines: shown } = await tool.answer('export-swift objects o.ring.gz');
  expect(shown.filter((line) => line.startsWith('    '))).toEqual(wanted);
});

test('a printed table can be imported under another name', limit, async () => {
  const tool = await ringBuilderHere();
  await tool.json(`import-swift ${fixtures}/f06_fractional_v2.builder objects --hash-suffix x`);
  const printed = JSON.stringify(await tool.json('table objects'));
  await writeFile(join(tool.folder, 'ring.json'), printed);
  expect(await tool.json('import --from-json ring.json copy')).toMatchObject({ changed: true });
  const [a, b] = [await tool.json('table objects'), await tool.json('table copy')];
  expect(b['table']).toEqual(a['table']);
  expect(b['partitioner']).toEqual(a['partitioner']);
});

test('a refused import or export changes no files', limit, async () => {
  const tool = await ringBuilderHere();
  await writeFile(join(tool.folder, 'evil.builder'), '\x80\x02cos\nsystem\n.', 'latin1');
  await writeFile(join(tool.folder, 'ring.json'), '{"devices": []}');
  const cases: [string, number, string][] = [
    [
      `import-swift ${fixtures}/corrupt/c03_gzip_cut_trailer_only.ring.gz x`,
      2,
      'SWIFT_FILE_INVALID',
    ],
    [`import-swift ${fixtures}/corrupt/c09_version_2.ring.gz x`, 2, 'SWIFT_FILE_INVALID'],
    ['import-swift evil.builder x', 2, 'PICKLE_REFUSED'],
    ['import-swift ring.json x', 2, 'SWIFT_FILE_INVALID'],
    ['import-swift absent x', 2, 'USAGE'],
    [`import-swift ${fixtures}/f01_smallest_v1.builder X`, 2, 'NAME_INVALID'],
    [`import-swift ${fixtures}/f01_smallest_v1.builder x --hash-suffix-hex 1`, 2, 'USAGE'],
    ['import --from-json ring.json x', 2, 'IMPORT_FILE_INVALID'],
    ['import x', 2, 'USAGE'],
    ['export-swift x y', 2, 'RING_UNKNOWN'],
  ];
  for (const [command, exit, code] of cases) {
    expect(await tool.refusal(command), command).toEqual({ exit, code });
  }
  expect((await readdir(tool.folder)).sort()).toEqual(['evil.builder', 'ring.json']);
  const evil = join(tool.folder, 'evil.builder');
  await expect(tool.json('import-swift evil.builder x')).rejects.toMatchObject({
    message: expect.stringContaining(`${evil}: pickle: `),
    details: { file: evil },
  });

  await tool.json(`import-swift ${fixtures}/f02_holes_v1.builder x --hash-suffix s`);
  const before = await filesOf(tool.folder);
  const refusals: [string, number, string][] = [
    [`import-swift ${fixtures}/f01_smallest_v1.builder x`, 2, 'RING_EXISTS'],
    ['export-swift x evil.builder --builder', 5, 'CONFIRMATION_NEEDED'],
    ['export-swift x y --builder --format 2', 2, 'USAGE'],
    ['export-swift x y --format 3', 2, 'USAGE'],
    ['export-swift x y 9', 2, 'RING_VERSION_UNKNOWN'],
  ];
  for (const [command, exit, code] of refusals) {
    expect(await tool.refusal(command), command).toEqual({ exit, code });
  }
  expect(await filesOf(tool.folder)).toEqual(before);
  expect((await tool.json('export-swift x evil.builder --builder --yes'))['changed']).toBe(true);
});

test(
  'a ring in the middle of a partition power increase can be read but not changed',
  limit,
  async () => {
    const tool = await ringBuilderHere();
    // One increase is under way, one is done but not finished. Swift refuses changes in both.
    for (const name of ['f09_part_power_increase_v1', 'f09_part_power_increase_v2']) {
      const imported = await tool.json(
        `import-swift ${fixtures}/${name}.builder ${ringOf(name)} --hash-suffix s`,
      );
      expect(imported).toMatchObject({ warnings: [{ code: 'PART_POWER_INCREASING' }] });
      const ring = ringOf(name);
      const before = await filesOf(tool.folder);
      for (const command of [
        `add ${ring} r1z1-10.0.0.9:6200/sdz 100`,
        `remove ${ring} d0`,
        `set-weight ${ring} d0 1`,
        `set ${ring} --replicas 2`,
        `pin ${ring} 1 --off d0`,
        `maintenance ${ring} d0`,
        `plan ${ring}`,
        `commit ${ring} -m x`,
        `revert ${ring} 1 -m x`,
      ]) {
        expect(await tool.refusal(command), command).toEqual({
          exit: 5,
          code: 'PART_POWER_INCREASING',
        });
      }
      expect(await filesOf(tool.folder)).toEqual(before);
      expect(await tool.json(`status ${ring}`)).toMatchObject({
        frozen: expect.stringContaining('the partition power'),
        next: `ring-builder show ${ring}`,
      });
      for (const command of ['show', 'balance', 'verify', 'lookup']) {
        await tool.json(`${command} ${ring}${command === 'lookup' ? ' /a/c/o' : ''}`);
      }
      expect(await tool.json(`export-swift ${ring} ${name}.builder`)).toMatchObject({ version: 1 });
    }
  },
);

function ringOf(name: string): string {
  return name.replaceAll('_', '-');
}

test('replication addresses are typed as in Swift, and export and import keep them', async () => {
  const tool = await ringBuilderHere();
  const first = 'r1z1-10.0.0.1:6200R10.1.0.1:6300/sda';
  await tool.json('create objects --partition-power 4 --replicas 2');
  await tool.json(`add objects ${first} 1 r1z2-10.0.0.2:6200/sda 1`);
  await tool.json('set-device objects d1 --replication-address [FD01::2]:6300');
  expect(await tool.text('search objects all')).toContain(
    'd1 r1z2-10.0.0.2:6200R[fd01::2]:6300/sda',
  );
  for (const word of [first, 'r1z1-10.0.0.1:6200/sda']) {
    expect(await tool.text(`search objects ${word}`)).toContain(`d0 ${first}`);
  }
  await tool.json('commit objects -m first');
  await tool.json('export-swift objects o.ring.gz');
  await tool.json('import-swift o.ring.gz back');
  const table = (ring: string) => tool.json<{ devices: unknown[] }>(`table ${ring}`);
  const { devices } = await table('objects');
  expect(devices).toMatchObject([
    { replication: { ip: '10.1.0.1', port: 6300 } },
    { replication: { ip: 'fd01::2', port: 6300 } },
  ]);
  expect((await table('back')).devices).toEqual(devices);
  await tool.json('set-device objects d0 --replication-address none');
  expect(await tool.text('search objects d0')).toContain('d0 r1z1-10.0.0.1:6200/sda');
});
