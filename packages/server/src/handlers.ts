// The handler of each message that this server answers on the wire, by method.
import { messageNeeds, type NeedsOf } from '@ringwright/access/message-needs';
import { role } from '@ringwright/access/need';
import type { MaybePromise } from '@ringwright/base/maybe-promise';
import type { AnswerFunction, Caller, CallHandler } from '@ringwright/wire/call-channel';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import { messageKinds } from '@ringwright/wire/messages';
import type { Guard } from './access/guard.ts';
import { type AuditLog, auditedWords, isAudited } from './audit/audit-log.ts';
import {
  answerGet,
  answerPut,
  answerScanPage,
  type ClientPorts,
} from './coordinate/client-answers.ts';
import type { AdaptiveThrottle } from './copies/adaptive-throttle.ts';
import type { CopySource } from './copies/copy-answers.ts';
import { answerHello, type HelloPorts } from './hello-exchange.ts';
import {
  answerConfirmDrops,
  answerMoveControl,
  answerMoveReceipts,
  answerMovesComplete,
  answerTrashList,
  answerTrashRestore,
  type MovePorts,
  type TrashPorts,
} from './moves/move-answers.ts';
import { needsOfNonMember, requireHandoverAccepted } from './peers/non-members.ts';
import type { ProvenPeers } from './peers/proven-peers.ts';
import { answerFilesLook, type Scrubber } from './repair/scrubber.ts';
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
import type { RequestedRing } from './rings/ring-requests.ts';
import type { TrustExchange } from './trust/trust-exchange.ts';

interface HandlerPorts {
  readonly audit: Pick<AuditLog, 'note' | 'read'>;
  readonly proven: Pick<ProvenPeers, 'requireMember' | 'isMembersOnly'>;
  readonly guard: Guard;
  readonly replica: ReplicaPorts;
  readonly introduce: HelloPorts;
  readonly copies: CopySource;
  readonly throttle: AdaptiveThrottle;
  readonly trash: TrashPorts;
  readonly trust: TrustExchange;
  readonly clients: ClientPorts;
  readonly moves: MovePorts;
  readonly scrubber: Pick<Scrubber, 'look' | 'damaged'>;
  readonly onBug: (error: unknown) => void;
}

type Kinds = typeof messageKinds;

/** The compiler refuses a message kind that has no handler below. */
type Answers = {
  readonly [Name in keyof Kinds]: (
    request: RequestOf<Kinds[Name]>,
    caller: Caller,
  ) => MaybePromise<AnswerOf<Kinds[Name]>>;
};

type DeviceMessage = {
  [Name in keyof Kinds]: RequestOf<Kinds[Name]> extends RequestedRing ? Name : never;
}[keyof Kinds];

/** Fills `handlers`, a map that every connection shares with the caller for this device itself. */
export function fillHandlers(handlers: Map<string, CallHandler>, ports: HandlerPorts): void {
  const ofDevices = answersOfDevices(ports);
  const answers: Answers = { ...ofDevices, ...otherAnswers(ports) };
  for (const name of Object.keys(messageKinds) as (keyof Kinds)[]) {
    // The channel passes on only requests that match the schema of their kind.
    const run = answers[name] as AnswerFunction;
    const answer = name in ofDevices ? betweenDevices(ports, name, run) : run;
    const { method, request } = messageKinds[name];
    const givesAway = name === 'copyRead' && ({ givesAway: true } as const);
    handlers.set(method, { request, answer: guardedAnswer(ports, name, answer), ...givesAway });
  }
}

function answersOfDevices({ replica, copies, throttle, onBug }: HandlerPorts) {
  const timed = throttle.timed.bind(throttle);
  return {
    recordWrite: (request, caller) => timed(answerWrite(replica, request, caller)),
    recordsWrite: (request, caller) => timed(answerWrites({ ...replica, onBug }, request, caller)),
    recordRead: (request, caller) => timed(answerRead(replica, request, caller)),
    recordStamp: (request, caller) => timed(answerStamp(replica, request, caller)),
    recordPrepare: (request, caller) => timed(answerPrepare(replica, request, caller)),
    digests: (request, caller) => answerDigests(replica, request, caller),
    tail: (request, caller) => answerTail(replica, request, caller),
    offer: (request, caller) => answerOffer(replica, request, caller),
    push: (request, caller) => answerPush(replica, request, caller),
    rowsSince: (request, caller) => answerRows(replica, request, caller),
    promises: (request, caller) => answerPromises(replica, request, caller),
    floorPromise: (request, caller) => answerFloorPromise(replica, request, caller),
    floorRaise: (request, caller) => answerFloorRaise(replica, request, caller),
    copyOpen: (request, caller) => copies.open(request, caller),
    copyStart: (request, caller) => copies.start(request, caller),
    keysAfter: (request, caller) => answerKeys(replica, request, caller),
    pageRead: (request, caller) => answerPage(replica, request, caller),
  } satisfies Partial<Pick<Answers, DeviceMessage>>;
}

/** For the permission that each message requires, see message-needs.ts. */
function otherAnswers(ports: HandlerPorts) {
  const { replica, copies, throttle, trash, trust, clients, moves } = ports;
  return {
    auditRead: async ({ before, limit }) => ({ lines: await ports.audit.read(before, limit) }),
    hello: (request, caller) => answerHello(ports.introduce, request, caller),
    ringOffer: (request, caller) => replica.exchange.offer(request, caller),
    ringDelta: (request, caller) => replica.exchange.delta(request, caller),
    ringChunk: (request, caller) => replica.exchange.chunk(request, caller),
    ringFetch: (request) => replica.exchange.fetch(request),
    ringSettle: (request) => replica.exchange.settle(request),
    trustOffer: (request) => trust.offer(request),
    trustFetch: (_, caller) => trustDocuments(ports, caller),
    copyRead: (request) => copies.read(request),
    copyClose: (request) => copies.release(request),
    copyGoOn: (request) => copies.goOn(request),
    copyChecksum: (request) => copies.checksum(request),
    copyRate: (request) => answerCopyRate(throttle, request),
    trashList: (request) => answerTrashList(trash, request),
    trashRestore: (request) => answerTrashRestore(trash, request),
    confirmDrops: (request) => {
      requireHandoverAccepted(ports, trash.rings.get(request.keyspace));
      return answerConfirmDrops(trash, request);
    },
    coordinateScan: (request) => answerScanPage(clients, request),
    coordinatePut: (request) => answerPut(clients, request),
    coordinateGet: (request) => answerGet(clients, request),
    moveControl: (request) => answerMoveControl(moves, request),
    moveReceipts: (request) => answerMoveReceipts(moves, request),
    movesComplete: (request) => answerMovesComplete(moves, request),
    filesLook: (request) => answerFilesLook(ports.scrubber, request),
  } satisfies Partial<Answers>;
}

/** Grants, and beacons of every ring, are for peers and for callers that may view the status. */
function trustDocuments(
  { trust, guard }: Pick<HandlerPorts, 'trust' | 'guard'>,
  caller: Caller,
): AnswerOf<Kinds['trustFetch']> {
  const documents = trust.fetch();
  if (guard.allows(caller, role('operator', 'metrics', 'peer'))) return documents;
  return { roots: documents.roots, beacons: [], access: null };
}

function answerCopyRate(
  throttle: AdaptiveThrottle,
  { bytesPerSecond, loan }: RequestOf<Kinds['copyRate']>,
): AnswerOf<Kinds['copyRate']> {
  if (loan === null) throttle.allow(bytesPerSecond);
  else throttle.lend(loan, bytesPerSecond);
  const { allowed, inForce } = throttle.status();
  return { allowed, inForce };
}

/**
 * Wraps a message that only devices of the ring may send to each other. It is counted as a request
 * in progress until it is answered.
 */
function betweenDevices(
  { proven, clients, guard }: Pick<HandlerPorts, 'proven' | 'clients' | 'guard'>,
  name: keyof Kinds,
  run: AnswerFunction,
): AnswerFunction {
  const { requests } = clients.coordinator;
  const isGranted = (caller: Caller, { keyspace }: RequestedRing): boolean => {
    if (name === 'digests' && guard.allows(caller, role('operator'))) return true;
    const needs = needsOfNonMember(name, keyspace);
    return needs !== null && guard.isGranted(caller, needs);
  };
  return (request, caller) => {
    const ringRequest = request as RequestedRing;
    proven.requireMember(caller, ringRequest, isGranted);
    const answer = run(request, caller);
    if (!(answer instanceof Promise)) return answer;
    requests.begin('answered', ringRequest);
    const end = (): void => requests.end('answered', ringRequest);
    answer.then(end, end);
    return answer;
  };
}

function guardedAnswer(
  { guard, audit }: Pick<HandlerPorts, 'guard' | 'audit'>,
  name: keyof Kinds,
  answer: AnswerFunction,
): AnswerFunction {
  const { method } = messageKinds[name];
  // These needs belong to the same message kind as the requests that are checked against them.
  const needs = messageNeeds[name] as NeedsOf<unknown>;
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
