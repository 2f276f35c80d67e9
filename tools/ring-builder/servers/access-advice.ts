// Advice when servers refuse access: rows of the table in advice.ts. Pure.
import { counted } from '@ringwright/base/counted';
import type { ErrorCode } from '@ringwright/base/errors';
import type { Advise } from './advice.ts';

/** Codes that a reachable server returns for a missing or insufficient token. */
export const needsToken: ReadonlySet<ErrorCode> = new Set([
  'TOKEN_MISSING',
  'TOKEN_REFUSED',
  'ACCESS_PENDING',
  'PERMISSION_MISSING',
]);

export const olderAccess: Advise = () => ({
  command: 'access list',
  text:
    'those servers hold a newer access document: work in the folder that made it (git pull), or ' +
    'take theirs, which lies as trust/access.json in the data directory of each, for the one here',
});

/**
 * The servers were started with --token-file and have no access document: they never had one, or
 * they lost it with the disk.
 */
export const pendingAccess: Advise = ({ ring: { keyspace }, access }) => {
  const unknown = 'those servers begin anew and know nobody yet';
  if (access === null) {
    const text =
      `${unknown}, and this folder has no access document: ` +
      'ring-builder access grant NAME --operator --metrics --out FILE makes one; where the ' +
      'cluster has one, get it back first, as trust/access.json of the data directory of a server';
    return { command: 'access list', text };
  }
  if (access !== undefined && access.missing > 0) {
    const lack = `access document ${access.version} lacks ${counted(access.missing, 'signature')}`;
    const text = `${unknown}; ${lack}: ring-builder access sign adds one, and sends it`;
    return { command: 'access sign', text };
  }
  const text = `${unknown}: a push brings ring and access document`;
  return { command: `push ${keyspace}`, text };
};

export const token: Advise = () => ({
  command: 'access list',
  text:
    'show a token with the role: --token-file FILE, or RING_BUILDER_TOKEN_FILE; ' +
    'ring-builder access list shows who has which, access grant NAME --operator --metrics makes one',
});
