// What a store and the process that gives and takes its copies tell each other.
import { answerParent } from '@ringwright/node/background-program';

/** A file, and how many of its bytes belong to the copy: a file that grows has more. */
export interface FilePart {
  readonly path: string;
  readonly bytes: number;
}

/** Where the process of a source waits, and what it lets a joiner in for. */
export interface CopyGate {
  readonly host: string;
  readonly port: number;
  /** 64 hex digits, good for one connection. */
  readonly ticket: string;
  /** 32 hex digits: the bytes come encrypted under it, once. Null: as they are. */
  readonly cipherKey: string | null;
}

/** Every copy has a number of its own, in the life of the process. */
export type CopyOrder =
  | { readonly kind: 'listen'; readonly host: string; readonly port: number }
  /** Bytes per second, of all copies in one direction together; null: no limit. */
  | { readonly kind: 'rate'; readonly rate: number | null }
  | { readonly kind: 'give'; readonly id: number; readonly parts: readonly FilePart[]; key: string }
  /** Whoever brings the ticket gets the bytes from `offset` on. */
  | (Pick<CopyGate, 'ticket' | 'cipherKey'> & {
      readonly kind: 'admit';
      readonly id: number;
      readonly offset: number;
    })
  /** The files may be written to soon: what is given comes from copies in this directory. */
  | { readonly kind: 'detach'; readonly id: number; readonly directory: string }
  | { readonly kind: 'take'; readonly id: number; readonly parts: readonly FilePart[]; key: string }
  /** Goes on with what is there already. */
  | { readonly kind: 'fetch'; readonly id: number; readonly gate: CopyGate }
  /** Closes its files. */
  | { readonly kind: 'end'; readonly id: number };

/** Of one copy. */
export type CopyReport =
  | { readonly kind: 'sent'; readonly id: number; readonly bytes: number }
  | { readonly kind: 'given'; readonly id: number; readonly checksum: string }
  | { readonly kind: 'detached'; readonly id: number }
  | { readonly kind: 'received'; readonly id: number; readonly bytes: number }
  /** All bytes are in the files, and on their way to the disk. */
  | { readonly kind: 'taken'; readonly id: number; readonly checksum: string }
  | { readonly kind: 'synced'; readonly id: number }
  /** The connection broke, or there never was one. */
  | {
      readonly kind: 'cut';
      readonly id: number;
      readonly wasOpen: boolean;
      received: number;
      message: string;
    }
  | { readonly kind: 'failed'; readonly id: number; readonly code: string; message: string };

export type CopyAnswer =
  | CopyReport
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'not-listening'; readonly message: string };

/** From within the process. */
export const tellStore = (answer: CopyAnswer): void => answerParent(answer);
