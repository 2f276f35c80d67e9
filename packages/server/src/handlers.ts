// What this server answers on the wire, by method.
import { messageNeeds, type NeedsOf } from '@ringwright/access/message-needs';
import { role } from '@ringwright/access/need';
import { assert, must } from '@ringwright/base/assert';
import type { MaybePromise } from '@ringwright/base/maybe-promise';
import { auditRead } from '@ringwright/wire/audit';
import type { Answering, Caller, CallHandler } from '@ringwright/wire/call-channel';
import { coordinateGet, coordinatePut } from '@ringwright/wire/coordination';
import {
  copyChecksum,
  copyClose,
  copyGoOn,
  copyOpen,
  copyRate,
  copyRead,
  copyStart,
} from '@ringwright/wire/copies';
import { filesLook } from '@ringwright/wire/files';
import { floorPromise, floorRaise } from '@ringwright/wire/floors';
import { hello } from '@ringwright/wire/hello';
import { coordinateScan, keysAfter, pageRead } from '@ringwright/wire/listing';
import type { AnswerOf, MessageKind, RequestOf } from '@ringwright/wire/message';
import { messageKinds } from '@ringwright/wire/messages';
import { moveControl, moveReceipts, movesComplete } from '@ringwright/wire/moves';
import {
  recordPrepare,
  recordRead,
  recordStamp,
  recordsWrite,
  recordWrite,
} from '@ringwright/wire/records';
import { digests, offer, promises, push, rowsSince, tail } from '@ringwright/wire/replication';
import { ringChunk, ringDelta, ringFetch, ringOffer, ringSettle } from '@ringwright/wire/rings';
import { confirmDrops, trashList, trashRestore } from '@ringwright/wire/trash';
import { trustFetch, trustOffer } from '@ringwright/wire/trust';
import type { z } from 'zod';
import type { Guard } from './access/guard.ts';
import type { AuditLog } from './audit/audit-log.ts';
import { auditedWords, isAudited } from './audit/audit-messages.ts';
import {
  answerGet,
  answerPut,
  answerScanPage,
  type ClientPorts,
} from './coordinate/client-answers.ts';
import type { AdaptiveThrottle } from './copies/adaptive-throttle.ts';
import type { CopySource } from './copies/copy-answers.ts';
import { answerHello, type IntroducePorts } from './introduce.ts';
import {
  answerMoveControl,
  answerMoveReceipts,
  answerMovesComplete,
  type MovePorts,
} from './moves/move-answers.ts';
import {
  answerConfirmDrops,
  answerTrashList,
  answerTrashRestore,
  type TrashPorts,
} from './moves/trash-answers.ts';
import type { ProvenPeers } from './peers/proven-peers.ts';
import { answerFilesLook } from './repair/file-answers.ts';
import type { Scrubber } from './repair/scrubber.ts';
import { answerFloorPromise, answerFloorRaise } from './replica/floor-answers.ts';
import { answerKeys, answerPage } from './replica/list-answers.ts';
import { answerPrepare } from './replica/prepare-answer.ts';
import { answerRead, answerStamp, answerWrite, type ReplicaPorts } from './replica/replica.ts';
import {
  answerDigests,
  answerOffer,
  answerPromises,
  answerPush,
  answerRows,
  answerTail,
} from './replica/replication-answers.ts';
import { answerWrites } from './replica/write-answers.ts';
import type { MadeWith, RingRequests } from './rings/ring-requests.ts';
import type { TrustExchange } from './trust/trust-exchange.ts';

interface HandlerPorts {
  readonly audit: Pick<AuditLog, 'note' | 'read'>;
  readonly proven: Pick<ProvenPeers, 'requireMember'>;
  readonly guard: Guard;
  readonly replica: ReplicaPorts;
  readonly introduce: IntroducePorts;
  readonly copies: CopySource;
  readonly throttle: AdaptiveThrottle;
  readonly trash: TrashPorts;
  readonly trust: TrustExchange;
  readonly clients: ClientPorts;
  readonly moves: MovePorts;
  readonly scrubber: Pick<Scrubber, 'look' | 'damaged'>;
}

function answerCopyRate(
  throttle: AdaptiveThrottle,
  { bytesPerSecond, loan }: RequestOf<typeof copyRate>,
): AnswerOf<typeof copyRate> {
  if (loan === null) throttle.allow(bytesPerSecond);
  else throttle.lend(loan, bytesPerSecond);
  const { allowed, inForce } = throttle.status();
  return { allowed, inForce };
}

/** Fills `handlers`, which the device's own caller shares with every connection. */
export function fillHandlers(
  handlers: Map<string, CallHandler>,
  { proven, replica, copies, throttle, trash, trust, clients, moves, ...ports }: HandlerPorts,
): void {
  const timed = throttle.timed.bind(throttle);
  const answer = <Request extends z.ZodType, Answer extends z.ZodType>(
    kind: MessageKind<Request, Answer>,
    run: (request: z.infer<Request>, caller: Caller) => MaybePromise<z.infer<Answer>>,
    options: Pick<CallHandler, 'givesAway'> = {},
  ): void => {
    const guarded = guardedAnswer(ports, kind.method, run as Answering);
    handlers.set(kind.method, { request: kind.request, answer: guarded, ...options });
  };
  const ofDevices = <Request extends z.ZodType<MadeWith>, Answer extends z.ZodType>(
    kind: MessageKind<Request, Answer>,
    run: (request: z.infer<Request>, caller: Caller) => MaybePromise<z.infer<Answer>>,
    isOpenTo: (caller: Caller) => boolean = () => false,
  ): void => {
    const requireCaller = (caller: Caller, request: MadeWith): void => {
      if (!isOpenTo(caller)) proven.requireMember(caller, request);
    };
    answer(kind, betweenDevices(clients.coordinator.requests, requireCaller, run));
  };
  const toOperators = (caller: Caller): boolean => ports.guard.allows(caller, role('operator'));
  answer(auditRead, async ({ before, limit }) => ({
    lines: await ports.audit.read(before, limit),
  }));
  answer(hello, (request, caller) => answerHello(ports.introduce, request, caller));
  answer(ringOffer, (request, caller) => replica.exchange.offer(request, caller));
  answer(ringDelta, (request, caller) => replica.exchange.delta(request, caller));
  answer(ringChunk, (request, caller) => replica.exchange.chunk(request, caller));
  answer(ringFetch, (request) => replica.exchange.fetch(request));
  answer(ringSettle, (request) => replica.exchange.settle(request));
  answer(trustOffer, (request) => trust.offer(request));
  answer(trustFetch, () => trust.fetch());
  ofDevices(recordWrite, (request, caller) => timed(answerWrite(replica, request, caller)));
  ofDevices(recordsWrite, (request, caller) => timed(answerWrites(replica, request, caller)));
  ofDevices(recordRead, (request, caller) => timed(answerRead(replica, request, caller)));
  ofDevices(recordStamp, (request, caller) => timed(answerStamp(replica, request, caller)));
  ofDevices(recordPrepare, (request, caller) => timed(answerPrepare(replica, request, caller)));
  ofDevices(digests, (request, caller) => answerDigests(replica, request, caller), toOperators);
  ofDevices(tail, (request, caller) => answerTail(replica, request, caller));
  ofDevices(offer, (request, caller) => answerOffer(replica, request, caller));
  ofDevices(push, (request, caller) => answerPush(replica, request, caller));
  ofDevices(rowsSince, (request, caller) => answerRows(replica, request, caller));
  ofDevices(promises, (request, caller) => answerPromises(replica, request, caller));
  ofDevices(floorPromise, (request, caller) => answerFloorPromise(replica, request, caller));
  ofDevices(floorRaise, (request, caller) => answerFloorRaise(replica, request, caller));
  ofDevices(copyOpen, (request, caller) => copies.open(request, caller));
  answer(copyRead, (request) => copies.read(request), { givesAway: true });
  answer(copyClose, (request) => copies.release(request));
  ofDevices(copyStart, (request, caller) => copies.start(request, caller));
  answer(copyGoOn, (request) => copies.goOn(request));
  answer(copyChecksum, (request) => copies.checksum(request));
  answer(copyRate, (request) => answerCopyRate(throttle, request));
  answer(trashList, (request) => answerTrashList(trash, request));
  answer(trashRestore, (request) => answerTrashRestore(trash, request));
  answer(confirmDrops, (request) => answerConfirmDrops(trash, request));
  ofDevices(keysAfter, (request, caller) => answerKeys(replica, request, caller));
  ofDevices(pageRead, (request, caller) => answerPage(replica, request, caller));
  answer(coordinateScan, (request) => answerScanPage(clients, request));
  answer(coordinatePut, (request) => answerPut(clients, request));
  answer(coordinateGet, (request) => answerGet(clients, request));
  answer(moveControl, (request) => answerMoveControl(moves, request));
  answer(moveReceipts, (request) => answerMoveReceipts(moves, request));
  answer(movesComplete, (request) => answerMovesComplete(moves, request));
  answer(filesLook, (request) => answerFilesLook(ports.scrubber, request));
  assertComplete(handlers);
}

function assertComplete(handlers: ReadonlyMap<string, CallHandler>): void {
  for (const { method } of Object.values(messageKinds)) {
    assert(handlers.has(method), `'${method}' is answered`);
  }
}

/** What only devices of the ring may ask of each other; counted as long as it is under way. */
function betweenDevices<Request extends MadeWith, Answer>(
  requests: RingRequests,
  requireCaller: (caller: Caller, request: MadeWith) => void,
  run: (request: Request, caller: Caller) => MaybePromise<Answer>,
): (request: Request, caller: Caller) => MaybePromise<Answer> {
  return (request, caller) => {
    requireCaller(caller, request);
    const answered = run(request, caller);
    if (!(answered instanceof Promise)) return answered;
    requests.begin('answered', request);
    const end = (): void => requests.end('answered', request);
    answered.then(end, end);
    return answered;
  };
}
/** The channel passes only requests that have passed the schema of their kind. */
function guardedAnswer(
  { guard, audit }: Pick<HandlerPorts, 'guard' | 'audit'>,
  method: string,
  answer: Answering,
): Answering {
  const needs = must(needsByMethod.get(method), `no line of '${method}' in message-needs.ts`);
  const isNoted = isAudited(method);
  return (request, caller) => {
    guard.requireOf(caller, needs, request);
    if (isNoted) {
      const who = guard.nameOf(caller);
      audit.note({ kind: method, who, what: auditedWords(request) });
    }
    return answer(request, caller);
  };
}

const needsByMethod: ReadonlyMap<string, NeedsOf<unknown>> = new Map(
  Object.entries(messageKinds).map(([name, { method }]) => {
    // Each is of the requests of its own kind, and is given no others.
    return [method, messageNeeds[name as keyof typeof messageKinds] as NeedsOf<unknown>];
  }),
);
