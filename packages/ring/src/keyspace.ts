// Names of keyspaces, which are the names of their rings: safe in paths, URLs and logs. Pure.
import { CodedError } from '@ringwright/base/coded-error';

export const keyspacePattern = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Returns the name. Throws NAME_INVALID when it is none. */
export function checkKeyspace(name: string): string {
  if (keyspacePattern.test(name)) return name;
  throw new CodedError('NAME_INVALID', `'${name}' is no ring name: ${keyspacePattern.source}`, {
    hint: 'use 1 to 63 lower-case letters, digits and hyphens, such as cities-2',
    details: { name },
  });
}
