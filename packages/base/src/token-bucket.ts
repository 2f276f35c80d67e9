// A token bucket that may go into debt: whoever finds it not empty takes any amount, and those who
// come next wait until the debt is paid. So no amount is too large for it. Pure.

interface TokenBucket {
  /** Tokens to be had; negative: debt. */
  readonly level: number;
  readonly atMs: number;
}

/** Tokens that gather while nobody takes any: those of this time. */
const BURST_MS = 100;

export function newBucket(nowMs: number): TokenBucket {
  return { level: 0, atMs: nowMs };
}

/** `perSecond`: the rate since the bucket was last looked at. A clock that steps back adds nothing. */
export function refill(bucket: TokenBucket, perSecond: number, nowMs: number): TokenBucket {
  const passedMs = Math.max(0, nowMs - bucket.atMs);
  const level = Math.min(
    bucket.level + (passedMs * perSecond) / 1_000,
    (perSecond * BURST_MS) / 1_000,
  );
  return { level, atMs: nowMs };
}

export function take(bucket: TokenBucket, tokens: number): TokenBucket {
  return { ...bucket, level: bucket.level - tokens };
}

/** How long a bucket that has just been refilled is in debt. */
export function debtMs({ level }: TokenBucket, perSecond: number): number {
  return level >= 0 ? 0 : (-level * 1_000) / perSecond;
}
