// The form of a keyspace (= ring) name, and the check at every entry point. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { typedCharactersMax } from '@ringwright/base/limits-commands';
import { shortened } from '@ringwright/base/shortened';

/** 63 characters: such a name is also a valid DNS label, folder name and URL segment. */
export const keyspaceNamePattern = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Returns `name`, or throws NAME_INVALID. */
export function checkKeyspaceName(name: string): string {
  if (keyspaceNamePattern.test(name)) return name;
  throw new CodedError(
    'NAME_INVALID',
    `keyspace name ${JSON.stringify(shortened(name, typedCharactersMax))} is not of the form ${keyspaceNamePattern.source}`,
    {
      hint: 'use 1 to 63 lower-case letters, digits and dashes, not beginning with a dash',
      details: { name: shortened(name, typedCharactersMax) },
    },
  );
}

/** Names after /v1/ in server paths that are no keyspace. */
const reservedNames: ReadonlySet<string> = new Set(['duty', 'rings']);

/** Checks the name of a new ring: as checkKeyspaceName, and its keys must have paths over HTTP. */
export function checkNewKeyspace(name: string): string {
  if (!reservedNames.has(checkKeyspaceName(name))) return name;
  throw new CodedError('NAME_INVALID', `no ring can be named ${name}: /v1/${name}/ is reserved`, {
    hint: `choose another name, such as my-${name}`,
    details: { name },
  });
}
