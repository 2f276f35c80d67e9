// ring-builder certs list: which certificates there are, who issued them, and until when.
import { X509Certificate } from 'node:crypto';
import { certificateWarnDays } from '@ringwright/base/limits-commands';
import { printTable } from '@ringwright/base/print-table';
import { namesOf } from '../../certs/certificate.ts';
import { authorityNameOf, openCerts } from '../../certs/certs-folder.ts';
import type { Arguments } from '../../cli/arguments.ts';
import type { Answer, Context } from '../../cli/verb.ts';

export async function listAnswer(args: Arguments, context: Context): Promise<Answer> {
  const { folder, authorities, bundles } = await openCerts(args, context);
  const soonMs = context.nowMs() + certificateWarnDays * 86_400_000;
  const all = [...authorities.map((cert) => [authorityNameOf(cert), cert] as const), ...bundles];
  const rows = all.map(([name, cert]) => {
    const { validToDate, issuer } = new X509Certificate(cert);
    const endsMs = validToDate.getTime();
    const names = namesOf(cert).map(({ value }) => value);
    return { name, names, issuer: issuer.replace(/^CN=/, ''), endsMs, endsSoon: endsMs <= soonMs };
  });
  const ending = rows.find(({ endsSoon }) => endsSoon);
  const step = ending?.name.startsWith('authority-') ? 'authority --step 1' : ending?.name;
  const after = rows.length === 0 ? 'init' : 'issue';
  return {
    json: { folder, certificates: rows },
    lines: printTable(rows, [
      { head: 'NAME', cell: ({ name }) => name },
      { head: 'FOR', cell: ({ names }) => names.join(', ') },
      { head: 'ISSUED BY', cell: ({ issuer }) => issuer },
      { head: 'UNTIL', cell: ({ endsMs, endsSoon }) => untilText(endsMs, endsSoon) },
    ]),
    next: context.next(`certs ${step === undefined ? after : `rotate ${step}`}`),
    ...(ending !== undefined && { exit: 1 }),
  };
}

function untilText(endsMs: number, endsSoon: boolean): string {
  return `${new Date(endsMs).toISOString()}${endsSoon ? ', rotate it' : ''}`;
}
