// The same work for many items, a bounded number at a time, results in the order of the items.

/**
 * Servers asked at the same time: hundreds of servers are a few rounds, not hundreds of sockets.
 */
export const serversAtOnceMax = 32;

export async function fanOut<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      const item = items[index] as Item; // index is below the length
      results[index] = await work(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(items.length, serversAtOnceMax) }, worker));
  return results;
}
