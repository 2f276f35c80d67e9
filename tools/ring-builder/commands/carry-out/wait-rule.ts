// How many servers a push waits for: all, a majority of every partition, or one whole zone. Pure.
import { formatAddress } from '@ringwright/base/server-address';
import type { Ring } from '@ringwright/ring/ring';
import type { Target } from '../../servers/ring-targets.ts';

export const waitRules = ['all', 'quorum', 'zone'] as const;
export type WaitRule = (typeof waitRules)[number];

/** Whether the servers in `good` (addresses) satisfy the rule. */
export function isEnough(
  rule: WaitRule,
  ring: Ring,
  { good, targets }: { readonly good: ReadonlySet<string>; readonly targets: readonly Target[] },
): boolean {
  if (rule === 'all') {
    return targets.every(({ address, required }) => !required || good.has(address));
  }
  const isGood = ring.devices.map((device) => device !== null && good.has(formatAddress(device)));
  return rule === 'quorum' ? haveMajorities(ring, isGood) : hasWholeZone(ring, isGood);
}

/** Whether more than half of the slots of every partition are on good devices. */
function haveMajorities({ table, partitions }: Ring, isGood: readonly boolean[]): boolean {
  for (let partition = 0; partition < partitions; partition += 1) {
    let [slots, held] = [0, 0];
    for (const row of table) {
      const device = row[partition];
      if (device === undefined) continue;
      slots += 1;
      if (isGood[device] === true) held += 1;
    }
    if (held * 2 <= slots) return false;
  }
  return true;
}

/** Whether every device of some zone is good. */
function hasWholeZone({ devices }: Ring, isGood: readonly boolean[]): boolean {
  const whole = new Map<string, boolean>();
  for (const device of devices) {
    if (device === null) continue;
    const zone = `${device.region}/${device.zone}`;
    whole.set(zone, (whole.get(zone) ?? true) && isGood[device.id] === true);
  }
  return [...whole.values()].includes(true);
}
