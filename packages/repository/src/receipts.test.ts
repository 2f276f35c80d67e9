// A version that finalizes moves needs the receipt of each, keeps them, and verify misses none.
import { generateKeyPairSync } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { seededRandom } from '@ringwright/base/random';
import { finalizeMoves, initializeMoves, proposeMoves } from '@ringwright/ring/advance-ring';
import type { Move } from '@ringwright/ring/move';
import { printReceipt } from '@ringwright/ring/move-receipt';
import type { Ring } from '@ringwright/ring/ring';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  author,
  nextVersion,
  scratchRings,
  stageDevices,
} from '../../../test/support/small-repository.ts';
import { commitVersion } from './commit-version.ts';
import { unprovedPartitions } from './move-proof.ts';
import { readLog } from './read-log.ts';
import { readVersion } from './read-version.ts';
import { verifyRepository } from './verify-repository.ts';

const { privateKey: key } = generateKeyPairSync('ed25519');
const seed = 20_261_121;
let rings = '';
let receiptsFile = '';

interface Loaded {
  readonly ring: Ring;
  readonly id: string;
}

const receiptOf = ({ ring, id }: Loaded, move: Move, forced: string | null = null): string => {
  const { partition, replica, assignment, from, to } = move;
  const held = { incarnation: 'life-1', seq: 9, digest: '0'.repeat(16), rows: 5, bytes: 4_096 };
  const about = { cluster: ring.cluster, keyspace: ring.keyspace, version: ring.version, ring: id };
  const copy = from === null ? null : { device: from, ...held };
  const route = { partition, replica, assignment, from, to };
  const told = { ...about, ...route, copy, merged: [], forced, file: held, ms: 1, born: `d${to}` };
  return printReceipt(told, key);
};

/** Commits the step that `make` takes from the head. */
async function advance(
  make: (ring: Ring, id: string) => Ring,
  receipts: (ring: Ring, id: string) => readonly string[] = () => [],
): Promise<void> {
  const head = await readVersion(rings, 'cities', 'head');
  const message = 'a step';
  await commitVersion(rings, {
    ring: make(head.ring, head.id),
    state: head.state!,
    entry: { ...author, kind: 'advance', message, moves: 0, figures: {}, details: {} },
    receipts: receipts(head.ring, head.id),
    expected: { head: { version: head.ring.version, id: head.id } },
  });
}

const all = (ring: Ring, id: string) => ring.moves.map((move) => receiptOf({ ring, id }, move));
const codesOf = async () => {
  const { findings } = await verifyRepository(rings, 'cities');
  return findings.map(({ code }) => code);
};

beforeEach(async () => {
  rings = await scratchRings();
  await stageDevices(rings);
  await commitVersion(rings, await nextVersion(rings));
  receiptsFile = join(rings, 'cities/receipts/0000004.jsonl');
  const moves = [
    { partition: 0, replica: 0, from: 0, to: 2 },
    { partition: 2, replica: 1, from: 3, to: 0 },
  ];
  await advance((ring, id) => proposeMoves(ring, id, { moves }));
  await advance(initializeMoves);
});

describe('a version that finalizes moves', () => {
  test('with the receipt of each: they are kept, named in the log, and add up', async () => {
    await advance(finalizeMoves, all);
    const { findings, receipts } = await verifyRepository(rings, 'cities');
    expect(findings).toEqual([]);
    expect(receipts).toMatchObject({ moves: 2, receipts: 2, forced: 0, bytes: 8_192, rows: 10 });
  });

  test.each<[string, (ring: Ring, id: string) => readonly string[]]>([
    ['none', () => []],
    ['one of two', (ring, id) => all(ring, id).slice(1)],
    ['one twice', (ring, id) => [...all(ring, id), ...all(ring, id).slice(1)]],
    [
      'one of another move',
      (ring, id) => {
        const moves = ring.moves.map((move) => ({ ...move, partition: 1 }));
        return all({ ...ring, moves }, id);
      },
    ],
    ['one of another cluster', (ring, id) => all({ ...ring, cluster: 'other' }, id)],
    ['one that was forged', (ring, id) => all(ring, id).map((line) => line.replace('9', '8'))],
  ])('with %s is refused, and the head stays', async (_, receipts) => {
    const refused = await advance(finalizeMoves, receipts).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(CodedError);
    expect(refused).toMatchObject({ code: 'RECEIPTS_MISSING' });
    expect((await readVersion(rings, 'cities', 'head')).ring.version).toBe(3);
    expect(await codesOf()).toEqual([]);
  });

  test('some of the moves: the others stay in flight, and need theirs later', async () => {
    await advance(
      (ring, id) => finalizeMoves(ring, id, new Set([ring.moves[0]!.assignment])),
      (ring, id) => all(ring, id).slice(0, 1),
    );
    await advance(finalizeMoves, all);
    expect((await verifyRepository(rings, 'cities')).receipts).toMatchObject({ moves: 2 });
  });

  test('with one that was forced: the log says so, until somebody takes it on', async () => {
    await advance(finalizeMoves, (ring, id) =>
      ring.moves.map((move) =>
        receiptOf({ ring, id }, move, move.partition === 2 ? 'burnt' : null),
      ),
    );
    const entries = await readLog(rings, 'cities');
    expect(unprovedPartitions(entries)).toEqual(new Map([[2, 'burnt']]));
    const taken = { ...entries.at(-1)!, details: { unproved: [2] } };
    expect(unprovedPartitions([...entries, taken]).size).toBe(0);
    expect((await verifyRepository(rings, 'cities')).receipts).toMatchObject({ forced: 1 });
    expect(await codesOf()).toEqual([]);
  });
});

describe('verify', () => {
  test(`any edited byte of the receipts is found (SEED=${seed})`, async () => {
    await advance(finalizeMoves, all);
    const sound = await readFile(receiptsFile);
    const random = seededRandom(seed);
    for (let round = 0; round < 30; round += 1) {
      const edited = Buffer.from(sound);
      const at = random.below(edited.length);
      edited[at] = edited[at]! ^ (1 + random.below(255));
      await writeFile(receiptsFile, edited);
      expect(await codesOf(), `byte ${at} as ${edited[at]}`).toEqual(['RECEIPTS_WRONG']);
    }
  });

  test('receipts that are gone, and files of no version, are found', async () => {
    await advance(finalizeMoves, all);
    await writeFile(join(rings, 'cities/receipts/0000002.jsonl'), '');
    expect(await codesOf()).toEqual(['FILE_STRAY']);
    await rm(receiptsFile);
    expect(new Set(await codesOf())).toEqual(new Set(['FILE_STRAY', 'RECEIPTS_WRONG']));
  });
});
