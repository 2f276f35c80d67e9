// The closed list of message kinds, by method. Pure.
import { auditRead } from './audit.ts';
import { coordinateGet, coordinatePut } from './coordination.ts';
import {
  copyChecksum,
  copyClose,
  copyGoOn,
  copyOpen,
  copyRate,
  copyRead,
  copyStart,
} from './copies.ts';
import { filesLook } from './files.ts';
import { floorPromise, floorRaise } from './floors.ts';
import { hello } from './hello.ts';
import { coordinateScan, keysAfter, pageRead } from './listing.ts';
import { moveControl, moveReceipts, movesComplete } from './moves.ts';
import { recordPrepare, recordRead, recordStamp, recordsWrite, recordWrite } from './records.ts';
import { digests, offer, promises, push, rowsSince, tail } from './replication.ts';
import { ringChunk, ringDelta, ringFetch, ringOffer, ringSettle } from './rings.ts';
import { confirmDrops, trashList, trashRestore } from './trash.ts';
import { trustFetch, trustOffer } from './trust.ts';

export const messageKinds = {
  hello,
  ringOffer,
  ringDelta,
  ringChunk,
  ringFetch,
  ringSettle,
  trustOffer,
  trustFetch,
  recordWrite,
  recordsWrite,
  recordRead,
  recordStamp,
  recordPrepare,
  digests,
  tail,
  offer,
  push,
  rowsSince,
  promises,
  floorPromise,
  floorRaise,
  copyOpen,
  copyRead,
  copyClose,
  copyRate,
  copyStart,
  copyGoOn,
  copyChecksum,
  trashList,
  trashRestore,
  confirmDrops,
  keysAfter,
  pageRead,
  coordinateScan,
  coordinatePut,
  coordinateGet,
  moveControl,
  moveReceipts,
  movesComplete,
  filesLook,
  auditRead,
} as const;
