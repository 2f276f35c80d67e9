// ring-builder access list: who may do what, and until when.
import { grantText } from '@ringwright/access/grant';
import { counted } from '@ringwright/base/counted';
import { printTable } from '@ringwright/base/print-table';
import { requireAccess } from '@ringwright/repository/change-access';
import type { Answer, Context } from '../../cli/verb.ts';

export async function listAnswer(context: Context): Promise<Answer> {
  const { document, signers, needed } = await requireAccess(context.rings);
  const { version, tokens, by, ms, change } = document;
  const nowMs = context.nowMs();
  const rows = tokens.map(({ id, grants, expiresMs }) => {
    const expired = expiresMs !== null && nowMs >= expiresMs;
    return { token: id, grants: grants.map(grantText), expiresMs, expired };
  });
  const waits = signers.length < needed;
  return {
    json: { version, by, ms, change, signers, needed, tokens: rows },
    lines: [
      `access document ${version}, by ${by} at ${new Date(ms).toISOString()}: ${change}`,
      ...(waits ? [`it waits for ${counted(needed - signers.length, 'signature')}`] : []),
      ...printTable(rows, [
        { head: 'TOKEN', cell: ({ token }) => token },
        { head: 'MAY', cell: ({ grants }) => grants.join(', ') },
        { head: 'UNTIL', cell: ({ expiresMs, expired }) => untilText(expiresMs, expired) },
      ]),
    ],
    next: context.next(waits ? 'access sign' : 'access push'),
  };
}

function untilText(expiresMs: number | null, expired: boolean): string {
  if (expiresMs === null) return 'revoked';
  return `${new Date(expiresMs).toISOString()}${expired ? ', expired' : ''}`;
}
