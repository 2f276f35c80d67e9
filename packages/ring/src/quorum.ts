// More than half. Pure.

/** What servers ask for at consistency level quorum. */
export function quorumOf(slots: number): number {
  return Math.floor(slots / 2) + 1;
}
