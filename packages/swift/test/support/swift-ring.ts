// The files of Swift in test-data, and what Swift itself answers about them.
import { readFileSync } from 'node:fs';
import type { Ring } from '@ringwright/ring/ring';
import { importSwift } from '../../src/import-swift.ts';
import { decodeSwiftRing } from '../../src/swift-ring-file.ts';

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

const folder = new URL('../../test-data/', import.meta.url);

export function swiftFixtures(): SwiftFixture[] {
  const lines = readFileSync(new URL('lookups.jsonl', folder), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as SwiftFixture);
}

export function swiftFile(name: string): Buffer {
  return readFileSync(new URL(name, folder));
}

export function swiftRing({ fixture, prefix, suffix }: SwiftFixture): Ring {
  const file = { kind: 'ring', ring: decodeSwiftRing(swiftFile(`${fixture}.ring.gz`)) } as const;
  const { ring } = importSwift(file, { ring: 'swift', cluster: 'swift', prefix, suffix });
  if (ring === null) throw new Error(`${fixture} has no table`);
  return ring;
}

/** What Swift itself says of a builder file. */
interface SwiftBuilderFixture {
  readonly fixture: string;
  readonly partPower: number;
  readonly nextPartPower: number | null;
  readonly replicas: number;
  readonly minPartHours: number;
  readonly overload: number;
  readonly version: number;
  readonly id: string;
  readonly epoch: number;
  readonly lastMovesSha256: string;
  readonly gatherStart: number;
  /** Of each row as little-endian two-byte numbers. */
  readonly rowSha256: readonly string[];
  readonly removed: readonly number[];
  readonly changed: boolean;
  readonly devices: readonly (Readonly<Record<string, unknown>> | null)[];
}

export function swiftBuilders(): SwiftBuilderFixture[] {
  const lines = swiftFile('builders.jsonl').toString('utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as SwiftBuilderFixture);
}
