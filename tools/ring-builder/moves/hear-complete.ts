// Waits for servers to report that all moves of a version are complete, so that a rollout can look
// at once.
import { setTimeout } from 'node:timers/promises';
import { orCoded } from '@ringwright/base/coded-error';
import { completeWaitMsMax } from '@ringwright/base/limits-copies';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { movesComplete } from '@ringwright/wire/moves';
import { fanOut } from '../servers/fan-out.ts';
import { ringTargets } from '../servers/ring-targets.ts';
import { connectTimeoutMs, withServer } from '../servers/server-connection.ts';

/** Least pause between two looks where servers report the end, for the display. */
const toldMsMin = 200;

/** Waits until all servers of the version report completion, or for about `ms`. */
type PauseUntilComplete = (head: StoredVersion, ms: number) => Promise<void>;

/**
 * Returns a pause. If a server cannot report, because it is unreachable or an older release, the
 * pause lasts `ms`. So does the pause after a look that came too early.
 */
export function hearComplete(
  ask: (head: StoredVersion) => Promise<boolean> = areComplete,
): PauseUntilComplete {
  let asked: { readonly id: string; readonly complete: Promise<boolean> } | null = null;
  /** The version last reported as complete. The next version is waited for anew. */
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
    time.catch(() => undefined); // the abort is expected
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

/** Returns false if the server cannot report, or if another version is active there. */
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
