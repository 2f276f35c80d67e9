// The form of a keyspace (= ring) name, and the check every entry point makes. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { typedCharactersMax } from '@ringwright/base/limits-commands';
import { shortened } from '@ringwright/base/shortened';

/** 63 characters: such a name is also a DNS label, a folder name and a URL segment as it stands. */
export const keyspaceNamePattern = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Returns `name`, or throws NAME_INVALID. */
export function checkKeyspaceName(name: string): string {
  if (keyspaceNamePattern.test(name)) return name;
  throw new CodedError(
    'NAME_INVALID',
    `keyspace name ${JSON.stringify(shortened(name, typedCharactersMax))} is not of the form ${keyspaceNamePattern.source}`,
    {
      hint: 'use 1 to 63 lower-case letters, digits and dashes, the first not a dash',
      details: { name: shortened(name, typedCharactersMax) },
    },
  );
}

/** What stands behind /v1/ in paths of servers that name no key. */
const taken: ReadonlySet<string> = new Set(['duty', 'rings']);

/** For a ring that is new: as checkKeyspaceName, and its keys must have paths over HTTP. */
export function checkNewKeyspace(name: string): string {
  if (!taken.has(checkKeyspaceName(name))) return name;
  throw new CodedError('NAME_INVALID', `no ring can be named ${name}: /v1/${name}/ is no key's`, {
    hint: `choose another name, such as my-${name}`,
    details: { name },
  });
}
