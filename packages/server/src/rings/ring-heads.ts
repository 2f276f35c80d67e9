// Follows the heads that a head store announces (EventQL's way). Fetches their files from a ring
// store that has caught up, and adopts them like a ring from anywhere else: audited, with its
// signatures checked.
import { setTimeout as delay } from 'node:timers/promises';
import { ringFilePollMs } from '@ringwright/base/limits';
import { parseRecord } from '@ringwright/head-store/head-record';
import { openHeadStore } from '@ringwright/head-store/open-head-store';
import { readSharedFile, requireContent } from '@ringwright/head-store/ring-store';
import type { StoreAccess } from '@ringwright/head-store/store-access';
import { mayPass } from './ring-files.ts';

interface HeadPorts {
  readonly adopt: (bytes: Uint8Array) => Promise<unknown>;
  readonly onRefusal: (ring: string, error: unknown) => void;
  /**
   * Called once, not at every attempt, when the store is unreachable. The rings that are here stay
   * in force.
   */
  readonly onTrouble: (error: unknown) => void;
}

/**
 * Follows the newest head of each ring; versions of one ring are loaded one after the other.
 * Returns a function that ends it.
 */
export function followHeads(
  ports: HeadPorts,
  { url, access }: { readonly url: string; readonly access: StoreAccess },
): () => void {
  const latestHeads = new Map<string, string>();
  const adoptedDigests = new Map<string, string>();
  const busy = new Set<string>();
  let ended = false;
  const work = async (ring: string): Promise<void> => {
    busy.add(ring);
    let finishedHead = '';
    let reportedHead = '';
    while (!ended && latestHeads.get(ring) !== finishedHead) {
      const value = latestHeads.get(ring) ?? '';
      try {
        await load(ports.adopt, { ring, value }, adoptedDigests);
        finishedHead = value;
      } catch (error) {
        if (reportedHead !== value) ports.onRefusal(ring, error);
        reportedHead = value;
        // For example, no ring store with the head can be read now: it is tried again.
        if (mayPass(error)) await delay(ringFilePollMs, undefined, { ref: false });
        else finishedHead = value;
      }
    }
    busy.delete(ring);
  };
  let trouble = '';
  const stop = openHeadStore(url, access).watch({
    onHead: (ring, value) => {
      trouble = '';
      if (latestHeads.get(ring) === value) return;
      latestHeads.set(ring, value);
      if (!busy.has(ring)) void work(ring);
    },
    onTrouble: (error) => {
      if (String(error) !== trouble) ports.onTrouble(error);
      trouble = String(error);
    },
  });
  return () => {
    ended = true;
    stop();
  };
}

async function load(
  adopt: HeadPorts['adopt'],
  { ring, value }: { readonly ring: string; readonly value: string },
  adoptedDigests: Map<string, string>,
): Promise<void> {
  const record = parseRecord(value);
  const content = await requireContent(record);
  const file = content.files.find(({ version }) => version === record.version);
  // A note in the log changes the head record too, but not the ring file.
  if (file === undefined || adoptedDigests.get(ring) === file.sha256) return;
  await adopt(await readSharedFile(record, file));
  adoptedDigests.set(ring, file.sha256);
}
