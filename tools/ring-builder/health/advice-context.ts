// Collects what the advice on a version depends on besides the servers: the log and the folder's
// trust.
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { approvalOf } from '@ringwright/repository/approval';
import type { LogEntry } from '@ringwright/repository/folder/log-entry';
import { lastVersionEntry, readLog } from '@ringwright/repository/folder/read-log';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import type { Context } from '../cli/command.ts';
import type { AdviceContext } from '../servers/advice-rule.ts';
import { removedDevices } from '../servers/ring-targets.ts';
import { lastPush } from '../versions/last-push.ts';
import { accessOf, trustOf } from '../versions/signing.ts';

/** Throws TRUST_INVALID and what readLog throws. */
export async function adviceContextOf(
  context: Context,
  version: StoredVersion,
): Promise<AdviceContext> {
  const { ring } = version;
  const entries = await readLog(context.rings, ring.keyspace);
  const trust = await trustOf(context);
  const access = await resultOrError(accessOf(context, trust)); // health reports a damaged one
  const known = access instanceof CodedError ? {} : { access };
  const isSigned = trust === null ? null : approvalOf(version, trust).signed;
  return { ring, ...known, ...standingOf(version, entries, isSigned) };
}

/** For callers that have read the log. `isSigned`: Approval.signed; null: without trust.json. */
export function standingOf(
  { state }: Pick<StoredVersion, 'state'>,
  entries: readonly LogEntry[],
  isSigned: boolean | null,
): Omit<AdviceContext, 'ring'> {
  const push = lastPush(entries);
  const head = lastVersionEntry(entries);
  const isToAll = push !== null && push.accepted !== null && push.accepted === push.servers;
  return {
    head: head?.version ?? 0,
    removed: removedDevices(state),
    ...(state?.components !== undefined && { components: state.components }),
    pushed: push !== null,
    ...(push?.version === head?.version && { taken: isToAll ? 'all' : 'some' }),
    signing: isSigned === null ? 'off' : isSigned ? 'on' : 'missing',
  };
}
