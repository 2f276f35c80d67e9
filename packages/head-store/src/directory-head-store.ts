// Heads of rings in a shared folder. Every revision is a file that is linked into place; no two
// writers can link one name, which is the compare-and-swap. Revisions are never removed: otherwise
// a slow swap could link a number that is free again.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ringFilePollMs } from '@ringwright/base/limits';
import { addDurably, makeDirectoryPath } from '@ringwright/node/durable-files';
import { nullIfMissing } from '@ringwright/node/missing-file';
import { readRegularText } from '@ringwright/node/read-regular-file';
import type { HeadStore, StoredHead, SwapOutcome, WatchPorts } from './head-store.ts';

export function directoryHeadStore(url: string, path: string): HeadStore {
  return {
    url,
    read: (ring) => readNewest(path, ring),
    swap: (ring, expected, value) => swap({ path, ring }, expected, value),
    watch: (ports) => watch(path, ports),
  };
}

async function readNewest(path: string, ring: string): Promise<StoredHead | null> {
  const names = (await readdir(join(path, ring)).catch(nullIfMissing)) ?? [];
  const revisions = names.filter((name) => /^\d{10}$/.test(name)).sort();
  const revision = revisions.at(-1);
  if (revision === undefined) return null;
  return { value: await readRegularText(join(path, ring, revision)), revision };
}

async function swap(
  { path, ring }: { readonly path: string; readonly ring: string },
  expected: string | null,
  value: string,
): Promise<SwapOutcome> {
  if (((await readNewest(path, ring))?.revision ?? null) !== expected) return 'lost';
  await makeDirectoryPath(join(path, ring));
  const next = String(Number(expected ?? '0') + 1).padStart(10, '0');
  const file = join(path, ring, next);
  if (await addDurably(file, value)) return 'won';
  // A network file system may link the file, lose the answer, and then find the file in the way.
  return (await readRegularText(file)) === value ? 'won' : 'lost';
}

function watch(path: string, { onHead, onTrouble }: WatchPorts): () => void {
  const revisionByRing = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;
  let ended = false;
  const poll = async (): Promise<void> => {
    try {
      for (const ring of (await readdir(path).catch(nullIfMissing)) ?? []) {
        const head = await readNewest(path, ring);
        if (ended || head === null || revisionByRing.get(ring) === head.revision) continue;
        revisionByRing.set(ring, head.revision);
        onHead(ring, head.value);
      }
    } catch (error) {
      onTrouble(error);
    }
    if (!ended) timer = setTimeout(() => void poll(), ringFilePollMs);
  };
  void poll();
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}
