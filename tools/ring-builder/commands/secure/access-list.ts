// ring-builder access list: shows who may do what, until when, and when each token was last used.
import type { AccessDocument } from '@ringwright/access/access-document';
import { grantText } from '@ringwright/access/grant';
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { printTable } from '@ringwright/base/print-table';
import { requireAccess } from '@ringwright/repository/change-access';
import type { Arguments } from '../../cli/arguments.ts';
import type { Answer, Context } from '../../cli/command.ts';
import { fanOut } from '../../servers/server-connection.ts';
import { statusOrWhyNot } from '../../servers/server-status.ts';
import { allTargets } from '../../versions/all-targets.ts';

/** The last use of tokens, as servers remember it since they started. */
interface LastUse {
  /** Unix ms, by token. */
  readonly used: ReadonlyMap<string, number>;
  readonly asked: number;
  /** Servers that did not answer, with the reason. */
  readonly silent: readonly string[];
}

export async function listAnswer(args: Arguments, context: Context): Promise<Answer> {
  const { document, signers, needed } = await requireAccess(context.rings);
  const { version, tokens, by, ms, change } = document;
  const nowMs = context.nowMs();
  const { used, asked, silent } = await lastUse(args.flag('offline') ? null : context.rings);
  const rows = tokenRows(tokens, nowMs).map((row) => {
    return { ...row, usedMs: used.get(row.token) ?? null };
  });
  const lacksSignatures = signers.length < needed;
  return {
    json: { version, by, ms, change, signers, needed, tokens: rows, asked, silent },
    lines: [
      `access document ${version}, by ${by} at ${new Date(ms).toISOString()}: ${change}`,
      lacksSignatures && `it still needs ${counted(needed - signers.length, 'signature')}`,
      ...printTable(rows, [
        ...tokenColumns,
        { head: 'LAST USED', cell: ({ usedMs }) => usedText(usedMs) },
      ]),
      ...useLines({ asked, silent }),
    ],
    next: context.next(lacksSignatures ? 'access sign' : 'health'),
  };
}

interface TokenRow {
  readonly token: string;
  readonly grants: readonly string[];
  readonly expiresMs: number | null;
  readonly expired: boolean;
}

const tokenColumns = [
  { head: 'TOKEN', cell: ({ token }: TokenRow) => token },
  { head: 'MAY', cell: ({ grants }: TokenRow) => grants.join(', ') },
  { head: 'EXPIRES', cell: ({ expiresMs, expired }: TokenRow) => expiryText(expiresMs, expired) },
];

function tokenRows(tokens: AccessDocument['tokens'], nowMs: number): TokenRow[] {
  return tokens.map(({ id, grants, expiresMs }) => {
    const expired = expiresMs !== null && nowMs >= expiresMs;
    return { token: id, grants: grants.map(grantText), expiresMs, expired };
  });
}

/** Lists everything that a document grants, for the person who signs it. */
export function grantLines(
  { version, by, change, tokens }: AccessDocument,
  nowMs: number,
): string[] {
  return [
    `access document ${version}, by ${by}: ${change}`,
    ...printTable(tokenRows(tokens, nowMs), tokenColumns),
  ];
}

/** Returns the latest use on any server. `rings` null: asks no server. */
async function lastUse(rings: string | null): Promise<LastUse> {
  const targets = rings === null ? [] : await allTargets(rings);
  const used = new Map<string, number>();
  const silent: string[] = [];
  await fanOut(targets, async ({ address }) => {
    const status = await statusOrWhyNot(address);
    if (status instanceof CodedError) silent.push(`${address}: ${status.code}: ${status.message}`);
    else if (status.tokensUsed === undefined)
      silent.push(`${address}: an older release, which does not record this`);
    else
      for (const [id, ms] of Object.entries(status.tokensUsed)) {
        used.set(id, Math.max(ms, used.get(id) ?? 0));
      }
  });
  return { used, asked: targets.length, silent: silent.sort() };
}

function useLines({ asked, silent }: Omit<LastUse, 'used'>): string[] {
  if (asked === 0) return [];
  return [
    `last used: according to ${asked - silent.length} of ${counted(asked, 'server')}, since their start`,
    ...silent,
  ];
}

function expiryText(expiresMs: number | null, expired: boolean): string {
  if (expiresMs === null) return 'never';
  return `${new Date(expiresMs).toISOString()}${expired ? ', expired' : ''}`;
}

function usedText(usedMs: number | null): string {
  return usedMs === null ? '-' : new Date(usedMs).toISOString();
}
