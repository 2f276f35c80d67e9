// This device's part in a round: it promises, and returns the record it holds (propose.ts asks).
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import type { recordPrepare } from '@ringwright/wire/records';
import { checkClock } from '../clocks/check-clock.ts';
import {
  filling,
  notResponsible,
  passFence,
  type ReplicaAnswer,
  type ReplicaPorts,
  recordHere,
  requireOwnPartition,
  roundName,
} from './replica.ts';

/**
 * Promises and records go through the log in one order. So what is read after the promise is
 * durable is everything below it, and nothing more will come below it.
 */
export const answerPrepare: ReplicaAnswer<typeof recordPrepare> = async (
  ports,
  request,
  caller,
) => {
  const { active, duty } = await passFence(ports, request, caller);
  if (duty.kind === 'UNLOAD') throw notResponsible(active, request.partition);
  requireOwnPartition(active, request, caller);
  checkClock(ports.clock, request);
  const givesTurns = active.ring.table[0]?.[request.partition] === active.self;
  const leave = givesTurns
    ? await ports.rounds.enter(roundName(request), request)
    : () => undefined;
  let isPromised = false;
  try {
    const answer = await promise(ports, request, duty.kind === 'SERVE');
    isPromised = answer.kind === 'given';
    return answer;
  } finally {
    // Otherwise the turn ends with the record that this round writes.
    if (!isPromised) leave();
  }
};

async function promise(
  ports: ReplicaPorts,
  request: RequestOf<typeof recordPrepare>,
  serves: boolean,
): Promise<AnswerOf<typeof recordPrepare>> {
  const { keyspace, partition, key, ms, tie } = request;
  const write = { keyspace, partition, key, value: null, ms, tie, isPreparedBallot: true };
  const writing = ports.store.write([write]);
  const [outcome] = await ports.inFlight.track(keyspace, partition, writing);
  if (outcome === undefined || outcome.kind === 'absent') throw filling(partition);
  if (outcome.kind === 'stale' || outcome.kind === 'promised') {
    return { kind: 'refused', ms: outcome.ms, tie: outcome.tie };
  }
  if (!serves) return { kind: 'given', serves: false, record: null };
  return ports.longReads.run(() => {
    if (ports.store.marks(keyspace, partition)?.state !== 'ready') throw filling(partition);
    return { kind: 'given', serves: true, record: recordHere(ports, request) };
  });
}
