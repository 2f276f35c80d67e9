// ring-server check DIR: audits the data directory of a server that does not run. Changes nothing.
import { stat } from 'node:fs/promises';
import { CodedError } from '@ringwright/base/coded-error';
import type { Finding } from '@ringwright/base/finding';
import { checkStore } from '@ringwright/partition/check-store';

export interface CheckedData {
  readonly directory: string;
  readonly findings: readonly Finding[];
}

/** Throws USAGE unless one directory is named. */
export async function checkData(words: readonly string[]): Promise<CheckedData> {
  const [directory, ...more] = words.filter((word) => word !== '--json');
  const there = directory !== undefined && (await stat(directory).catch(() => null)) !== null;
  if (!there || more.length > 0) {
    throw new CodedError('USAGE', `check takes one data directory, given: ${words.join(' ')}`, {
      hint: 'ring-server check DIR [--json], while no server runs on DIR',
      details: { words },
    });
  }
  return { directory, findings: await checkStore(directory) };
}

export function printCheck({ directory, findings }: CheckedData): string {
  if (findings.length === 0) return `${directory}: every record, counter and log frame is sound\n`;
  const lines = findings.map(({ code, message }) => `${code}: ${message}`);
  return `${lines.join('\n')}\n${directory}: ${findings.length} findings\n`;
}
