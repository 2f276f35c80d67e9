// Which servers can read which format of ring files, by their wire version. Pure.
import { oldestWireVersion } from './wire-version.ts';

/** By format: the first wire version whose programs all read it. */
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
