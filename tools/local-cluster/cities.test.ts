import { expect, test } from 'vitest';
import { type City, chooseEntries, readCities } from './cities.ts';

const city = (name: string): City => ({
  name,
  lat: '42.5',
  lng: '1.5',
  country: 'AD',
  admin1: '03',
  admin2: '',
});

test('the key is country/admin/name/coordinates, and the value is the record', () => {
  const [entry] = chooseEntries([city('Vila')], null).entries;
  expect(entry?.key).toBe('AD/03/Vila/42.5,1.5');
  expect(JSON.parse(entry?.value ?? '')).toEqual(city('Vila'));
});

test('a second place with the same key is left out and counted', () => {
  const { entries, duplicates } = chooseEntries([city('A'), city('B'), city('A')], null);
  expect([entries.length, duplicates]).toEqual([2, 1]);
});

test('a limit takes places evenly from the whole list', () => {
  const all = Array.from({ length: 1_000 }, (_, index) => city(`place ${index}`));
  const { entries } = chooseEntries(all, 10);
  expect(entries).toHaveLength(10);
  expect(entries.at(-1)?.key).toContain('place 900');
  expect(chooseEntries(all, 5_000).entries).toHaveLength(1_000);
});

test('the package of cities has more than 165,000 places and no duplicates', async () => {
  const { entries, duplicates } = await readCities(null);
  expect(entries.length).toBeGreaterThan(165_000);
  expect(duplicates).toBe(0);
});
