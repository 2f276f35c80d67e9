// The permissions that each message between servers, clients and the tool needs. Pure.
import type { RequestOf } from '@ringwright/wire/message';
import type { messageKinds } from '@ringwright/wire/messages';
import { anyToken, type Need, nothing, role } from './need.ts';

type Kinds = typeof messageKinds;

/** Needs, which may depend on the request; all of them must be met. */
export type NeedsOf<Request> = readonly Need[] | ((request: Request) => readonly Need[]);

const peer = [role('peer')];
const operator = [role('operator')];
const operatorOrPeer = [role('operator', 'peer')];

/** The compiler refuses a message that has no line here. */
export const messageNeeds: { readonly [Name in keyof Kinds]: NeedsOf<RequestOf<Kinds[Name]>> } = {
  // Claims about the caller count only from peers, and a caller without a token learns of no ring.
  hello: [nothing],
  // The documents' signatures are the credential, or nobody could ever grant the first token.
  trustOffer: [nothing],
  // Grants and beacons are only in the answer for peers and callers that may view the status.
  trustFetch: [anyToken],
  ringOffer: operatorOrPeer,
  ringDelta: operatorOrPeer,
  ringChunk: operatorOrPeer,
  ringFetch: ({ keyspace }) => [{ kind: 'ring', keyspace }],
  ringSettle: operator,
  recordWrite: peer,
  recordsWrite: peer,
  recordRead: peer,
  recordStamp: peer,
  recordPrepare: peer,
  digests: operatorOrPeer,
  tail: peer,
  offer: peer,
  push: peer,
  rowsSince: peer,
  promises: peer,
  floorPromise: peer,
  floorRaise: peer,
  copyOpen: peer,
  copyRead: peer,
  copyClose: peer,
  copyRate: operator,
  copyStart: peer,
  copyGoOn: peer,
  copyChecksum: peer,
  trashList: operator,
  trashRestore: operator,
  confirmDrops: operator,
  keysAfter: peer,
  pageRead: peer,
  coordinatePut: ({ keyspace, key, condition }) => {
    const write: Need = { kind: 'data', role: 'write', keyspace, key };
    // The outcome of a condition tells what the key holds.
    return condition === null ? [write] : [write, { ...write, role: 'read' }];
  },
  coordinateGet: ({ keyspace, key }) => [{ kind: 'data', role: 'read', keyspace, key }],
  coordinateScan: ({ keyspace, prefix }) => [
    { kind: 'data', role: 'read', keyspace, key: prefix.length === 0 ? null : prefix },
  ],
  auditRead: operator,
  moveControl: operator,
  moveReceipts: operator,
  movesComplete: operator,
  filesLook: [role('operator', 'metrics')],
};
