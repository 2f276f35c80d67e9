// Which servers a request may go to, best first. Pure.
import { clientTriesMax } from '@ringwright/base/limits';

interface Choices {
  /** Holders of the key in replica order: one of them coordinates without a hop. */
  readonly holders: readonly string[];
  /** Any other servers, which coordinate as well. */
  readonly others: readonly string[];
  readonly isWell: (address: string) => boolean;
}

/** Up to clientTriesMax addresses, each once: well holders, well others, then the rest. */
export function serverChoice({ holders, others, isWell }: Choices): string[] {
  const all = [...new Set([...holders, ...others])];
  const well = all.filter(isWell);
  return [...new Set([...well, ...all])].slice(0, clientTriesMax);
}
