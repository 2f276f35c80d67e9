// What authorities of TLS and their keys are called, beside signing keys in one folder. Pure.

export const authorityName = 'authority';

/** `authority-2-…` is the second one; `tag`: 8 hex digits, which tell it from those of others. */
export function nameAuthority(number: number, tag: string): string {
  return `${authorityName}-${number}-${tag}`;
}

export function isAuthorityKey(name: string): boolean {
  return /^authority-\d+-[0-9a-f]{8}$/.test(name);
}
