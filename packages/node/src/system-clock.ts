// The clocks of this machine, for parts that have time passed in.

/** Milliseconds since 1970. Steps when the machine's clock is set. */
export const nowMs = (): number => Date.now();

/** Milliseconds since the process started. Never goes back. */
export const monotonicMs = (): number => performance.now();
