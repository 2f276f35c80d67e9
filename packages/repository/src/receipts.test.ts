// A version that finalizes moves needs their receipts and keeps them, and verify checks them all.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { seededRandom } from '@ringwright/base/random';
import { exists } from '@ringwright/node/missing-file';
import { finalizeMoves } from '@ringwright/ring/advance-ring';
import type { Ring } from '@ringwright/ring/ring';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  advance,
  beginMoves,
  receiptOf,
  receiptsOf,
} from '../../../test/support/finalized-moves.ts';
import {
  author,
  nextVersion,
  scratchRings,
  stageDevices,
} from '../../../test/support/small-repository.ts';
import { commitVersion } from './commit-version.ts';
import { readLog } from './folder/read-log.ts';
import { readVersion } from './folder/read-version.ts';
import { pruneVersions } from './prune-versions.ts';
import { rebaseRing } from './rebase-ring.ts';
import { unprovedPartitions } from './shared/move-proof.ts';
import { verifyRepository } from './verify/verify-repository.ts';

const seed = 20_261_121;
let rings = '';
let receiptsFile = '';

const codesOf = async () => {
  const { findings } = await verifyRepository(rings, 'cities', null);
  return findings.map(({ code }) => code);
};

beforeEach(async () => {
  rings = await scratchRings();
  await stageDevices(rings);
  await commitVersion(rings, await nextVersion(rings));
  receiptsFile = join(rings, 'cities/receipts/0000004.jsonl');
  await beginMoves(rings);
});

describe('a version that finalizes moves', () => {
  test('is committed with all receipts, keeps them, and passes verification', async () => {
    await advance(rings, finalizeMoves, receiptsOf);
    const { findings, receipts } = await verifyRepository(rings, 'cities', null);
    expect(findings).toEqual([]);
    expect(receipts).toMatchObject({ moves: 2, receipts: 2, forced: 0, bytes: 8_192, rows: 10 });
  });

  test.each<[string, (ring: Ring, id: string) => readonly string[]]>([
    ['none', () => []],
    ['one of two', (ring, id) => receiptsOf(ring, id).slice(1)],
    ['one twice', (ring, id) => [...receiptsOf(ring, id), ...receiptsOf(ring, id).slice(1)]],
    [
      'one of another move',
      (ring, id) => {
        const moves = ring.moves.map((move) => ({ ...move, partition: 1 }));
        return receiptsOf({ ...ring, moves }, id);
      },
    ],
    ['one of another cluster', (ring, id) => receiptsOf({ ...ring, cluster: 'other' }, id)],
  ])('is refused and the head stays, if its receipts are: %s', async (_, receipts) => {
    const refused = await advance(rings, finalizeMoves, receipts).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(CodedError);
    expect(refused).toMatchObject({ code: 'RECEIPTS_MISSING' });
    expect((await readVersion(rings, 'cities', 'head')).ring.version).toBe(3);
    expect(await codesOf()).toEqual([]);
  });

  test('may finalize some of the moves, and a later version the others', async () => {
    await advance(
      rings,
      (ring, id) => finalizeMoves(ring, id, new Set([ring.moves[0]!.assignment])),
      (ring, id) => receiptsOf(ring, id).slice(0, 1),
    );
    await advance(rings, finalizeMoves, receiptsOf);
    expect((await verifyRepository(rings, 'cities', null)).receipts).toMatchObject({ moves: 2 });
  });

  test('records a forced move in the log until an operator accepts its partition', async () => {
    await advance(rings, finalizeMoves, (ring, id) =>
      ring.moves.map((move) =>
        receiptOf({ ring, id }, move, move.partition === 2 ? 'burnt' : null),
      ),
    );
    const entries = await readLog(rings, 'cities');
    expect(unprovedPartitions(entries)).toEqual(new Map([[2, 'burnt']]));
    const taken = { ...entries.at(-1)!, details: { unproved: [2] } };
    expect(unprovedPartitions([...entries, taken]).size).toBe(0);
    expect((await verifyRepository(rings, 'cities', null)).receipts).toMatchObject({ forced: 1 });
    expect(await codesOf()).toEqual([]);
  });
});

describe('prune', () => {
  const author = { user: 'ada', time: '2026-11-28T10:00:00.000Z' };

  async function prune(archive: string | null, keep: number) {
    const place = { rings, ring: 'cities' };
    await pruneVersions(place, author, { keep, archive, command: 'ring-builder prune' });
  }

  test('moves receipts of pruned versions to the archive; verify reads them there', async () => {
    await advance(rings, finalizeMoves, receiptsOf);
    await commitVersion(rings, await nextVersion(rings));
    const archive = `${rings}-old`;
    await prune(archive, 1);
    expect(await exists(receiptsFile)).toBe(false);
    const { findings, receipts } = await verifyRepository(rings, 'cities', null);
    expect(findings).toEqual([]);
    expect(receipts).toMatchObject({ receipts: 2 });
    await writeFile(join(archive, 'cities/receipts/0000004.jsonl'), '');
    expect(await codesOf()).toEqual(['RECEIPTS_WRONG']);
  });

  test('keeps the receipts of the versions that stay', async () => {
    await advance(rings, finalizeMoves, receiptsOf);
    await prune(null, 1);
    expect(await exists(receiptsFile)).toBe(true);
    expect(await codesOf()).toEqual([]);
  });
});

describe('verify', () => {
  test(`finds any edited byte of the receipts (SEED=${seed})`, async () => {
    await advance(rings, finalizeMoves, receiptsOf);
    const sound = await readFile(receiptsFile);
    const random = seededRandom(seed);
    for (let round = 0; round < 30; round += 1) {
      const edited = Buffer.from(sound);
      const at = random.below(edited.length);
      edited[at] = edited[at]! ^ (1 + random.below(255));
      await writeFile(receiptsFile, edited);
      expect(await codesOf(), `byte ${at} set to ${edited[at]}`).toEqual(['RECEIPTS_WRONG']);
    }
  });

  test('finds a missing receipts file, and one that belongs to no version', async () => {
    await advance(rings, finalizeMoves, receiptsOf);
    await writeFile(join(rings, 'cities/receipts/0000002.jsonl'), '');
    expect(await codesOf()).toEqual(['FILE_STRAY']);
    await rm(receiptsFile);
    expect(new Set(await codesOf())).toEqual(new Set(['FILE_STRAY', 'RECEIPTS_WRONG']));
  });
});

test('a rebase onto another folder fetches receipts', async () => {
  const other = await mkdtemp(join(tmpdir(), 'ringwright-copy-'));
  await cp(rings, other, { recursive: true });
  await advance(rings, finalizeMoves, receiptsOf);
  const place = { rings: other, ring: 'cities' };
  const rebased = await rebaseRing(place, author, { upstream: rings, drop: false });
  expect(rebased.fetched).toEqual([4]);
  const { findings, receipts } = await verifyRepository(other, 'cities', null);
  expect(findings).toEqual([]);
  expect(receipts.receipts).toBe(2);
});
