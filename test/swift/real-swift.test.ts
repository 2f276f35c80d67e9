// Round trips through the real Swift of this machine. Skipped, with a message, if it is not
// installed.
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { handoffsOf, tierCountsOf } from '@ringwright/ring/handoffs-of';
import { devicesOf } from '@ringwright/ring/lookup';
import { partitionerOf } from '@ringwright/ring/partitioner/partition-of-key';
import type { Ring } from '@ringwright/ring/ring';
import { exportSwiftBuilder } from '@ringwright/swift/export-swift';
import { importSwift } from '@ringwright/swift/import-swift';
import { readSwiftFile } from '@ringwright/swift/swift-file';
import { decodeSwiftRing, encodeSwiftRing } from '@ringwright/swift/swift-ring-file';
import { encodeSwiftBuilder } from '@ringwright/swift/write-swift-builder';
import { describe, expect, test } from 'vitest';
import {
  swiftBuilders,
  swiftFile,
  swiftFixtures,
} from '../../packages/swift/test/support/swift-ring.ts';
import {
  swiftAnswers,
  swiftDifferences,
  swiftInstalled,
  swiftOddBuilders,
  swiftRingBuilder,
} from '../support/real-swift.ts';
import { ringBuilderHere } from '../support/ring-builder-here.ts';

const installed = swiftInstalled();
if (!installed) console.warn('skipped: no OpenStack Swift here (apt-get install swift)');
const salts = { prefix: '70c3a9', suffix: 'ff00' };
const settings = { ring: 'objects', cluster: 'default', ...salts };
const scratch = (): Promise<string> => mkdtemp(join(tmpdir(), 'ringwright-swift-'));

interface Found {
  readonly keys: readonly { readonly devices: readonly object[] }[];
}

/** Returns the devices of partitions in the form of swiftAnswers. */
function answersHere(ring: Ring): [number[], number[]][] {
  const counts = tierCountsOf(ring);
  const ids = (devices: Iterable<{ readonly id: number }>): number[] =>
    Array.from(devices, ({ id }) => id);
  const found: [number[], number[]][] = [];
  const step = 1 + Math.floor(ring.partitions / 256);
  for (let partition = 0; partition < ring.partitions; partition += step) {
    const handoffs = handoffsOf(ring, partition, counts).take(6);
    found.push([ids(devicesOf(ring, partition)), ids(handoffs)]);
  }
  return found;
}

describe.skipIf(!installed)('with the real Swift', () => {
  test('Swift gives the same answers for every exported ring', { timeout: 120_000 }, async () => {
    const folder = await scratch();
    const rings = swiftFixtures().map(({ fixture }) => {
      const swift = decodeSwiftRing(swiftFile(`${fixture}.ring.gz`));
      return { fixture, swift, file: join(folder, `${fixture}.ring.gz`) };
    });
    for (const { file, swift } of rings) await writeFile(file, encodeSwiftRing(swift, 1));
    const answers = await swiftAnswers(
      rings.map(({ file }) => file),
      salts,
    );
    expect(answers).toHaveLength(rings.length);
    for (const [index, { fixture, swift }] of rings.entries()) {
      const { ring } = importSwift({ kind: 'ring', ring: swift }, settings);
      const { partitions, version, keys } = answers[index]!;
      expect(partitions, fixture).toEqual(answersHere(ring!));
      expect(version, fixture).toBe(swift.version);
      for (const [path, partition] of keys) {
        expect(partitionerOf(ring!.partitioner)(Buffer.from(path))).toBe(partition);
      }
    }
  });

  test('Swift sees the same builders after a round trip', { timeout: 120_000 }, async () => {
    const folder = await scratch();
    const pairs = swiftBuilders().map(({ fixture }): [string, string] => {
      const paths = ['given', 'back'].map((kind) => join(folder, `${fixture}.${kind}.builder`));
      return [paths[0]!, paths[1]!];
    });
    for (const [index, { fixture }] of swiftBuilders().entries()) {
      const given = swiftFile(`${fixture}.builder`);
      const { ring, state } = importSwift(readSwiftFile(given), settings);
      const back = encodeSwiftBuilder(exportSwiftBuilder(ring!, state, new Map()));
      await writeFile(pairs[index]![0], given);
      await writeFile(pairs[index]![1], back);
    }
    expect(await swiftDifferences(pairs)).toBe('');
  });

  test('builders that are usual only in Swift are imported and exported unchanged', {
    timeout: 120_000,
  }, async () => {
    const tool = await ringBuilderHere();
    const names = await swiftOddBuilders(tool.folder);
    expect(names.length).toBeGreaterThan(15);
    const pairs: [string, string][] = [];
    for (const name of names) {
      const [given, back] = [`${name}.builder`, `${name}.back.builder`];
      await tool.json(`import-swift ${given} ${name} --hash-suffix changeme`);
      await tool.json(`export-swift ${name} ${back}`);
      pairs.push([join(tool.folder, given), join(tool.folder, back)]);
      if (name.startsWith('never')) continue;
      const found = await tool.json<Found>(['lookup', name, `/a/c/${'o'.repeat(3_000)}`]);
      expect(found.keys[0]?.devices.length).toBeGreaterThan(1);
      // The ring file as well: same table, same devices, same header.
      const ring = decodeSwiftRing(await readFile(join(tool.folder, `${name}.ring.gz`)));
      await tool.json(`import-swift ${name}.ring.gz ${name}-ring --hash-suffix changeme`);
      await tool.json(`export-swift ${name}-ring ${name}.back.ring.gz`);
      const again = await readFile(join(tool.folder, `${name}.back.ring.gz`));
      expect(decodeSwiftRing(again), name).toEqual(ring);
      // A removed device has the weight 0 in Swift and others have 0.0, which is the same number.
      if (name === 'removing') continue;
      const swiftBytes = await readFile(join(tool.folder, `${name}.ring.gz`));
      expect(gunzipSync(again).equals(gunzipSync(swiftBytes)), name).toBe(true);
    }
    expect(await swiftDifferences(pairs)).toBe('');
  });

  test('a ring is exported to Swift, rebalanced there, and imported again', {
    timeout: 60_000,
  }, async () => {
    const tool = await ringBuilderHere();
    const devices = [1, 2, 3, 4].map((n) => `r1z${n}-10.0.0.${n}:6200/sdb_rack${n} 100`).join(' ');
    await tool.json('create objects --partition-power 6 --replicas 2.5 --hash-suffix changeme');
    await tool.json(`add objects ${devices}`);
    await tool.json('commit objects -m first');
    await tool.json('export-swift objects o.builder --builder');
    await tool.json('export-swift objects o.ring.gz');
    const swift = (words: string) => swiftRingBuilder(`o.builder ${words}`.split(' '), tool.folder);
    expect(swift('validate')).toMatchObject({ exit: 0 });
    expect(swift('pretend_min_part_hours_passed').exit).toBe(0);
    expect(swift('add r1z5-10.0.0.5:6200R10.9.0.5:6300/sdb_rack5 100').exit).toBe(0);
    expect(swift('remove d0').exit).toBe(0);
    // Imports the pending removal, before the rebalance drops the device.
    await tool.json('import-swift o.builder pending --hash-suffix changeme');
    const pending = await tool.json('plan pending');
    expect(pending).toMatchObject({ changed: true });
    const { exit, output } = swift('rebalance --seed 4');
    expect(exit, output).toBeLessThan(2);
    expect(output).toContain('Reassigned');

    const back = await tool.json('import-swift o.builder back --hash-suffix changeme');
    expect(back).toMatchObject({ version: 1, replicas: 2.5, devices: 4, warnings: [] });
    const table = await tool.json<{
      devices: ({ replication?: object } | null)[];
      table: number[][];
    }>('table back');
    expect(table.devices[0]).toBeNull();
    expect(table.devices[4]?.replication).toEqual({ ip: '10.9.0.5', port: 6300 });
    expect(table.table.flat()).not.toContain(0);
    const fromRing = await tool.json('import-swift o.ring.gz back2 --hash-suffix changeme');
    expect(fromRing).toMatchObject({ version: 1, replicas: 2.5 });
    expect((await tool.json<typeof table>('table back2')).table).toEqual(table.table);
    expect(await tool.json('verify back')).toMatchObject({ ok: true });
  });
});
