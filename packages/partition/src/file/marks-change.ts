// A change of state, barrier or floor of a partition file. It goes through the log, in one order
// with records, and is durable with them. Pure.
import { type PartitionState, partitionStates, type TombstoneMarks } from './partition-info.ts';

/** State null leaves the state unchanged. Barrier and floor never fall. */
export interface MarksChange extends TombstoneMarks {
  readonly state: PartitionState | null;
}

// state 1 (0: unchanged) | barrier ms 6 | floor ms 6, big-endian
export const marksChangeBytes = 13;

export function encodeMarksChange(change: MarksChange, target: Buffer, offset: number): number {
  const { state, barrierMs, floorMs } = change;
  const number = state === null ? 0 : 1 + partitionStates.indexOf(state);
  let at = target.writeUInt8(number, offset);
  at = target.writeUIntBE(barrierMs, at, 6);
  return target.writeUIntBE(floorMs, at, 6);
}

export function isMarksChange(source: Buffer, start: number, end: number): boolean {
  return end - start === marksChangeBytes && (source[start] ?? 255) <= partitionStates.length;
}

export function decodeMarksChange(source: Buffer, start: number): MarksChange {
  const number = source.readUInt8(start);
  return {
    state: partitionStates[number - 1] ?? null,
    barrierMs: source.readUIntBE(start + 1, 6),
    floorMs: source.readUIntBE(start + 7, 6),
  };
}
