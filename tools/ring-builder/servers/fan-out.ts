// Sends the same question to many servers. The results are in the order of the items.
import { inWaves } from '@ringwright/base/in-waves';

/**
 * Servers asked at the same time. This limits the sockets: hundreds of servers take a few rounds.
 */
export const serversAtOnceMax = 32;

export function fanOut<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  return inWaves(items, serversAtOnceMax, work);
}
