// Middle values and quantiles of measurements. Pure.

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value below which this share of the others lies; 0 of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}
