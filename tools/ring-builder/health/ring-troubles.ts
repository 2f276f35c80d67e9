// A ring judged by what its servers answered: how many have it, and what is wrong. Pure.
import { must } from '@ringwright/base/assert';
import type { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { formatAddress } from '@ringwright/base/server-address';
import type { Approval } from '@ringwright/repository/approval';
import type { VersionId } from '@ringwright/ring/audit/ring-candidate';
import type { Ring } from '@ringwright/ring/ring';
import { saidBy } from '../moves/ask-moves.ts';
import { type MoveRow, moveRows, type Said } from '../moves/move-rows.ts';
import { stuckAdvice } from '../moves/stuck-moves.ts';
import { awayHolders } from '../plan/away-holders.ts';
import { adviceOn, adviceOnCode, type Situation } from '../servers/advice.ts';
import type { Answers } from '../servers/ask-servers.ts';
import type { Target } from '../servers/ring-targets.ts';
import { ringIn, type ServerStatus } from '../servers/server-status.ts';
import { type AccessStanding, signersLine } from '../versions/signing.ts';
import { clockTroubles } from './clock-troubles.ts';
import { type AskedServer, type Demands, knowsPeers, serverTroubles } from './server-troubles.ts';
import { byWeight, type Trouble } from './trouble.ts';

/** What is judged of a head: rings of millions of partitions are not kept for it. */
export interface JudgedHead extends Situation {
  readonly ring: Situation['ring'] & Pick<Ring, 'partitions'>;
  readonly id: string;
  /** Those whose devices were all removed, and have nothing any more, may be gone. */
  readonly targets: readonly Target[];
  /** Whether a version that a server has is of another history than the head. */
  readonly isOther: (said: VersionId) => boolean;
  /** Null: it is unsigned. */
  readonly epoch: number | null;
  /** Of the folder's trust; null: there is none. */
  readonly root: { readonly cluster: string; readonly version: number } | null;
  readonly access: AccessStanding | null;
  /** Which document of the folder tells nothing, and why; null: both do, or are not there. */
  readonly fault: DocumentFault | null;
  /** Of the head under that trust; null: it tells nothing. */
  readonly signatures: Approval | null;
  /** Unix ms at which it was committed. */
  readonly committedMs: number;
}

export interface DocumentFault {
  readonly file: 'trust.json' | 'access.json';
  readonly error: CodedError;
}

export interface JudgedRing {
  /** Some server was given the ring, or has it; else none can be blamed for being without it. */
  readonly given: boolean;
  /** Servers that count, those of them that answered, and those that have the head active. */
  readonly servers: number;
  readonly reached: number;
  readonly current: number;
  readonly inFlight: number;
  readonly paused: number;
  /** What comes before a push: somebody has to sign. Null: nothing does. */
  readonly first: string | null;
  /** The worst first. */
  readonly troubles: readonly Trouble[];
}

export function troublesOfRing(head: JudgedHead, answers: Answers, nowMs: number): JudgedRing {
  const { ring, id } = head;
  const targets = head.targets.filter(({ required }) => required);
  const asked = askedServers(head, targets, answers);
  // Of removed servers too, as far as they were asked: moves may come from there.
  const said = saidBy(
    head.targets,
    head.targets.map(({ address }) => {
      const status = answers.get(address);
      return status && ringIn(status, { address, ring: ring.keyspace });
    }),
  );
  const rows = moveRows(ring, said);
  // A move to a server that is down is no trouble of its own.
  const heard = rows.filter(({ to }) => to !== null && !(said.get(to) instanceof Error));
  const addresses = targets.map(({ address }) => address);
  const troubles = [
    ...withQuorums(head, asked, withAdvice(head, asked, nowMs)),
    ...clockTroubles(ring.keyspace, addresses, answers),
    ...moveTroubles(head, { moves: heard, said }, nowMs),
  ];
  const unsigned = unsignedTrouble(head);
  const given = head.pushed || asked.some((one) => !(one.said instanceof Error));
  return {
    given,
    servers: asked.length,
    reached: asked.length - troubles.filter(({ kind }) => kind === 'down').length,
    current: asked.filter((one) => !(one.said instanceof Error) && one.said.id === id).length,
    inFlight: ring.moves.length,
    paused: rows.filter(({ stage }) => stage === 'paused').length,
    first: unsigned?.command ?? null,
    troubles: byWeight([
      ...faultTroubles(head),
      ...(given ? accessTroubles(head) : []),
      ...(given ? signedFirst(head, troubles, unsigned) : []),
    ]),
  };
}

function faultTroubles({ ring: { keyspace }, fault }: JudgedHead): Trouble[] {
  if (fault === null) return [];
  const { file, error } = fault;
  const why = `${file}: ${error.code}: ${error.message}`;
  const [at, where] =
    file === 'trust.json'
      ? [`verify ${keyspace}`, 'what servers are started with (--trust)']
      : ['access list', 'trust/access.json in the data directory of a server'];
  const hint = `unreadable: get ${file} back from git, a copy, or ${where}`;
  return [{ ring: keyspace, address: null, kind: 'unreadable', why, command: at, hint }];
}

/** As long as the head lacks signatures, servers are not given it: they have to come first. */
function signedFirst(
  { ring: { keyspace } }: JudgedHead,
  troubles: readonly Trouble[],
  unsigned: Trouble | null,
): readonly Trouble[] {
  if (unsigned === null) return troubles;
  const { command } = unsigned;
  const refused = new Set([`push ${keyspace}`, `rollout ${keyspace}`]);
  const others = troubles.map((one) => (refused.has(one.command) ? { ...one, command } : one));
  return [unsigned, ...others];
}

/** Null: its head has the signatures it needs. */
function unsignedTrouble(head: JudgedHead): Trouble | null {
  const { ring, signatures } = head;
  const { keyspace, version } = ring;
  if (signatures === null || signatures.missing === 0) return null;
  const { signed } = signatures;
  const { command, text } = adviceOnCode(head, signed ? 'BRAKE' : 'SIGNATURES_MISSING');
  const lack = signed ? signersLine(signatures) : 'not signed, as this folder demands';
  return {
    ...{ ring: keyspace, address: null, kind: 'unsigned', command },
    why: `version ${version} is ${lack}`,
    hint: `unsigned: ${signed ? `ring-builder ${command} adds a signature that counts` : text}`,
  };
}

/** Servers go on with the one they have; one that begins anew would take this from nobody. */
function accessTroubles({ ring: { keyspace }, access }: JudgedHead): Trouble[] {
  if (access === null || access.missing === 0) return [];
  const more = counted(access.missing, 'signature');
  const why = `access document ${access.version} lacks ${more} of keys that count`;
  const hint = 'unsigned: ring-builder access sign adds a signature, and sends the document';
  return [{ ring: keyspace, address: null, kind: 'unsigned', why, command: 'access sign', hint }];
}

function askedServers(
  { ring }: JudgedHead,
  targets: readonly Target[],
  answers: Answers,
): AskedServer[] {
  const requestAddresses = byReplicationAddress(ring);
  const heard = targets.map(({ address, devices }) => {
    const status = must(answers.get(address), `${address} was asked`);
    const named = status instanceof Error ? [] : status.peers;
    const peers = named.map((peer) => {
      return { ...peer, address: requestAddresses.get(peer.address) ?? peer.address };
    });
    return { address, devices, status, peers };
  });
  // A server without the ring has nobody to connect to yet.
  const grown = heard.filter(
    ({ status }) =>
      !(status instanceof Error) &&
      knowsPeers(status) &&
      status.rings.some((one) => one.ring === ring.keyspace),
  );
  const others = new Set(grown.map(({ address }) => address));
  const seen = countSeen(heard);
  const demands = demandsOf(heard.flatMap(({ status }) => (status instanceof Error ? [] : status)));
  return heard.map((one): AskedServer => {
    const { address, status } = one;
    const said = ringIn(status, { address, ring: ring.keyspace });
    return { ...one, said, others, demands, seenBy: seen.get(address) ?? 0 };
  });
}

function demandsOf(statuses: readonly ServerStatus[]): Demands {
  const signed = statuses.filter(({ trust }) => Array.isArray(trust));
  return {
    trust: signed.length > 0,
    tls: statuses.some(({ demandsTls }) => demandsTls === true),
    access: signed.some(({ insecure }) => insecure !== true),
  };
}

/** Servers name each other by either address: the one of requests, where there is another. */
function byReplicationAddress({ devices }: Pick<Ring, 'devices'>): ReadonlyMap<string, string> {
  return new Map(
    devices.flatMap((device) =>
      device?.replication === undefined
        ? []
        : [[formatAddress(device.replication), formatAddress(device)] as const],
    ),
  );
}

/** By address: how many servers have a connection to it. */
function countSeen(
  servers: readonly { readonly peers: ServerStatus['peers'] }[],
): ReadonlyMap<string, number> {
  const seen = new Map<string, number>();
  for (const { peers } of servers) {
    const connected = peers.filter((peer) => peer.connected).map(({ address }) => address);
    for (const address of new Set(connected)) seen.set(address, (seen.get(address) ?? 0) + 1);
  }
  return seen;
}

/** Whether a server has a ring of another history: the head's version, or one below, made anew. */
function hasOther(head: JudgedHead, said: AskedServer['said']): boolean {
  if (said instanceof Error) return false;
  return said.version === head.ring.version ? said.id !== head.id : head.isOther(said);
}

/** Of a server that proved another one than the ring names. */
function provenKey(status: AskedServer['status']): { readonly key?: string } {
  const got = status instanceof Error ? status.details['got'] : undefined;
  return typeof got === 'string' ? { key: got } : {};
}

/**
 * Servers with the same plight are one plight: one command, one sentence with all their names. But
 * whose key it is that a server proves, is told of each.
 */
function withAdvice(head: JudgedHead, servers: readonly AskedServer[], nowMs: number): Trouble[] {
  const troubles = servers.flatMap((one) =>
    serverTroubles(head, one, nowMs).map((trouble) => {
      const key = provenKey(one.status);
      return { trouble, devices: one.devices, isOther: hasOther(head, one.said), ...key };
    }),
  );
  return troubles.map(({ trouble }) => {
    const wanted = trouble.code;
    if (wanted === undefined) return trouble;
    const isOwn = wanted === 'PEER_UNPROVEN';
    const same = troubles.flatMap(({ trouble: { address, code }, ...server }) =>
      address !== null && code === wanted && (!isOwn || address === trouble.address)
        ? [{ address, ...server, code: wanted }]
        : [],
    );
    const advice = must(adviceOn(head, same), 'there is one at least');
    return { ...trouble, command: advice.command, hint: advice.text };
  });
}

/** What servers that are down mean for the requests: one that only this machine misses is none. */
function withQuorums(
  { ring }: JudgedHead,
  servers: readonly AskedServer[],
  troubles: readonly Trouble[],
): Trouble[] {
  const isAway = ({ kind, code }: Trouble): boolean => kind === 'down' && code !== undefined;
  const away = new Set(troubles.filter(isAway).map(({ address }) => address));
  if (away.size === 0) return [...troubles];
  const gone = servers.flatMap(({ address, devices }) => (away.has(address) ? devices : []));
  const { underQuorum } = awayHolders(ring, new Set(gone));
  if (underQuorum === 0) return [...troubles];
  const all = counted(underQuorum, 'partition has', 'partitions have');
  const text = `${all} no quorum without what is down`;
  return troubles.map((one) => (isAway(one) ? { ...one, why: `${one.why}; ${text}` } : one));
}

/** A rollout that runs commits its next version within seconds after the last copy is there. */
const stalledAfterMs = 5 * 60_000;

const running = new Set<MoveRow['stage']>(['reserving', 'copying', 'verifying', 'catching-up']);

/** One at most: which moves, `moves list` tells. */
function moveTroubles(
  { ring, removed = [], committedMs }: JudgedHead,
  { moves, said }: { readonly moves: readonly MoveRow[]; readonly said: Said },
  nowMs: number,
): Trouble[] {
  const { keyspace } = ring;
  const stuck = stuckAdvice({ ring, removed }, moves, said);
  const stalled = (why: string, command: string): Trouble[] => [
    {
      ...{ ring: keyspace, address: null, kind: 'stalled', why },
      command: stuck?.isForGood === true ? stuck.command : command,
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
    return stalled('moves wait for records whose holders do not answer', `moves ${keyspace} list`);
  }
  const open = moves.filter(({ stage }) => stage !== 'paused');
  const isOld = nowMs - committedMs > stalledAfterMs;
  if (open.length === 0 || !isOld || open.some(({ stage }) => running.has(stage))) return [];
  const why = open.find(({ reason }) => reason !== '');
  const told = why === undefined ? '' : `; partition ${why.partition}: ${why.reason}`;
  const since = `${new Date(committedMs).toISOString().slice(0, 19)}Z`;
  return stalled(
    `${counted(open.length, 'move')}, none copies, no version since ${since}${told}`,
    `rollout ${keyspace}`,
  );
}
