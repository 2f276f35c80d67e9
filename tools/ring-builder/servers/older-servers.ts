// Servers that run an older release than others, as during an upgrade. They work, but newer
// features wait for them. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { oldestWireVersion, wireVersion } from '@ringwright/wire/wire-version';
import type { StatusByAddress } from './ask-servers.ts';
import type { ServerStatus } from './server-status.ts';

export interface OlderServer {
  readonly address: string;
  readonly wireVersion: number;
  /** The highest wire version that a server of the ring, or this program, speaks. */
  readonly newest: number;
}

const NAMED_MAX = 5;

/** Returns the server's wire version. Only release 0.1.0 does not report one. */
export function wireVersionOf(status: Pick<ServerStatus, 'wireVersion'>): number {
  return status.wireVersion ?? oldestWireVersion;
}

/**
 * Returns the servers that speak a lower version than the highest of `addresses` and this program.
 */
export function olderServers(
  addresses: readonly string[],
  answers: StatusByAddress,
): OlderServer[] {
  const servers = addresses.flatMap((address) => {
    const status = answers.get(address);
    const hasStatus = status !== undefined && !(status instanceof CodedError);
    return hasStatus ? [{ address, wireVersion: wireVersionOf(status) }] : [];
  });
  const newest = Math.max(wireVersion, ...servers.map((one) => one.wireVersion));
  return servers.filter((one) => one.wireVersion < newest).map((one) => ({ ...one, newest }));
}

/**
 * Returns one line or none. An upgrade in progress is no alarm, but must not be left unfinished.
 */
export function olderLines(older: readonly OlderServer[]): string[] {
  if (older.length === 0) return [];
  const versions = [...new Set(older.map((one) => one.wireVersion))].sort((a, b) => a - b);
  const named = older.slice(0, NAMED_MAX).map(({ address }) => address);
  const more = older.length > NAMED_MAX ? ` and ${older.length - NAMED_MAX} more` : '';
  const runs = counted(older.length, 'server runs', 'servers run');
  const newest = Math.max(...older.map((one) => one.newest));
  const which = `wire version ${versions.join(', ')}, the newest is ${newest}`;
  const waits = 'until all are upgraded, listings, archives and splits may be refused';
  return [`${runs} an older release (${which}): ${named.join(' ')}${more}; ${waits}`];
}
