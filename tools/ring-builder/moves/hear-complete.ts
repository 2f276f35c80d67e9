// Hears from servers when the moves of a version have come to rest, so that who waits looks then.
import { setTimeout } from 'node:timers/promises';
import { orCoded } from '@ringwright/base/coded-error';
import { completeWaitMsMax } from '@ringwright/base/limits-copies';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { movesComplete } from '@ringwright/wire/moves';
import { fanOut } from '../servers/fan-out.ts';
import { ringTargets } from '../servers/ring-targets.ts';
import { connectTimeoutMs, withServer } from '../servers/server-connection.ts';

/** Between two looks, where the servers tell of the end: for who watches. */
const toldMsMin = 200;

/** Until all servers of the version say so, or so many ms, or a moment longer. */
type PauseUntilComplete = (head: StoredVersion, ms: number) => Promise<void>;

/**
 * Where a server cannot tell, as an older program or one that is away, only the time counts; after
 * a look that came too early as well.
 */
export function hearComplete(
  ask: (head: StoredVersion) => Promise<boolean> = areComplete,
): PauseUntilComplete {
  let asked: { readonly id: string; readonly complete: Promise<boolean> } | null = null;
  /** The version that was said to be complete last; the next one has its own end. */
  let told: string | null = null;
  return async (head, ms) => {
    if (told === head.id) {
      told = null;
      await setTimeout(ms);
      return;
    }
    if (asked?.id !== head.id) asked = { id: head.id, complete: ask(head) };
    const over = new AbortController();
    const time = setTimeout(Math.max(ms, toldMsMin), null, { signal: over.signal });
    time.catch(() => undefined); // it is not waited for any more
    const complete = await Promise.race([time, asked.complete]);
    over.abort();
    if (complete === null) return;
    asked = null;
    told = complete ? head.id : null;
    if (!complete) await setTimeout(ms);
  };
}

async function areComplete(head: StoredVersion): Promise<boolean> {
  const required = ringTargets(head.ring, head.state).filter((target) => target.required);
  const told = await fanOut(required, ({ address }) => isComplete(address, head));
  return told.every((one) => one);
}

/** False: it cannot tell, or another version is active there. */
async function isComplete(address: string, { ring }: StoredVersion) {
  const { keyspace, version: ringVersion } = ring;
  const request = { keyspace, ringVersion, waitMs: completeWaitMsMax };
  const timeoutMs = completeWaitMsMax + connectTimeoutMs;
  const said = await orCoded(
    withServer(address, async (server) => {
      for (;;) {
        const askedMs = performance.now();
        const { complete } = await server.call(movesComplete, request, timeoutMs);
        if (complete || performance.now() - askedMs < completeWaitMsMax / 2) return complete;
      }
    }),
  );
  return said === true;
}
