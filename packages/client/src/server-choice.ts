// Chooses the servers that a request may go to, best first. Pure.
import { clientTriesMax } from '@ringwright/base/limits';

interface Choices {
  /** Holders of the key in replica order: a holder coordinates without a network hop. */
  readonly holders: readonly string[];
  /** Any other servers; they can coordinate too. */
  readonly others: readonly string[];
  readonly isWell: (address: string) => boolean;
}

/** Up to clientTriesMax distinct addresses: healthy holders, healthy others, then the rest. */
export function serverChoice({ holders, others, isWell }: Choices): string[] {
  const all = [...new Set([...holders, ...others])];
  const well = all.filter(isWell);
  return [...new Set([...well, ...all])].slice(0, clientTriesMax);
}
