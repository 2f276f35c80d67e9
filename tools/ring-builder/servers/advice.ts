// Advice on what to type next when servers refuse a version or do not answer: the single table for
// push, rollout, settle, servers, health and status. Pure.
import { counted } from '@ringwright/base/counted';
import { type ErrorCode, errorCatalogue, isPeerCode } from '@ringwright/base/errors';
import { trustLifeDaysMax } from '@ringwright/base/limits';
import { quoteWord } from '@ringwright/base/quote-command';
import { changeCommand } from '@ringwright/builder/state/composition';
import {
  foreign,
  fork,
  largeVersion,
  lostFork,
  older,
  olderAccess,
  otherKey,
  pendingAccess,
  refusedBeacon,
  token,
} from './advice-rows.ts';
import type { Advice, AdviceContext, AdviceRule, ServerFailure } from './advice-rule.ts';
import { fullDisk } from './full-disk.ts';
import { resumeCommand, withoutForGood } from './gone-for-good.ts';

/** Further addresses are only counted. */
const ADDRESSES_NAMED_MAX = 3;

const absent: AdviceRule = (context, failures) => {
  const { ring, pushed, removed = [], components } = context;
  const { keyspace } = ring;
  const again = resumeCommand(ring);
  const start = `start ${named(failures)}, then ring-builder ${again}`;
  const gone = failures.flatMap(({ devices }) => devices);
  if (gone.length === 0) {
    const typed = failures.map(({ address }) => ` --to ${address}`).join('');
    const command = `push ${keyspace}${typed}`;
    const tlsText = 'if it runs with --tls, add --ca FILE';
    return { command, text: `start ${named(failures)}, which is not in the ring; ${tlsText}` };
  }
  if (!pushed) {
    const isKeyless = gone.some((id) => ring.devices[id]?.key === undefined);
    const askKeys = `ring-builder set-device ${keyspace} all --ask-key first`;
    const keys = isKeyless ? `; if they run with --tls, ${askKeys}` : '';
    return { command: `push ${keyspace}`, text: `${start}${keys}` };
  }
  const joining = gone.filter((id) => ring.moves.some(({ to }) => to === id));
  // If no server answers at all, the servers are not the cause.
  const isSome = ring.devices.some((device) => device !== null && !gone.includes(device.id));
  if (joining.length > 0 && isSome) {
    const waits = `${start}, which waits for it because moves go there`;
    return { command: again, text: `${waits}${withoutForGood(context, joining)}` };
  }
  if (ring.moves.length === 0 && gone.every((id) => removed.includes(id))) {
    const text = `${named(failures)} was removed but still has slots: the next version moves them`;
    return { command: changeCommand({ ring: keyspace, components }), text };
  }
  if (ring.moves.length === 0 && isSome) {
    const text = `start ${named(failures)}: it gets the newest ring from the others within seconds`;
    const more = withoutForGood(context, gone);
    return { command: `servers ${keyspace}`, text: `${text}${more}` };
  }
  if (!isSome) return { command: again, text: start };
  const skipCommand = `rollout ${keyspace} --skip-down`;
  const startOrSkip = `${start}; to continue without it: ring-builder ${skipCommand}`;
  const from = ring.moves.filter((move) => move.from !== null && gone.includes(move.from)).length;
  const source = from === 0 ? '' : `, and other holders fill ${counted(from, 'slot')} in its place`;
  return {
    command: ring.moves.length > 0 ? skipCommand : again,
    text: `${startOrSkip}${source}${withoutForGood(context, gone)}`,
  };
};

/** Swift's servers listen on the port that is usual here. */
const otherProgram: AdviceRule = ({ ring }, failures) => {
  const [{ devices }] = failures;
  const who = devices.length === 0 ? 'dN' : `d${devices[0]}`;
  return {
    command: resumeCommand(ring),
    text:
      `no ring-server of this release answers at ${named(failures)}: stop what listens there and ` +
      'start the ring-server; or, if the port is wrong, ' +
      `ring-builder set-device ${ring.keyspace} ${who} --port PORT, then commit`,
  };
};

const signatures: AdviceRule = ({ ring: { keyspace, version }, signing }) => {
  const commit = `commit ${keyspace} -m ${quoteWord('signed from here on')}`;
  if (signing === 'missing') {
    return { command: commit, text: `a signed version is needed: ring-builder ${commit}` };
  }
  if (signing === 'on') {
    const text =
      'ring-builder key list shows the root and the keys here: if it is the root of the server, ' +
      `ring-builder sign ${keyspace} ${version} adds a signature; under another root, ` +
      'restart the server with ring-server --trust and the trust.json of this folder';
    return { command: 'key list', text };
  }
  const text =
    'the server accepts only signed rings, and this folder has no root. If its root ' +
    'exists in another folder, work there, or copy its trust.json and a ring key here. ' +
    `Otherwise ring-builder key generate makes a root, ring-builder ${commit} a signed version, ` +
    'and the server must be restarted with ring-server --trust and the new trust.json';
  return { command: 'key list', text };
};

const trust: AdviceRule = () => ({
  command: 'key list',
  text:
    'ring-builder key list shows the root of this folder: restart a server that trusts another ' +
    'with ring-server --trust and the trust.json of this folder, or use its folder',
});

const noTrust: AdviceRule = ({ ring: { keyspace } }, failures) => ({
  command: 'key trust',
  text:
    `${named(failures) || 'a server'} trusts no root, so it accepts no grants: restart it with ` +
    'ring-server --trust and the trust.json of this folder, or the id of its root, which ' +
    `ring-builder key trust shows; then ring-builder push ${keyspace}`,
});

const expiredTrust: AdviceRule = ({ ring: { keyspace } }) => {
  const command = `key trust --days ${trustLifeDaysMax}`;
  const text =
    `the root has expired: ring-builder ${command} creates the next one, ` +
    `which ring-builder push ${keyspace} also sends`;
  return { command, text };
};

const says =
  (text: string, command: (ring: string, version: number) => string): AdviceRule =>
  ({ ring: { keyspace, version } }) => ({ command: command(keyspace, version), text });

const unknown: AdviceRule = ({ ring, taken }) => {
  if (taken !== 'all') {
    const text =
      taken === undefined
        ? 'those servers did not receive this version'
        : 'this version was pushed, but those servers did not receive it or lost it';
    return { command: resumeCommand(ring), text };
  }
  const text =
    'those servers lost this version: check that the data directory is the right one, and that ' +
    'its disk is mounted. If it was emptied, peers send the ring within seconds, and its files ' +
    `refill; if they do not: ring-builder push ${ring.keyspace}`;
  return { command: `reconcile ${ring.keyspace}`, text };
};

/** Ordered from worst to mildest. The advice follows the worst code that a server returned. */
const table = new Map<ErrorCode, AdviceRule>([
  ['RING_FORK', fork],
  ['RING_FORK_SETTLED', lostFork],
  ['RING_OLDER', older],
  ['RING_FOREIGN', foreign],
  ['RING_AUDIT_FAILED', says('the version breaks a rule', (ring) => `verify ${ring}`)],
  ['RING_VERSION_JUMP', says('the version is far above theirs', (ring) => `verify ${ring}`)],
  ['SIGNATURES_MISSING', signatures],
  ['BRAKE', ({ ring }, [{ address }]) => largeVersion(ring, address)],
  ['RING_EPOCH_WRONG', trust],
  ['TRUST_FORK', trust],
  ['TRUST_OLDER', trust],
  ['TRUST_UNKNOWN', noTrust],
  ['TRUST_INVALID', trust],
  ['TRUST_EXPIRED', expiredTrust],
  ['BEACON_REFUSED', refusedBeacon],
  ['BEACON_EXPIRED', says('a new beacon allows drops again', (ring) => `beacon ${ring}`)],
  ['ACCESS_PENDING', pendingAccess],
  ['TOKEN_MISSING', token],
  ['TOKEN_REFUSED', token],
  ['PERMISSION_MISSING', token],
  ['ACCESS_OLDER', olderAccess],
  [
    'RING_FORMAT_UNKNOWN',
    says(
      'those servers run an older release: restart them with this one, on their data',
      (ring) => `rollout ${ring}`,
    ),
  ],
  ['PEER_UNPROVEN', ({ ring }, [failure]) => otherKey(ring, failure)],
  ['DISK_FULL', (context, failures) => fullDisk(context, failures, named(failures))],
  ['RING_UNKNOWN', unknown],
  ['PEER_FAILED', otherProgram],
  ['PEER_UNREACHABLE', absent],
]);

const other = says('the log of those servers has details', (ring) => `push ${ring} --keep-going`);

/** Whether waiting cannot help, because a safety rule refused. Clock errors are retryable. */
export function isFinal(code: ErrorCode): boolean {
  const { exit, retry } = errorCatalogue[code];
  return exit === 5 && retry === 'never';
}

/** Returns the entries that have the worst code of all. */
export function worstOf<One extends Pick<ServerFailure, 'code'>>(ones: readonly One[]): One[] {
  const codes = ones.map(({ code }) => rowOf(code));
  const worst = [...table.keys()].find((code) => codes.includes(code)) ?? codes[0];
  return ones.filter((_, index) => codes[index] === worst);
}

/** Returns advice on the worst failure, or null if there are none. */
export function adviceOn(
  context: AdviceContext,
  failures: readonly ServerFailure[],
): Advice | null {
  const [first, ...rest] = worstOf(failures);
  if (first === undefined) return null;
  return (table.get(rowOf(first.code)) ?? other)(context, [first, ...rest]);
}

/** Returns advice for a version without asking a server. `code`: what a server would answer. */
export function adviceOnCode(context: AdviceContext, code: ErrorCode): Advice {
  return (table.get(rowOf(code)) ?? other)(context, [{ address: '', devices: [], code }]);
}

/** Maps other peer errors, such as a late or malformed answer, to PEER_UNREACHABLE. */
export function rowOf(code: ErrorCode): ErrorCode {
  return isPeerCode(code) && !table.has(code) ? 'PEER_UNREACHABLE' : code;
}

export function named(failures: readonly Pick<ServerFailure, 'address'>[]): string {
  const more = failures.length - ADDRESSES_NAMED_MAX;
  const shown = failures.slice(0, ADDRESSES_NAMED_MAX).map(({ address }) => address);
  return `${shown.join(' ')}${more > 0 ? ` and ${more} more` : ''}`;
}
