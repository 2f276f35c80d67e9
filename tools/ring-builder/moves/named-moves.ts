// Finds the moves that an operator names by partitions, by their source or joining devices, by
// device selectors, or as `all`. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { type StoredVersion, stateOf } from '@ringwright/repository/folder/read-version';
import type { SlotMove } from '@ringwright/ring/advance-ring';
import type { Ring } from '@ringwright/ring/ring';
import { parseNumber, usage } from '../cli/arguments.ts';
import { deviceIdOf, selectedDevices } from '../versions/device-reference.ts';
import { selectorOf } from '../versions/device-selector.ts';

/**
 * Returns the moves that the words name. Throws USAGE, and MOVE_UNKNOWN for partitions or devices
 * without a move.
 */
export function namedMoves<Move extends SlotMove>(
  { keyspace, version }: Pick<Ring, 'keyspace' | 'version'>,
  moves: readonly Move[],
  args: readonly string[],
): readonly Move[] {
  if (args.length === 0) {
    const hint = `ring-builder moves ${keyspace} list shows them; all selects every move`;
    throw usage('no moves named: name partitions, devices such as d5, or all', hint);
  }
  if (args.includes('all')) return moves;
  const { partitions, devices } = namedBy(args);
  const moving = new Set(moves.map(({ partition }) => partition));
  const unknown = [...partitions].filter((partition) => !moving.has(partition));
  const movingIds = new Set(moves.flatMap(({ from, to }) => [from, to]));
  const idle = [...devices].filter((id) => !movingIds.has(id)).map((id) => `d${id}`);
  if (unknown.length + idle.length > 0) {
    const scope =
      unknown.length > 0 ? ` of partition ${unknown.join(', ')}` : ` with ${idle.join(', ')}`;
    const message = `version ${version} has no move${scope}`;
    throw new CodedError('MOVE_UNKNOWN', message, {
      hint: `ring-builder moves ${keyspace} list`,
      details: { ring: keyspace, version, unknown, devices: idle },
    });
  }
  return moves.filter(isNamed(args));
}

/** A moving slot, or a file that its old holder must still drop. */
interface Ends {
  readonly partition: number;
  readonly from: number | null;
  readonly to: number | null;
}

/** Whether the words name the move, as in `namedMoves`; no words name all. Throws USAGE. */
export function isNamed(args: readonly string[]): (move: Ends) => boolean {
  if (args.length === 0 || args.includes('all')) return () => true;
  const { partitions, devices } = namedBy(args);
  const isOf = (id: number | null): boolean => id !== null && devices.has(id);
  return ({ partition, from, to }) => partitions.has(partition) || isOf(from) || isOf(to);
}

function namedBy(args: readonly string[]) {
  const numbers = args.filter((word) => !isDeviceWord(word));
  return {
    devices: new Set(args.filter(isDeviceWord).map((word) => Number(word.slice(1)))),
    partitions: new Set(numbers.map((word) => parseNumber(word, 'partition', 'partition'))),
  };
}

/** Whether the word is a device id such as `d5`. */
export function isDeviceWord(word: string): boolean {
  return /^d\d+$/.test(word);
}

/**
 * Replaces each selector by the ids of its devices that have moves, such as `d3 d4`. Throws
 * MOVE_UNKNOWN if none has, DEVICE_INVALID, and DEVICE_UNKNOWN for an unknown id.
 */
export function withSelected(head: StoredVersion, words: readonly string[]): string[] {
  const { moves, keyspace, version } = head.ring;
  const moving = new Set(moves.flatMap(({ from, to }) => [from, to]));
  return words.flatMap((word) => {
    if (isDeviceWord(word)) return [`d${deviceIdOf(stateOf(head), word)}`];
    const isPlain = word === 'all' || /^\d+$/.test(word);
    const selects = isPlain ? null : selectorOf(word);
    if (selects === null) return [word];
    const found = selectedDevices(stateOf(head), selects).filter(({ id }) => moving.has(id));
    if (found.length > 0) return found.map(({ id }) => `d${id}`);
    throw new CodedError('MOVE_UNKNOWN', `version ${version} has no move with ${word}`, {
      hint: `ring-builder moves ${keyspace} list`,
      details: { ring: keyspace, version, selector: word },
    });
  });
}
