// Runs one job per index, a bounded number at a time; the first failure ends it.

export async function inParallel(
  count: number,
  atOnce: number,
  job: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  let failed = false;
  const lane = async (): Promise<void> => {
    while (next < count && !failed) {
      const index = next;
      next += 1;
      try {
        await job(index);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, lane));
}
