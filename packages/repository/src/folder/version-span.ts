// Versions that follow each other, as sentences name them. Pure.

/** `version 1`, `versions 1 to 7`. */
export function versionSpan(first: number, last: number): string {
  return first === last ? `version ${first}` : `versions ${first} to ${last}`;
}
