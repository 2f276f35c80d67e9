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
