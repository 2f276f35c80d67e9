// The closed list of message kinds, by method. Pure.
import { copyClose, copyOpen, copyRead } from './copies.ts';
import { hello } from './hello.ts';
import { recordRead, recordWrite } from './records.ts';
import { digests, offer, push, rowsSince } from './replication.ts';
import { ringChunk, ringFetch, ringOffer } from './rings.ts';
import { trustFetch, trustOffer } from './trust.ts';

export const messageKinds = {
  hello,
  ringOffer,
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
  copyOpen,
  copyRead,
  copyClose,
} as const;
