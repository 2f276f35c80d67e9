// Whether other work continues meanwhile, counted instead of timed.

/** Returns the number of event loop turns until the work is done. */
export async function turnsOf(work: () => Promise<void>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await work();
  isOver = true;
  return turns;
}
