// ring-builder access log: prints the audit logs of all servers in order of time.
import { type AuditLine, checkChain, parseLine } from '@ringwright/access/audit-line';
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { auditAnswerLinesMax } from '@ringwright/base/limits-access';
import { printTable } from '@ringwright/base/print-table';
import { exists } from '@ringwright/node/missing-file';
import { accessPath } from '@ringwright/repository/folder/access-file';
import { auditRead } from '@ringwright/wire/audit';
import type { Answer, Context } from '../../cli/command.ts';
import { fanOut, withServer } from '../../servers/server-connection.ts';
import {
  type SilentServer,
  silentExit,
  silentLines,
  silentServer,
} from '../../servers/silent-servers.ts';
import { allTargets } from '../../versions/all-targets.ts';

interface Asked {
  readonly server: string;
  readonly lines: readonly AuditLine[];
  /** Why there are no lines. */
  readonly silent?: SilentServer;
  /** Why there are no lines, or what is wrong with the hash chain; empty: nothing. */
  readonly trouble: string;
}

const answerMs = 10_000;

export async function logAnswer(context: Context): Promise<Answer> {
  const targets = await allTargets(context.rings);
  const logs = await fanOut(targets, ({ address }) => ask(address));
  const rows = logs
    .flatMap(({ server, lines }) => lines.map((line) => ({ server, ...line })))
    .sort((a, b) => a.ms - b.ms);
  const silent = logs.flatMap((one) => one.silent ?? []);
  const broken = logs.filter((one) => one.silent === undefined && one.trouble !== '');
  const answeredCount = logs.length - silent.length;
  return {
    json: { lines: rows, servers: logs.map(({ server, trouble }) => ({ server, trouble })) },
    lines: [
      ...printTable(rows, [
        { head: 'TIME', cell: ({ ms }) => new Date(ms).toISOString() },
        { head: 'SERVER', cell: ({ server }) => server },
        { head: 'KIND', cell: ({ kind }) => kind },
        { head: 'WHO', cell: ({ who }) => who },
        { head: 'WHAT', cell: ({ what }) => what },
      ]),
      ...broken.map(({ server, trouble }) => `${server}: ${trouble}`),
      ...silentLines(silent),
      `the newest ${counted(rows.length, 'line')} of ${answeredCount} of ${counted(logs.length, 'server')}`,
    ],
    next: context.next((await exists(accessPath(context.rings))) ? 'access list' : 'health'),
    exit: broken.length > 0 ? 4 : silentExit(silent),
  };
}

async function ask(server: string): Promise<Asked> {
  const request = { before: null, limit: auditAnswerLinesMax };
  const answer = await resultOrError(
    withServer(server, (one) => one.call(auditRead, request, answerMs)),
  );
  if (answer instanceof CodedError) {
    const trouble = `${answer.code}: ${answer.message}`;
    return { server, lines: [], silent: silentServer(server, answer), trouble };
  }
  const [finding] = checkChain(answer.lines);
  const parsed = answer.lines.flatMap((text) => parseLine(text) ?? []);
  return { server, lines: parsed, trouble: finding?.message ?? '' };
}
