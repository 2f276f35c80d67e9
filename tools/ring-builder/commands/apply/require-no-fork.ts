// Stops a rollout while servers know of two lines of the ring.
import { CodedError } from '@ringwright/base/coded-error';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import type { Context } from '../../cli/command.ts';
import { adviceContextOf } from '../../health/advice-context.ts';
import { adviceOn } from '../../servers/advice.ts';
import { askTargets } from '../../servers/ask-servers.ts';
import { ringTargets } from '../../servers/ring-targets.ts';

/** Throws RING_FORK. Servers that do not answer are ignored here: the push asks them again. */
export async function requireNoFork(context: Context, head: StoredVersion): Promise<void> {
  const { keyspace } = head.ring;
  const targetStatuses = await askTargets(keyspace, ringTargets(head.ring, head.state));
  const forked = targetStatuses.flatMap(({ ringStatus, ...target }) => {
    if (ringStatus instanceof Error || ringStatus.fork === null || ringStatus.fork.settled !== null)
      return [];
    return [{ ...target, fork: ringStatus.fork, code: 'RING_FORK' as const }];
  });
  const [first] = forked;
  if (first === undefined) return;
  const { version, id, other } = first.fork;
  const names = forked.map(({ address }) => address);
  throw new CodedError(
    'RING_FORK',
    `version ${version} of ${keyspace} is ${id.slice(0, 12)} and ${other.slice(0, 12)}, ` +
      `say ${names.join(' ')}: nothing moves until this fork is settled`,
    {
      hint: adviceOn(await adviceContextOf(context, head), forked)?.text,
      details: { ring: keyspace, version, id, other, servers: names },
    },
  );
}
