// Names of TLS authorities and their keys, which lie in the folder of the signing keys. Pure.

export const authorityName = 'authority';

/** `authority-2-…` is the second authority. `tag`: 8 hex digits that tell clusters apart. */
export function nameAuthority(number: number, tag: string): string {
  return `${authorityName}-${number}-${tag}`;
}

export function isAuthorityKey(name: string): boolean {
  return /^authority-\d+-[0-9a-f]{8}$/.test(name);
}
