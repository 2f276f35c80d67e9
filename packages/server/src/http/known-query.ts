// The parameters of a request to records: a misspelt one would be left out unseen, and a record
// with `?tll=60` stay for ever. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { shortened } from '@ringwright/base/shortened';

const NAME_CHARACTERS = 50;

/** Names are as they are typed, not escaped. Throws USAGE. */
export function knownQuery(query: string, names: readonly string[]): URLSearchParams {
  for (const part of query.split('&')) {
    const [name = ''] = part.split('=', 1);
    if (part === '' || names.includes(name)) continue;
    const message = `there is no parameter ${shortened(name, NAME_CHARACTERS)} here`;
    throw new CodedError('USAGE', message, { hint: `there are: ${names.join(', ')}` });
  }
  return new URLSearchParams(query);
}
