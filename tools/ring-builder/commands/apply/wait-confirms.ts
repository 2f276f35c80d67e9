// The barrier between the steps of a ring change: every server has the version in memory.
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import type { ErrorCode } from '@ringwright/base/errors';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import type { Context } from '../../cli/command.ts';
import { adviceContextOf } from '../../health/advice-context.ts';
import { hasNewerHead } from '../../moves/head-watch.ts';
import { adviceOn, isFinal, worstOf } from '../../servers/advice.ts';
import { type PushOutcome, serverFailuresOf } from '../../servers/push-to-targets.ts';
import { ringTargets } from '../../servers/ring-targets.ts';
import { waitUntil } from '../../servers/wait-until.ts';
import { pushAndNote } from './push-and-note.ts';

/**
 * Pushes until all servers have confirmed. Unreachable servers whose devices were removed do not
 * count; with `skipDown` no unreachable server does, as long as one server has confirmed. Resolves
 * to the servers that did not confirm. Throws SERVERS_NOT_CONFIRMED after `stallMs` without a
 * change. Throws the code of a final refusal at once, such as RING_FORK, or HEAD_MOVED if the
 * folder has a newer head by then.
 */
export async function waitForConfirms(
  context: Context,
  version: StoredVersion,
  options: { readonly stallMs: number; readonly skipDown: boolean },
): Promise<readonly PushOutcome[]> {
  const targets = ringTargets(version.ring, version.state);
  const { answer, done } = await waitUntil({
    ask: () => pushAndNote(context, version, { targets, keepGoing: true, tell: null }),
    isDone: (servers) =>
      finalOf(servers).length > 0 ||
      missingOf(servers).length === 0 ||
      // If no server answers, none has the version, and a further version must not build on it.
      (options.skipDown &&
        servers.some(({ outcome }) => outcome === 'accepted') &&
        missingOf(servers).every(({ outcome }) => outcome === 'unreachable')),
    progressOf: (servers) => {
      const missing = missingOf(servers);
      const why = missing.map(({ address, message }) => `${address}: ${message}`).join('; ');
      return `version ${version.ring.version} is waiting for ${counted(missing.length, 'server')}: ${why}`;
    },
    hintOf: async (servers) =>
      adviceOn(await adviceContextOf(context, version), serverFailuresOf(servers))?.text ?? '',
    stallMs: options.stallMs,
    nowMs: context.nowMs,
    tell: context.tell,
  });
  const refused = finalOf(answer);
  if (refused.length > 0) throw await refusedForGood(context, version, refused);
  if (done) return answer.filter(({ outcome }) => outcome !== 'accepted');
  const missing = missingOf(answer);
  const what = `${missing.length} of ${counted(answer.length, 'server')} did not confirm`;
  throw await notTaken(context, version, { code: 'SERVERS_NOT_CONFIRMED', what, missing });
}

function missingOf(servers: readonly PushOutcome[]): PushOutcome[] {
  return servers.filter(({ outcome, required }) => required && outcome !== 'accepted');
}

function finalOf(servers: readonly PushOutcome[]): PushOutcome[] {
  return missingOf(servers).filter(({ code }) => code !== undefined && isFinal(code));
}

async function refusedForGood(
  context: Context,
  version: StoredVersion,
  refused: readonly PushOutcome[],
): Promise<CodedError> {
  const { keyspace, version: number } = version.ring;
  if (await hasNewerHead(context, { ring: keyspace, id: version.id })) {
    return new CodedError('HEAD_MOVED', `${keyspace} has a newer head than version ${number}`);
  }
  const worst = new Set(worstOf(serverFailuresOf(refused)).map(({ address }) => address));
  const missing = refused.filter(({ address }) => worst.has(address));
  const code = missing[0]?.code ?? 'SERVERS_NOT_CONFIRMED';
  const [first] = missing;
  const why = `${first?.address ?? ''} says: ${first?.message ?? ''}`;
  const what = `${why}; ${counted(missing.length, 'server refuses', 'servers refuse')}`;
  return notTaken(context, version, { code, what, missing });
}

async function notTaken(
  context: Context,
  version: StoredVersion,
  failure: {
    readonly code: ErrorCode;
    readonly what: string;
    readonly missing: readonly PushOutcome[];
  },
): Promise<CodedError> {
  const { code, what, missing } = failure;
  const { keyspace, version: number } = version.ring;
  const names = missing.map((one) => `${one.address} (${one.code ?? one.outcome})`).join(', ');
  const advice = adviceOn(await adviceContextOf(context, version), serverFailuresOf(missing));
  return new CodedError(code, `${what} version ${number}: ${names}`, {
    hint: advice?.text,
    details: { ring: keyspace, version: number, missing },
  });
}
