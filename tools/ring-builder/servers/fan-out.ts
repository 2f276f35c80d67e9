// The same question to many servers, results in the order of the items.
import { inWaves } from '@ringwright/base/in-waves';

/**
 * Servers asked at the same time: hundreds of servers are a few rounds, not hundreds of sockets.
 */
export const serversAtOnceMax = 32;

export function fanOut<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  return inWaves(items, serversAtOnceMax, work);
}
