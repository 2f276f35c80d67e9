// The barrier between the steps of a ring change: every server has the version in memory.
import { CodedError } from '@ringwright/base/coded-error';
import type { StoredVersion } from '@ringwright/repository/read-version';
import { pushAndNote } from './commands/push.ts';
import { goneForGood } from './gone-for-good.ts';
import type { PushOutcome } from './push-ring.ts';
import { ringTargets } from './ring-targets.ts';
import type { Context } from './verb.ts';
import { waitUntil } from './wait-until.ts';

/**
 * Pushes until all have confirmed; without those that cannot be reached and were removed, with
 * `skipDown` without any that cannot. Resolves with those it went on without. Throws
 * SERVERS_NOT_CONFIRMED when nothing changed for `stallMs`.
 */
export async function pushToAll(
  context: Context,
  version: StoredVersion,
  options: { readonly stallMs: number; readonly skipDown: boolean },
): Promise<readonly PushOutcome[]> {
  const targets = ringTargets(version.ring, version.state);
  const { answer, done } = await waitUntil({
    ask: () => pushAndNote(context, version, { targets, keepGoing: true, tell: null }),
    isDone: (servers) =>
      servers.every(
        ({ outcome, required }) =>
          outcome === 'accepted' || !required || (options.skipDown && outcome === 'unreachable'),
      ),
    progressOf: (servers) => {
      const missing = servers.filter(({ outcome, required }) => required && outcome !== 'accepted');
      const why = missing.map(({ address, message }) => `${address}: ${message}`).join('; ');
      return `version ${version.ring.version} waits for ${missing.length} servers: ${why}`;
    },
    stallMs: options.stallMs,
    nowMs: context.nowMs,
    tell: context.tell,
  });
  if (done) return answer.filter(({ outcome }) => outcome !== 'accepted');
  const missing = answer.filter(({ outcome, required }) => required && outcome !== 'accepted');
  const { keyspace, version: number } = version.ring;
  const names = missing.map(({ address, code }) => `${address} (${code})`).join(', ');
  throw new CodedError(
    'SERVERS_NOT_CONFIRMED',
    `${missing.length} of ${answer.length} servers have not confirmed version ${number}: ${names}`,
    {
      hint:
        `start them, or add --skip-down, and type ring-builder rollout ${keyspace} again; ` +
        `one that will not come back: ${goneForGood(
          keyspace,
          missing.flatMap(({ devices }) => devices),
        )}`,
      details: { ring: keyspace, version: number, missing },
    },
  );
}
