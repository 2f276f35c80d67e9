// Which version was the head at a point in time, or is meant by a reference. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { type LogEntry, makesVersion } from '@ringwright/repository/folder/log-entry';
import { isTime, parseTime } from '../cli/parse-time.ts';
import { versionOf } from './version-reference.ts';

/** Throws RING_EMPTY, RING_VERSION_UNKNOWN; also when the ring had no version at that time. */
export function versionAt(
  ring: string,
  entries: readonly LogEntry[],
  { given, nowMs }: { readonly given: string | undefined; readonly nowMs: number },
): number {
  const isPoint = given !== undefined && (isTime(given) || /^\d{1,6}[mhdw]$/.test(given));
  if (!isPoint) return versionOf(ring, entries, given);
  const ms = parseTime(given, nowMs, '--at');
  const made = entries.filter(makesVersion);
  const last = made.findLast(({ time }) => Date.parse(time) <= ms);
  if (last !== undefined) return last.version;
  const first = made[0];
  const when = new Date(ms).toISOString();
  throw new CodedError('RING_VERSION_UNKNOWN', `ring ${ring} had no version at ${when}`, {
    hint: first === undefined ? 'it has none yet' : `version ${first.version} is of ${first.time}`,
    details: { ring, at: when },
  });
}
