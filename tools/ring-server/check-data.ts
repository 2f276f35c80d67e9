// ring-server check DIR: audits the data directory of a server that is not running. Changes
// nothing.
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import type { Finding } from '@ringwright/base/finding';
import { quoteWord } from '@ringwright/base/quote-command';
import { checkStore } from '@ringwright/partition/audit/check-store';
import { checkAuditLog } from '@ringwright/server/audit/audit-files';
import { checkCompleteFiles } from '@ringwright/server/moves/check-complete-files';
import { requireData } from './require-data.ts';

export interface CheckedData {
  readonly directory: string;
  readonly findings: readonly Finding[];
}

/** Throws USAGE unless exactly one directory is named, DATA_DIR_IN_USE while its server runs. */
export async function checkData(args: readonly string[]): Promise<CheckedData> {
  const [directory, ...more] = args.filter((word) => word !== '--json');
  const hint = 'ring-server check DIR [--json], while no server runs on DIR';
  if (directory === undefined || more.length > 0) {
    throw new CodedError(
      'USAGE',
      `check takes one data directory, given: ${args.join(' ') || 'none'}`,
      { hint },
    );
  }
  await requireData(directory, hint);
  const findings = await checkStore(directory).catch((error: unknown) => {
    throw error instanceof CodedError && error.code === 'DATA_DIR_IN_USE'
      ? stopFirst(directory, error)
      : error;
  });
  const others = [...(await checkCompleteFiles(directory)), ...(await checkAuditLog(directory))];
  return { directory, findings: [...findings, ...others] };
}

function stopFirst(directory: string, { code, message, details }: CodedError): CodedError {
  const hint =
    'check needs files that are not being written: stop the server and check again; ' +
    `ring-server inspect ${quoteWord(directory)} shows the data while it runs`;
  return new CodedError(code, message, { hint, details });
}

export function printCheck({ directory, findings }: CheckedData): string {
  if (findings.length === 0) return `${directory}: every record, counter and log frame is intact\n`;
  const lines = findings.map(({ code, message }) => `${code}: ${message}`);
  return `${lines.join('\n')}\n${directory}: ${counted(findings.length, 'finding')}\n`;
}
