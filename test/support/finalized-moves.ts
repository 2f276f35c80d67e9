// Steps of a ring change in the small repository, with the receipts of its moves.
import { generateKeyPairSync } from 'node:crypto';
import { commitVersion } from '@ringwright/repository/commit-version';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { initializeMoves, proposeMoves } from '@ringwright/ring/advance-ring';
import type { Move } from '@ringwright/ring/move';
import type { Ring } from '@ringwright/ring/ring';
import { openReceipt, printReceipt } from '@ringwright/ring/trust/move-receipt';
import { author } from './small-repository.ts';

const { privateKey: key } = generateKeyPairSync('ed25519');

interface Loaded {
  readonly ring: Ring;
  readonly id: string;
}

export function receiptOf({ ring, id }: Loaded, move: Move, forced: string | null = null): string {
  const { partition, replica, assignment, from, to } = move;
  const held = { incarnation: 'life-1', seq: 9, digest: '0'.repeat(16), rows: 5, bytes: 4_096 };
  const about = { cluster: ring.cluster, keyspace: ring.keyspace, version: ring.version, ring: id };
  const copy = from === null ? null : { device: from, ...held };
  const route = { partition, replica, assignment, from, to };
  const told = { ...about, ...route, copy, merged: [], forced, file: held, ms: 1, born: `d${to}` };
  return printReceipt(told, key);
}

/** Returns the receipt of each move in flight. */
export function receiptsOf(ring: Ring, id: string): string[] {
  return ring.moves.map((move) => receiptOf({ ring, id }, move));
}

/** Commits the version that `make` derives from the head. */
export async function advance(
  rings: string,
  make: (ring: Ring, id: string) => Ring,
  receipts: (ring: Ring, id: string) => readonly string[] = () => [],
): Promise<void> {
  const head = await readVersion(rings, 'cities', 'head');
  const message = 'a step';
  await commitVersion(rings, {
    ring: make(head.ring, head.id),
    state: head.state!,
    entry: { ...author, kind: 'advance', message, moves: 0, figures: {}, details: {} },
    receipts: receipts(head.ring, head.id).map((line) => ({ line, receipt: openReceipt(line) })),
    override: 'a test',
    expected: { head: { version: head.ring.version, id: head.id } },
  });
}

/** Begins two moves from version 1, so that version 4 may finalize them. */
export async function beginMoves(rings: string): Promise<void> {
  const moves = [
    { partition: 0, replica: 0, from: 0, to: 2 },
    { partition: 2, replica: 1, from: 3, to: 0 },
  ];
  await advance(rings, (ring, id) => proposeMoves(ring, id, { moves }));
  await advance(rings, initializeMoves);
}
