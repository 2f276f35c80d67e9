// What the log knows of pushes: how many servers took the ring, and when. `health` asks servers
// whether they still have it. Pure.
import { counted } from '@ringwright/base/counted';
import { type LogEntry, reachesServers } from '@ringwright/repository/folder/log-entry';

interface LastPush {
  readonly version: number;
  /** ISO 8601, UTC. */
  readonly time: string;
  /** `store`: servers fetch it there. `restore`: it came from servers, or from a file they know. */
  readonly by: 'push' | 'store' | 'restore';
  /** Servers that accepted it then, of those asked; null if not recorded. */
  readonly accepted: number | null;
  readonly servers: number | null;
}

/** Returns the newest entry on the highest version that reached servers; null: none ever did. */
export function lastPush(entries: readonly LogEntry[]): LastPush | null {
  const pushes = entries.filter(reachesServers);
  const version = pushes.reduce((highest, one) => Math.max(highest, one.version), 0);
  const last = pushes.findLast((one) => one.version === version);
  if (last === undefined) return null;
  const { time, kind, details } = last;
  const by = kind === 'push' || kind === 'restore' ? kind : 'store';
  const count = (value: unknown): number | null => (typeof value === 'number' ? value : null);
  const [accepted, servers] = [count(details['accepted']), count(details['servers'])];
  return { version, time, by, accepted, servers };
}

/**
 * Whether the ring was imported from Swift and never pushed here. Swift's servers take neither push
 * nor rollout.
 */
export function isForSwift(entries: readonly LogEntry[]): boolean {
  const source = entries[0]?.details['source'];
  return typeof source === 'string' && source.startsWith('swift ') && lastPush(entries) === null;
}

/** Returns the command that exports such a ring for its servers. */
export function exportCommand(ring: string): string {
  return `export-swift ${ring} ${ring}.ring.gz`;
}

export function pushLine(push: LastPush | null): string {
  if (push === null) return 'never pushed to servers';
  const { version, by, accepted, servers } = push;
  const time = `${push.time.slice(0, 19)}Z`;
  if (by === 'store') return `version ${version} was published at ${time}; servers fetch it`;
  if (by === 'restore') return `version ${version} was restored at ${time}; servers may have it`;
  const countText =
    accepted === null || servers === null ? '' : ` to ${accepted} of ${counted(servers, 'server')}`;
  return `version ${version} was pushed${countText} at ${time}; health shows what they have now`;
}
