// Rows of the table in advice.ts: servers that let nobody in, prove another key, have another
// history or another ring of this name, or refuse a beacon or a large change. Pure.
import { counted } from '@ringwright/base/counted';
import type { ErrorCode } from '@ringwright/base/errors';
import { formatAddress } from '@ringwright/base/server-address';
import type { Ring } from '@ringwright/ring/ring';
import { keyIdOf } from '@ringwright/ring/trust/public-key';
import type { Advice, AdviceRule, ServerFailure } from './advice-rule.ts';

/** Codes that a reachable server returns for a missing or insufficient token. */
export const needsToken: ReadonlySet<ErrorCode> = new Set([
  'TOKEN_MISSING',
  'TOKEN_REFUSED',
  'ACCESS_PENDING',
  'PERMISSION_MISSING',
]);

export const foreign: AdviceRule = ({ ring: { keyspace }, pushed }) => ({
  command: `show ${keyspace}`,
  text:
    'those servers have another ring of this name: check that the folder and its ' +
    'addresses are right. ' +
    (pushed
      ? 'After a fork in which partitions were split or merged, ' +
        `ring-builder settle ${keyspace} -m REASON shows the ways out`
      : anotherName(keyspace)),
});

/** For a ring that was never sent to a server, when servers have one of its name. */
function anotherName(keyspace: string): string {
  return (
    `If the ring here is new, such as one in place of an earlier ${keyspace}: servers keep a ` +
    'ring and its records when its folder is deleted, so create it under another name: ' +
    'ring-builder create NAME'
  );
}

/** Advice for a folder whose history is not the valid one. */
const takeTheirs = (ring: string, address: string, folderOption = '') => {
  const command = `restore ${ring}${folderOption} --from ${address} --replace`;
  const loss = 'with a new log, and needs --yes to replace an existing log';
  return { command, text: `ring-builder ${command} takes it over, ${loss}; the one here is kept` };
};

export const fork: AdviceRule = ({ ring: { keyspace, devices }, pushed }, failures) => {
  const others = failures.filter((one) => one.isOther);
  const address = (others[0] ?? failures[0]).address || 'IP:PORT';
  // If all servers have the other history, this folder is the one that went wrong.
  const isAlone = devices.every(
    (one) => one === null || others.some((of) => of.devices.includes(one.id)),
  );
  return {
    command: isAlone ? takeTheirs(keyspace, address).command : `settle ${keyspace} -m REASON`,
    text: // both commands name a folder, which need not be this one
      `two histories of ${keyspace} exist: ring-builder servers ${keyspace} shows both; if RIGHT ` +
      `has the right one: ring-builder settle ${keyspace} --rings RIGHT -m REASON; afterwards, ` +
      `for the other folder: ${takeTheirs(keyspace, address, ' --rings OTHER').text}` +
      (pushed ? '' : `. ${anotherName(keyspace)}`),
  };
};

export const lostFork: AdviceRule = ({ ring: { keyspace } }, [{ address }]) => {
  const { command, text } = takeTheirs(keyspace, address);
  return { command, text: `the fork was settled in favor of the servers: ${text}` };
};

export const older: AdviceRule = (context, [{ address }]) => {
  const { pushed, ring } = context;
  const { keyspace, version } = ring;
  const { head = version } = context;
  if (head > version) {
    const text =
      `servers never go back: ring-builder revert ${keyspace} ${version} makes a version with ` +
      `the table of ${version}; ring-builder push ${keyspace} sends version ${head}`;
    return { command: `push ${keyspace}`, text };
  }
  const { command, text } = takeTheirs(keyspace, address);
  return {
    command,
    text:
      'the servers have versions that this folder lacks: work in the folder that has them ' +
      `(git pull), or take over what a server has: ${text}` +
      (pushed ? '' : `. ${anotherName(keyspace)}`),
  };
};

/** Beacons carry the time of the machine that signs them. */
export const refusedBeacon: AdviceRule = ({ ring: { keyspace } }) => ({
  command: `health ${keyspace}`,
  text:
    'the clock of this machine, of those servers, or of a machine that sent them a beacon before ' +
    `is wrong: ring-builder health ${keyspace} compares this one with the servers`,
});

export const olderAccess: AdviceRule = () => ({
  command: 'access list',
  text:
    'those servers have a newer access document: work in its folder (git pull), or replace ' +
    'the one here by theirs, trust/access.json in the data directory of each',
});

/**
 * The servers were started with --token-file and have no access document: they never had one, or
 * they lost it with the disk.
 */
export const pendingAccess: AdviceRule = ({ ring: { keyspace }, access }) => {
  const unknown = 'those servers have no access document yet';
  if (access === null) {
    const text =
      `${unknown}, and neither has this folder: ` +
      'ring-builder access grant NAME --operator --metrics --out FILE creates one; if the ' +
      'cluster has one, restore it first from trust/access.json in the data directory of a server';
    return { command: 'access list', text };
  }
  if (access !== undefined && access.missing > 0) {
    const lack = `access document ${access.version} lacks ${counted(access.missing, 'signature')}`;
    const text = `${unknown}; ${lack}: ring-builder access sign adds one and sends the document`;
    return { command: 'access sign', text };
  }
  const text = `${unknown}: a push sends the ring and the access document`;
  return { command: `push ${keyspace}`, text };
};

export const tokenAdvice: Advice = {
  command: 'access list',
  text:
    'use a token with that role: --token-file FILE, or RING_BUILDER_TOKEN_FILE; ' +
    'ring-builder access list shows the tokens, access grant NAME --operator --metrics creates one',
};

export const token: AdviceRule = () => tokenAdvice;

/**
 * `address`: a server that refuses the version; empty if none was asked because signatures are
 * missing. A server refuses a version that does not declare itself large even if it has enough
 * signatures. Such a version was committed without knowing what the servers have. Its file cannot
 * be changed afterwards.
 */
export function largeVersion(
  { keyspace, version }: Pick<Ring, 'keyspace' | 'version'>,
  address: string,
): Advice {
  const sign = `sign ${keyspace} ${version}`;
  if (address === '') return { command: sign, text: 'another person with a ring key must sign it' };
  const command = `revert ${keyspace} ${version - 1}`;
  const text =
    'a signature does not help, because the version does not declare a large change: ' +
    `ring-builder ${command} -m REASON, then rollout; ` +
    'then stage the change again and commit it with --override REASON. If the root of the server ' +
    `requires more signatures than the one here (ring-builder key list): ring-builder ${sign}`;
  return { command, text };
}

export function otherKey(
  { keyspace, devices: all }: Pick<Ring, 'keyspace' | 'devices'>,
  { address, devices, key }: ServerFailure,
): Advice {
  const owner = all.find((one) => one?.key !== undefined && keyIdOf(one.key) === key);
  if (owner) {
    const ringAddress = formatAddress(owner);
    const disk = `the disk of d${owner.id} is at ${address}`;
    const text = `${disk}: start it at ${ringAddress}, as the ring says`;
    return { command: `servers ${keyspace}`, text };
  }
  const deviceWord = devices.length === 1 ? `d${devices[0]}` : 'all';
  const command = `set-device ${keyspace} ${deviceWord} --ask-key`;
  const text =
    `check that the right server is at ${address}. If its disk was emptied, its key is new: ` +
    'stop it, empty the disk, put a saved device-key.pem there and start it; without one, ' +
    `ring-builder ${command}, commit and push make the new key known`;
  return { command, text };
}
