// Reads the Swift rings (version 1 files) in test-data: as much as tests need, unchecked.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { firstRing } from '../../src/first-ring.ts';
import type { Ring } from '../../src/ring.ts';

interface SwiftLookup {
  readonly key: string;
  readonly hash: string;
  readonly partition: number;
  readonly primaries: readonly number[];
  readonly handoffs: readonly number[];
}

export interface SwiftFixture {
  readonly fixture: string;
  readonly prefix: string;
  readonly suffix: string;
  readonly partShift: number;
  readonly lookups: readonly SwiftLookup[];
  readonly everyHandoff: { readonly partition: number; readonly handoffs: readonly number[] };
}

const folder = new URL('../../test-data/swift/', import.meta.url);

export function swiftFixtures(): SwiftFixture[] {
  const lines = readFileSync(new URL('lookups.jsonl', folder), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as SwiftFixture);
}

export function swiftRing({ fixture, prefix, suffix, partShift }: SwiftFixture): Ring {
  const bytes = gunzipSync(readFileSync(new URL(`${fixture}.ring.gz`, folder)));
  const headEnd = 10 + bytes.readUInt32BE(6);
  const head = JSON.parse(bytes.toString('latin1', 10, headEnd)) as {
    byteorder: string;
    devs: Ring['devices'];
  };
  const body = bytes.subarray(headEnd);
  const power = 32 - partShift;
  const partitions = 2 ** power;
  const ids = Array.from({ length: body.length / 2 }, (_, index) =>
    head.byteorder === 'big' ? body.readUInt16BE(index * 2) : body.readUInt16LE(index * 2),
  );
  const table: Uint16Array[] = [];
  for (let at = 0; at < ids.length; at += partitions) {
    table.push(Uint16Array.from(ids.slice(at, at + partitions)));
  }
  return firstRing({
    keyspace: 'swift',
    cluster: 'swift',
    partitioner: { kind: 'md5-shift', power, prefix, suffix },
    partitions,
    replicas: ids.length / partitions,
    devices: head.devs,
    table,
  });
}
