// Scenarios of scans: a key that exists throughout is in exactly one page, whatever some devices
// lack.
import { askServer } from '../../../test/support/ask-server.ts';
import { isAcked } from '../../../test/support/history.ts';
import { Broken } from '../nemesis.ts';
import { keyspace } from '../stage.ts';
import type { Victim } from '../victim.ts';
import { keysOf, scenarioOf } from './scenario.ts';

/** Each key ends a page, also keys that are prefixes of others. */
const PAGE_KEYS = 1;

/** Scans through a device that lacks every second key. */
export const scannedPages = scenarioOf('a scan over a device that lacks keys', async (scenario) => {
  const { stage } = scenario;
  const [a, b, c] = scenario.cast;
  const keys = keysOf(await stage.head(), { play: stage.history.length, partition: 0 }).sort();
  const write = (key: string) => scenario.ask(a, { key, value: scenario.value(key, 'new') });
  const odd = keys.filter((_, index) => index % 2 === 1);
  const first = await Promise.all(odd.map(write));
  scenario.hold([a, c], [b, c]);
  const even = await Promise.all(keys.filter((key) => !odd.includes(key)).map(write));
  const acked = [...first, ...even].filter(isAcked);
  const prefix = keys[0]?.replace(/[^/]*$/, '') ?? '';
  const found = await scan(c, prefix, scenario.signal);
  if (found === null || scenario.signal.aborted) return;
  const skipped = acked.filter(({ key }) => !found.has(key)).map(({ key }) => key);
  if (skipped.length > 0) throw new Broken(`scan skipped: ${skipped.join()} at ${c.name}`);
});

/** Returns null when a page is not answered. */
async function scan(
  { place }: Victim,
  prefix: string,
  signal: AbortSignal,
): Promise<ReadonlySet<string> | null> {
  const found = new Set<string>();
  let cursor: string | null = '';
  while (cursor !== null && !signal.aborted) {
    const cursorQuery: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const path = `/v1/_keys/${keyspace}?prefix=${prefix}&limit=${PAGE_KEYS}${cursorQuery}`;
    const { status, bytes } = await askServer(place.port, { path });
    if (status !== 200) return null;
    const page = JSON.parse(bytes.toString()) as Page;
    for (const { key } of page.keys) if (key !== undefined) found.add(key);
    cursor = page.cursor;
  }
  return found;
}

interface Page {
  readonly keys: readonly { readonly key?: string }[];
  readonly cursor: string | null;
}
