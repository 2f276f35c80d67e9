// Hours since 1970, the unit in which the builder counts rests and ramps.
import { type LogEntry, makesVersion } from '@ringwright/repository/folder/log-entry';

export const MS_PER_HOUR = 3_600_000;

export function hoursOf(entries: readonly LogEntry[]): Map<number, number> {
  const versions = entries.filter(makesVersion);
  return new Map(versions.map(({ version, time }) => [version, Date.parse(time) / MS_PER_HOUR]));
}
