// Scans a prefix in order over HTTP. Each short page goes to any server, so cursors cross partition
// boundaries, ring changes and restarts.
import { pick, type Random } from '@ringwright/base/random';
import { parseStamp } from '@ringwright/base/stamp';
import type { OperationResult } from '../../../test/support/ask-record.ts';
import { askServer } from '../../../test/support/ask-server.ts';
import { keyspace, type Stage } from '../stage.ts';

/** Records per page: small, so that a scan of a few keys takes several pages. */
const PAGE_ROWS = 2;
const PAGES_MAX = 500;

interface Page {
  readonly items: readonly {
    readonly key: string;
    readonly value: string;
    readonly etag: string;
  }[];
  readonly cursor: string | null;
}

/** Returns the answer for each key that the scan returned. Rejects when a page fails. */
export async function scanPrefix(
  stage: Stage,
  prefix: string,
  random: Random,
): Promise<ReadonlyMap<string, OperationResult>> {
  const found = new Map<string, OperationResult>();
  const shown = stage.secured?.worker ?? null;
  let cursor: string | null = null;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const { port } = pick(random, stage.victims).place;
    const query = { prefix, limit: String(PAGE_ROWS), ...(cursor !== null && { cursor }) };
    const path = `/v1/_scan/${keyspace}?${String(new URLSearchParams(query))}`;
    const response = await askServer(port, { path, keepAlive: true, shown });
    if (response.status !== 200) throw new Error(`a page: ${response.status}`);
    const page = JSON.parse(response.bytes.toString()) as Page;
    for (const { key, value, etag } of page.items) {
      const stamp = parseStamp(etag.replaceAll('"', ''));
      const isTwice = found.has(key);
      found.set(key, { outcome: 'acked', stamp, value: isTwice ? `twice: ${value}` : value });
    }
    cursor = page.cursor;
    if (cursor === null) return found;
  }
  throw new Error(`no end after ${PAGES_MAX} pages`);
}
