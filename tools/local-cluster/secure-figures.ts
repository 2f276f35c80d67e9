// The figures of a run with --secure, and whether they are as expected. Pure.
import type { Rows } from './page.ts';

export interface SecureFigures {
  readonly records: number;
  readonly lost: number;
  readonly wrongReads: number;
  readonly servers: number;
  /** The answer to each kind of unauthorized request: an error code, or why there was no answer. */
  readonly refused: {
    readonly plainText: string;
    readonly noToken: string;
    readonly wrongSecret: string;
    readonly otherRole: string;
  };
  /** Fingerprints that servers showed before and after the certificate was replaced. */
  readonly certificates: { readonly before: readonly string[]; readonly after: readonly string[] };
  /** Servers that refused the revoked token. */
  readonly revokedOn: number;
  /**
   * Requests of the application, from before the certificate was replaced until the token was
   * revoked.
   */
  readonly live: { readonly writes: number; readonly reads: number; readonly failed: number };
  readonly longestPauseMs: { readonly writer: number; readonly reader: number };
  readonly seconds: number;
}

const expected: SecureFigures['refused'] = {
  plainText: 'closed',
  noToken: 'TOKEN_MISSING',
  wrongSecret: 'TOKEN_REFUSED',
  otherRole: 'PERMISSION_MISSING',
};

/** Returns one sentence for each figure that is not as expected. */
export function findSecureProblems(figures: SecureFigures): string[] {
  const { records, lost, wrongReads, servers, refused, certificates, revokedOn, live } = figures;
  const problems: string[] = [];
  if (records === 0) problems.push('no record was loaded');
  if (lost > 0) problems.push(`${lost} of ${records} records were lost`);
  if (wrongReads > 0) problems.push(`${wrongReads} reads returned wrong values`);
  for (const kind of Object.keys(expected) as (keyof typeof expected)[]) {
    if (refused[kind] !== expected[kind]) {
      problems.push(`${kind}: answered ${refused[kind]}, not ${expected[kind]}`);
    }
  }
  if (certificates.after.length !== 1) problems.push('servers show different certificates');
  if (certificates.after.some((one) => certificates.before.includes(one))) {
    problems.push('the certificate was not replaced');
  }
  if (revokedOn !== servers) problems.push(`${revokedOn} of ${servers} refuse the revoked token`);
  if (live.failed > 0) problems.push(`${live.failed} requests failed`);
  if (live.writes === 0 || live.reads === 0) problems.push('the application did nothing');
  return problems;
}

export function secureRows({ records, refused, live, ...rest }: SecureFigures): Rows {
  const { longestPauseMs: pause, revokedOn, servers, lost, seconds } = rest;
  const count = (value: number): string => value.toLocaleString('en');
  return [
    ['records', count(records)],
    ['strangers', Object.values(refused).join(', ')],
    ['replaced', 'the certificate, the key that signs rings, a token'],
    ['revoked', `refused by ${revokedOn} of ${servers} servers when the command ended`],
    ['meanwhile', `${count(live.writes)} updates, ${count(live.reads)} checked reads`],
    ['failed', `${live.failed}`],
    ['longest pause', `${pause.writer} ms for the writer, ${pause.reader} ms for a reader`],
    ['lost', `${lost}`],
    ['time', `${seconds.toFixed(1)} s`],
  ];
}
