// The error for a value of the wrong type from a JavaScript program. Pure.
import { CodedError } from '@ringwright/base/coded-error';

/** USAGE: `the key is of type Uint16Array, wanted a string or a Uint8Array`. */
export function wrongType(
  what: string,
  content: unknown,
  { wanted, hint }: { readonly wanted: string; readonly hint: string },
): CodedError {
  const type = typeOf(content);
  const message = `${what} is of type ${type}, wanted ${wanted}`;
  return new CodedError('USAGE', message, { hint, details: { given: type, wanted } });
}

function typeOf(content: unknown): string {
  if (typeof content !== 'object' || content === null)
    return content === null ? 'null' : typeof content;
  return Object.prototype.toString.call(content).slice('[object '.length, -1);
}
