// Chooses the servers that a request may go to, best first. Pure.
import { clientTriesMax } from '@ringwright/base/limits';

interface Choices {
  /** Groups of servers, best first. A ring may have ten thousand servers. */
  readonly groups: readonly (readonly string[])[];
  readonly isWell: (address: string) => boolean;
}

/**
 * Returns up to clientTriesMax distinct addresses: healthy ones, then the rest. Each request calls
 * it, so it looks at no address that it does not need.
 */
export function serverChoice({ groups, isWell }: Choices): string[] {
  const chosen = new Set<string>();
  for (const isWanted of [isWell, () => true]) {
    for (const group of groups) {
      for (const address of group) {
        if (chosen.size === clientTriesMax) return [...chosen];
        if (isWanted(address)) chosen.add(address);
      }
    }
  }
  return [...chosen];
}
