// Finds servers with a higher version than the folder. They accept no lower version.
import { counted } from '@ringwright/base/counted';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import type { Context } from '../cli/command.ts';
import { adviceOn } from '../servers/advice.ts';
import type { Advice } from '../servers/advice-rule.ts';
import type { TargetStatus } from '../servers/ask-servers.ts';
import { isHigherEpoch } from '../versions/other-line.ts';
import { adviceContextOf } from './advice-context.ts';

interface Ahead {
  readonly address: string;
  readonly devices: readonly number[];
  readonly version: number;
}

/**
 * Returns the servers ahead, highest version first. Omits servers that cannot be asked, and those
 * whose line ends because the head has a new epoch.
 */
export function serversAhead(
  { ring, signing }: Pick<StoredVersion, 'ring' | 'signing'>,
  targets: readonly TargetStatus[],
): Ahead[] {
  const ahead = targets.flatMap(({ address, devices, ringStatus }): Ahead[] => {
    if (ringStatus instanceof Error || ringStatus.version <= ring.version) return [];
    const isEnded = isHigherEpoch(signing?.epoch ?? null, ringStatus.epoch ?? null);
    return isEnded ? [] : [{ address, devices, version: ringStatus.version }];
  });
  return ahead.sort((a, b) => b.version - a.version);
}

interface Older extends Advice {
  readonly why: string;
}

/** Returns advice for a folder that is behind its servers; null if no server is ahead. */
export async function olderAdvice(
  context: Context,
  version: StoredVersion,
  ahead: readonly Ahead[],
): Promise<Older | null> {
  const [highest] = ahead;
  const failures = ahead.map((one) => ({ ...one, code: 'RING_OLDER' as const }));
  const advice = adviceOn(await adviceContextOf(context, version), failures);
  if (advice === null || highest === undefined) return null;
  const serversText = counted(ahead.length, 'server has', 'servers have');
  const headText = `the head here is version ${version.ring.version}`;
  return { ...advice, why: `${headText}, ${serversText} up to version ${highest.version}` };
}
