// Names consecutive versions in a sentence. Pure.

/** Returns `version 1` or `versions 1 to 7`. */
export function versionSpan(first: number, last: number): string {
  return first === last ? `version ${first}` : `versions ${first} to ${last}`;
}
