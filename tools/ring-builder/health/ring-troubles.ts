// A ring judged by what its servers answered: how many have it, and what is wrong. Pure.
import { must } from '@ringwright/base/assert';
import { counted } from '@ringwright/base/counted';
import { saidBy } from '../moves/ask-moves.ts';
import { type MoveRow, moveRows, type Said } from '../moves/move-rows.ts';
import { stuckAdvice } from '../moves/stuck-moves.ts';
import { awayHolders } from '../plan/away-holders.ts';
import { adviceOn } from '../servers/advice.ts';
import type { Answers } from '../servers/ask-servers.ts';
import { type OlderServer, olderServers } from '../servers/older-servers.ts';
import { ringIn } from '../servers/server-status.ts';
import { askedServers } from './asked-servers.ts';
import { clockTroubles } from './clock-troubles.ts';
import {
  accessTroubles,
  faultTroubles,
  signedFirst,
  unsignedTrouble,
} from './document-troubles.ts';
import type { JudgedHead } from './judged-head.ts';
import { type AskedServer, serverTroubles } from './server-troubles.ts';
import { byWeight, type Trouble } from './trouble.ts';

export interface JudgedRing {
  /** Some server was given the ring, or has it; else none can be blamed for being without it. */
  readonly given: boolean;
  /** Servers that count, those of them that answered, and those that have the head active. */
  readonly servers: number;
  readonly reached: number;
  readonly current: number;
  readonly inFlight: number;
  readonly paused: number;
  /** Of an older release than others: no trouble. */
  readonly older: readonly OlderServer[];
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
    older: olderServers(addresses, answers),
    first: unsigned?.command ?? null,
    troubles: byWeight([
      ...faultTroubles(head),
      ...(given ? accessTroubles(head) : []),
      ...(given ? signedFirst(head, troubles, unsigned) : []),
    ]),
  };
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
