// The digest that ties a commit to the plan that an operator saw. Pure.
import { createHash } from 'node:crypto';
import { encodeIntervals } from '@ringwright/ring/file/interval-section';
import { partitionerSettings } from '@ringwright/ring/partitioner/partitioner-settings';
import type { BuilderState } from '../state/builder-state.ts';
import { serializeState } from '../state/state-json.ts';
import type { LaterWaves, PlannedMove } from './plan.ts';

const FIELDS = 4;
/** Stands for the missing source of a move into a new slot. */
const NOWHERE = 0xffff_ffff;

/** Returns the SHA-256 (hex) over the head's id, the builder state and the moves, wave by wave. */
export function planDigest(headId: string | null, state: BuilderState, waves: LaterWaves): string {
  const hash = createHash('sha256');
  const { partitioner } = state;
  const stateBytes = serializeState(state, partitionerSettings(partitioner));
  hash.update(`plan 1\nhead ${headId ?? 'none'}\nstate ${stateBytes.length}\n`);
  hash.update(stateBytes);
  // Hashes boundaries as bytes: writing a million of them as text takes longer than planning.
  hash.update(encodeIntervals(partitioner) ?? '');
  for (const moves of waves) {
    hash.update(`\nmoves ${moves.length}\n`);
    hash.update(wordsOf(moves));
  }
  return hash.digest('hex');
}

function wordsOf(moves: readonly PlannedMove[]): DataView {
  const words = new DataView(new ArrayBuffer(moves.length * FIELDS * 4));
  moves.forEach(({ partition, replica, from, to }, index) => {
    [partition, replica, from ?? NOWHERE, to].forEach((value, field) => {
      words.setUint32((index * FIELDS + field) * 4, value);
    });
  });
  return words;
}
