// Says in one sentence which partitions are not ready on their servers, and why. Pure.
import type { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { getOrMake } from '@ringwright/base/get-or-make';
import type { RingStatus } from './server-status.ts';

export interface ReadinessReport {
  readonly address: string;
  readonly ringStatus: RingStatus | CodedError;
}

/** The reasons with the most partitions are shown. */
const REASONS_SHOWN_MAX = 3;

/** Returns why partitions of a server are not ready; empty if the server gives no reason yet. */
export function whyNotReady({ loads, failing }: Pick<RingStatus, 'loads' | 'failing'>): string {
  const refills = loads.filter(({ assignment }) => assignment === null);
  const load = refills.find(({ reason }) => reason !== '');
  if (load !== undefined) return `partition ${load.partition} ${load.stage}: ${load.reason}`;
  const [broken] = failing;
  if (broken !== undefined) return `${broken.step} fails: ${broken.reason}`;
  return refills.length === 0 ? '' : 'refilling from other holders';
}

/** Returns an empty text if all partitions are ready. */
export function notReadyText(servers: readonly ReadinessReport[]): string {
  const groups = new Map<string, { partitions: number; servers: string[] }>();
  let all = 0;
  for (const { address, ringStatus } of servers) {
    const isAway = ringStatus instanceof Error;
    if (!isAway && ringStatus.notReady === 0) continue;
    const why = isAway ? ringStatus.message : whyNotReady(ringStatus) || 'opening files';
    const group = getOrMake(groups, why, () => ({ partitions: 0, servers: [] }));
    group.servers.push(address);
    group.partitions += isAway ? 0 : ringStatus.notReady;
    all += isAway ? 0 : ringStatus.notReady;
  }
  if (groups.size === 0) return '';
  const sorted = [...groups].sort(([, a], [, b]) => b.partitions - a.partitions);
  const shown = sorted.slice(0, REASONS_SHOWN_MAX).map(([why, { partitions, servers }]) => {
    const where = servers.length === 1 ? `${servers[0]}` : counted(servers.length, 'server');
    return partitions === 0 ? why : `${partitions} on ${where}: ${why}`;
  });
  const more = groups.size - shown.length;
  const rest = more > 0 ? `; and ${counted(more, 'more reason')}` : '';
  const count = counted(all, 'partition is', 'partitions are');
  return `${count} not ready yet (${shown.join('; ')}${rest})`;
}
