// Alternates the sides of a comparison, so that a slow phase of the machine affects all of them.

/** Returns the results of each side, round after round. */
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
