// Requires that a named directory is a data directory: opening another one would create files in
// it.
import { access, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';

/** What a server creates first; one of them may be lost. */
const signs = ['device.json', 'partitions'];

/** `form`: the command's syntax, for the hint. Throws USAGE. */
export async function requireData(directory: string, form: string): Promise<void> {
  const why = await whyNot(directory);
  if (why === null) return;
  throw new CodedError('USAGE', `${directory} is not a data directory: ${why}`, {
    hint: form,
    details: { directory },
  });
}

async function whyNot(directory: string): Promise<string | null> {
  const stats = await stat(directory).catch(() => null);
  if (stats === null) return 'it does not exist';
  if (!stats.isDirectory()) return 'it is not a directory';
  const isThere = (name: string): Promise<boolean> =>
    access(join(directory, name)).then(
      () => true,
      () => false,
    );
  const found = await Promise.all(signs.map(isThere));
  return found.includes(true) ? null : `it has neither ${signs.join(' nor ')}`;
}
