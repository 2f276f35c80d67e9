// Whether other work goes on meanwhile, counted instead of timed.

/** How many turns the event loop made until the work was done. */
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
