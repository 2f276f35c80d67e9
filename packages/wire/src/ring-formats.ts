// Which servers read which format of ring files, by the wire version that they speak. Pure.
import { oldestWireVersion } from './wire-version.ts';

/** By format: the wire version from which on every program reads it. */
const readSince: ReadonlyMap<number, number> = new Map([
  [1, oldestWireVersion],
  [2, 20],
  [3, 27],
  [4, 28],
]);

/** Whether a program that speaks `version` reads ring files of the format. */
export function readsRingFormat(version: number, format: number): boolean {
  const since = readSince.get(format);
  return since !== undefined && version >= since;
}
