// Sizes and rates as people write them. Pure.

const units: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  m: 1e6,
  g: 1e9,
  t: 1e12,
  ki: 2 ** 10,
  mi: 2 ** 20,
  gi: 2 ** 30,
  ti: 2 ** 40,
};

/** Bytes, or bytes per second, of `50MB/s`, `1.5GiB`, `200k`, `800000`; null if it is no size. */
export function parseSize(text: string): number | null {
  const found = /^(\d+\.?\d*|\.\d+)\s*([kmgt]i?)?b?(\/s)?$/i.exec(text);
  const unit = units[(found?.[2] ?? '').toLowerCase()];
  return found === null || unit === undefined ? null : Number(found[1]) * unit;
}
