// Sides of a comparison that take turns, so that a slow spell of the machine hits all of them.

/** What was measured of each side, round after round. */
export async function inTurn<Side, Result>(
  sides: readonly Side[],
  rounds: number,
  measure: (side: Side, round: number) => Promise<Result>,
): Promise<Result[][]> {
  const results: Result[][] = sides.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, side] of sides.entries()) {
      results[index]?.push(await measure(side, round));
    }
  }
  return results;
}
