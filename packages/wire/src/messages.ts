// The closed list of message kinds, by method. Pure.
import { coordinateGet, coordinatePut } from './coordination.ts';
import { copyClose, copyOpen, copyRate, copyRead } from './copies.ts';
import { floorPromise, floorRaise } from './floors.ts';
import { hello } from './hello.ts';
import { keysAfter } from './listing.ts';
import { moveControl, moveReceipts } from './moves.ts';
import { recordRead, recordWrite } from './records.ts';
import { digests, offer, push, rowsSince } from './replication.ts';
import { ringChunk, ringDelta, ringFetch, ringOffer } from './rings.ts';
import { trustFetch, trustOffer } from './trust.ts';

export const messageKinds = {
  hello,
  ringOffer,
  ringDelta,
  ringChunk,
  ringFetch,
  trustOffer,
  trustFetch,
  recordWrite,
  recordRead,
  digests,
  offer,
  push,
  rowsSince,
  floorPromise,
  floorRaise,
  copyOpen,
  copyRead,
  copyClose,
  copyRate,
  keysAfter,
  coordinatePut,
  coordinateGet,
  moveControl,
  moveReceipts,
} as const;
