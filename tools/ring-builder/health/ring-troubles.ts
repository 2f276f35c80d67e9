// Judges a ring by the answers of its servers: how many have it, and what is wrong. Pure.
import { must } from '@ringwright/base/assert';
import { counted } from '@ringwright/base/counted';
import { statusByDevice } from '../moves/ask-moves.ts';
import { type MoveRow, moveRows, type StatusByDevice } from '../moves/move-rows.ts';
import { stuckAdvice } from '../moves/stuck-moves.ts';
import { unreachableImpact } from '../plan/unreachable-impact.ts';
import { adviceOn, adviceOnCode } from '../servers/advice.ts';
import type { StatusByAddress } from '../servers/ask-servers.ts';
import { type OlderServer, olderServers } from '../servers/older-servers.ts';
import { ringIn } from '../servers/server-status.ts';
import { signersLine } from '../versions/signing.ts';
import { clockTroubles } from './clock-troubles.ts';
import type { ReferenceHead } from './reference-head.ts';
import type { ServerReport } from './server-report.ts';
import { serverReports } from './server-reports.ts';
import { serverTroubles } from './server-troubles.ts';
import { byWeight, type Trouble } from './trouble.ts';

export interface JudgedRing {
  /** Whether any server was sent the ring or has it. Otherwise lacking it is no trouble. */
  readonly given: boolean;
  /** Required servers; those of them that answered; those with the head active. */
  readonly servers: number;
  readonly reached: number;
  readonly current: number;
  readonly inFlight: number;
  readonly paused: number;
  /** Servers of an older release than others, which is no trouble. */
  readonly older: readonly OlderServer[];
  /** The command that must come before a push, because signatures are missing; null: none. */
  readonly first: string | null;
  /** The worst first. */
  readonly troubles: readonly Trouble[];
}

export function troublesOfRing(
  head: ReferenceHead,
  answers: StatusByAddress,
  nowMs: number,
): JudgedRing {
  const { ring, id } = head;
  const targets = head.targets.filter(({ required }) => required);
  const reports = serverReports(head, targets, answers);
  // Includes removed servers if they were asked, because they may be sources of moves.
  const statuses = statusByDevice(
    head.targets,
    head.targets.map(({ address }) => {
      const status = answers.get(address);
      return status && ringIn(status, { address, ring: ring.keyspace });
    }),
  );
  const rows = moveRows(ring, statuses);
  // A move to an unreachable server is no trouble of its own.
  const reachable = rows.filter(({ to }) => to !== null && !(statuses.get(to) instanceof Error));
  const addresses = targets.map(({ address }) => address);
  const troubles = [
    ...withQuorums(head, reports, withAdvice(head, reports, nowMs)),
    ...clockTroubles(ring.keyspace, addresses, answers),
    ...moveTroubles(head, { moves: reachable, statuses }, nowMs),
  ];
  const unsigned = unsignedTrouble(head);
  const given = head.pushed || reports.some((one) => !(one.ringStatus instanceof Error));
  return {
    given,
    servers: reports.length,
    reached: reports.length - troubles.filter(({ kind }) => kind === 'down').length,
    current: reports.filter((one) => !(one.ringStatus instanceof Error) && one.ringStatus.id === id)
      .length,
    inFlight: ring.moves.length,
    paused: rows.filter(({ stage }) => stage === 'paused').length,
    older: olderServers(addresses, answers),
    first: unsigned?.command ?? null,
    troubles: byWeight([
      ...faultTroubles(head),
      ...(given ? accessTroubles(head) : []),
      ...(given ? signedFirst(head, troubles, unsigned) : []),
    ]),
  };
}

/**
 * Whether a server has a ring of another history: the head's version or a lower one, with another
 * id; or a higher one, and the id where its fork begins.
 */
function hasOther(head: ReferenceHead, status: ServerReport['ringStatus']): boolean {
  if (status instanceof Error) return false;
  if (status.version === head.ring.version) return status.id !== head.id;
  const { fork } = status;
  const isAhead = status.version > head.ring.version;
  return head.isOther(isAhead && fork?.settled === null ? fork : status);
}

/** Returns the key that a server proved, if the ring names another one. */
function provenKey(status: ServerReport['status']): { readonly key?: string } {
  const key = status instanceof Error ? status.details['got'] : undefined;
  return typeof key === 'string' ? { key } : {};
}

/**
 * Gives servers with the same trouble one command and one sentence with all their names. For
 * PEER_UNPROVEN the advice is per server, because it names the key.
 */
function withAdvice(
  head: ReferenceHead,
  servers: readonly ServerReport[],
  nowMs: number,
): Trouble[] {
  const troubles = servers.flatMap((one) =>
    serverTroubles(head, one, nowMs).map((trouble) => {
      const key = provenKey(one.status);
      return { trouble, devices: one.devices, isOther: hasOther(head, one.ringStatus), ...key };
    }),
  );
  return troubles.map(({ trouble }) => {
    const troubleCode = trouble.code;
    if (troubleCode === undefined) return trouble;
    const isOwn = troubleCode === 'PEER_UNPROVEN';
    const same = troubles.flatMap(({ trouble: { address, code }, ...server }) =>
      address !== null && code === troubleCode && (!isOwn || address === trouble.address)
        ? [{ address, ...server, code: troubleCode }]
        : [],
    );
    const advice = must(adviceOn(head, same), 'there is one at least');
    return { ...trouble, command: advice.command, hint: advice.text };
  });
}

/**
 * Adds what unreachable servers mean for requests. A server that only this machine cannot reach
 * does not count.
 */
function withQuorums(
  { ring }: ReferenceHead,
  servers: readonly ServerReport[],
  troubles: readonly Trouble[],
): Trouble[] {
  const isAway = ({ kind, code }: Trouble): boolean => kind === 'down' && code !== undefined;
  const away = new Set(troubles.filter(isAway).map(({ address }) => address));
  if (away.size === 0) return [...troubles];
  const gone = servers.flatMap(({ address, devices }) => (away.has(address) ? devices : []));
  const { underQuorum } = unreachableImpact(ring, new Set(gone));
  if (underQuorum === 0) return [...troubles];
  const all = counted(underQuorum, 'partition has', 'partitions have');
  const text = `${all} no quorum until servers that are down return`;
  return troubles.map((one) => (isAway(one) ? { ...one, why: `${one.why}; ${text}` } : one));
}

/** A running rollout commits its next version within seconds after the last copy is complete. */
const stalledAfterMs = 5 * 60_000;

const running = new Set<MoveRow['stage']>(['reserving', 'copying', 'verifying', 'catching-up']);

/** Returns one trouble at most; `moves list` shows which moves. */
function moveTroubles(
  { ring, removed = [], committedMs }: ReferenceHead,
  { moves, statuses }: { readonly moves: readonly MoveRow[]; readonly statuses: StatusByDevice },
  nowMs: number,
): Trouble[] {
  const { keyspace } = ring;
  const stuck = stuckAdvice({ ring, removed }, moves, statuses);
  const stalled = (why: string, command: string): Trouble[] => [
    {
      ...{ ring: keyspace, address: null, kind: 'stalled', why },
      command: stuck?.next ?? command,
      ...(stuck !== null && { hint: `stalled: ${stuck.text}` }),
    },
  ];
  const failed = moves.filter(({ stage }) => stage === 'failed');
  const [first] = failed;
  if (first !== undefined) {
    const all = counted(failed.length, 'move');
    const why = `${all} failed; partition ${first.partition}: ${first.reason}`;
    return stalled(why, `moves ${keyspace} list`);
  }
  if (stuck !== null) {
    return stalled(
      'moves are waiting for records whose holders do not answer',
      `moves ${keyspace} list`,
    );
  }
  const open = moves.filter(({ stage }) => stage !== 'paused');
  const isOld = nowMs - committedMs > stalledAfterMs;
  if (open.length === 0 || !isOld || open.some(({ stage }) => running.has(stage))) return [];
  const why = open.find(({ reason }) => reason !== '');
  const reasonText = why === undefined ? '' : `; partition ${why.partition}: ${why.reason}`;
  const since = `${new Date(committedMs).toISOString().slice(0, 19)}Z`;
  return stalled(
    `${counted(open.length, 'move')}, none copying, no new version since ${since}${reasonText}`,
    `rollout ${keyspace}`,
  );
}

function faultTroubles({ ring: { keyspace }, fault }: ReferenceHead): Trouble[] {
  if (fault === null) return [];
  const { file, error } = fault;
  const why = `${file}: ${error.code}: ${error.message}`;
  const [command, source] =
    file === 'trust.json'
      ? [`verify ${keyspace}`, 'the file that servers are started with (--trust)']
      : ['access list', 'trust/access.json in the data directory of a server'];
  const hint = `unreadable: restore ${file} from git, a copy, or ${source}`;
  return [{ ring: keyspace, address: null, kind: 'unreadable', why, command, hint }];
}

/** Puts signing first: while the head lacks signatures, it cannot be pushed to servers. */
function signedFirst(
  { ring: { keyspace } }: ReferenceHead,
  troubles: readonly Trouble[],
  unsigned: Trouble | null,
): readonly Trouble[] {
  if (unsigned === null) return troubles;
  const { command } = unsigned;
  const refused = new Set([`push ${keyspace}`, `rollout ${keyspace}`]);
  const others = troubles.map((one) => (refused.has(one.command) ? { ...one, command } : one));
  return [unsigned, ...others];
}

/** Returns null if the head has the signatures it needs. */
function unsignedTrouble(head: ReferenceHead): Trouble | null {
  const { ring, signatures } = head;
  const { keyspace, version } = ring;
  if (signatures === null || signatures.missing === 0) return null;
  const { signed } = signatures;
  const { command, text } = adviceOnCode(head, signed ? 'BRAKE' : 'SIGNATURES_MISSING');
  const lack = signed
    ? signersLine(signatures)
    : 'not signed under the root of trust of this folder';
  return {
    ...{ ring: keyspace, address: null, kind: 'unsigned', command },
    why: `version ${version} is ${lack}`,
    hint: `unsigned: ${signed ? `ring-builder ${command} adds a valid signature` : text}`,
  };
}

/**
 * Servers keep the document that they have, but one that starts empty would not accept this one.
 */
function accessTroubles({ ring: { keyspace }, access }: ReferenceHead): Trouble[] {
  if (access === null || access.missing === 0) return [];
  const missingText = counted(access.missing, 'signature');
  const why = `access document ${access.version} lacks ${missingText} of trusted keys`;
  const hint = 'unsigned: ring-builder access sign adds a signature and sends the document';
  return [{ ring: keyspace, address: null, kind: 'unsigned', why, command: 'access sign', hint }];
}
