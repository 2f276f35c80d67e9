// ring-builder access revoke, push and sign. Also the answer to every change of the access
// document: whether it waits for signatures, and which servers have it.
import { withoutTokens } from '@ringwright/access/change-access';
import { counted } from '@ringwright/base/counted';
import { quoteCommand } from '@ringwright/base/quote-command';
import { changeAccess, requireAccess, signAccess } from '@ringwright/repository/change-access';
import type { RingsAccess } from '@ringwright/repository/folder/access-file';
import { requireTrust, trustPath } from '@ringwright/repository/folder/trust-file';
import { usage } from '../../cli/arguments.ts';
import type { Answer, Context } from '../../cli/command.ts';
import { giveTrust, notGiven } from '../../servers/give-trust.ts';
import { allTargets } from '../../versions/all-targets.ts';
import { requireNewestAccess } from '../../versions/newest-access.ts';
import { missingOf, ringKey } from '../../versions/signing.ts';
import { authorOf } from '../../versions/stage-command.ts';
import { grantLines } from './access-list.ts';

export async function revokeAnswer(context: Context, names: readonly string[]): Promise<Answer> {
  if (names.length === 0) throw usage('no token named', 'ring-builder access revoke NAME');
  await requireNewestAccess(context.rings, context.nowMs());
  const access = await changeAccess(context.rings, authorOf(context), {
    key: await ringKey(context),
    change: `revoke ${names.join(' ')}`,
    next: (before, change) => withoutTokens(before, names, change),
  });
  const lines = [`${counted(names.length, 'token')} revoked: ${names.join(' ')}`];
  return changedAnswer(context, access, { json: { revoked: names }, lines });
}

export async function pushAnswer(context: Context): Promise<Answer> {
  const access = await requireAccess(context.rings);
  return changedAnswer(context, access, { json: {}, lines: [] });
}

export async function signAnswer(context: Context): Promise<Answer> {
  await requireNewestAccess(context.rings, context.nowMs());
  const access = await signAccess(context.rings, authorOf(context), await ringKey(context));
  const lines = [...grantLines(access.document, context.nowMs()), 'the access document is signed'];
  return changedAnswer(context, access, { json: {}, lines });
}

/** Sends the document at once if enough keys have signed it. */
export async function changedAnswer(
  context: Context,
  access: RingsAccess,
  answer: { readonly json: object; readonly lines: readonly string[] },
): Promise<Answer> {
  const { version } = access.document;
  const missing = missingOf(access);
  if (missing > 0) {
    return {
      json: { ...answer.json, version, missing, servers: [], changed: true },
      lines: [
        ...answer.lines,
        `access document ${version} is not in force: ${missing} more must sign it`,
      ],
      next: context.next('access sign'),
    };
  }
  const { bytes: roots } = await requireTrust(context.rings);
  const targets = await allTargets(context.rings);
  const documents = { roots, beacons: [], access: access.bytes };
  const servers = await giveTrust(targets, documents);
  const missed = notGiven(servers);
  const lacksTrust = servers.some(({ code }) => code === 'TRUST_UNKNOWN');
  const took = `${servers.length - missed.count} of ${counted(servers.length, 'server')}`;
  return {
    json: { ...answer.json, version, missing, servers, changed: true },
    lines: [
      ...answer.lines,
      `access document ${version}: in force on ${took}`,
      ...missed.table,
      missed.someAway && 'unreachable servers get it from the others when they are back',
      lacksTrust && startLine(context),
    ],
    next: context.next(lacksTrust ? 'key trust' : missed.count > 0 ? 'access push' : 'access list'),
    exit: missed.exit,
  };
}

/** A server without --trust accepts no document, so sending it again would not help. */
function startLine({ rings, next }: Context): string {
  const start = quoteCommand(['ring-server', '--trust', trustPath(rings)]);
  return `TRUST_UNKNOWN: start those servers with ${start} …, then ${next('access push')}`;
}
