// The messages between a store and its carrier.
import { type Failure, failureBy } from '@ringwright/base/disk-error';
import { answerParent } from '@ringwright/node/background-program';

/** A file, and how many of its bytes belong to the copy: a growing file has more. */
export interface FilePart {
  readonly path: string;
  readonly bytes: number;
}

/** Where a source's carrier listens, and the credentials for one connection. */
export interface CarrierEndpoint {
  readonly host: string;
  readonly port: number;
  /** 64 hex digits, valid for one connection. */
  readonly ticket: string;
  /** 32 hex digits: key that encrypts the bytes of this one connection. Null: not encrypted. */
  readonly cipherKey: string | null;
}

/** Each copy has an id, unique during the life of the carrier. */
export type CopyOrder =
  | { readonly kind: 'listen'; readonly host: string; readonly port: number }
  /** Bytes per second, of all copies in one direction together; null: no limit. */
  | { readonly kind: 'rate'; readonly rate: number | null }
  | { readonly kind: 'give'; readonly id: number; readonly parts: readonly FilePart[]; key: string }
  /** The connection that presents the ticket gets the bytes from `offset` on. */
  | (Pick<CarrierEndpoint, 'ticket' | 'cipherKey'> & {
      readonly kind: 'admit';
      readonly id: number;
      readonly offset: number;
    })
  /**
   * The files may be written soon: the carrier copies them to this directory and reads on from
   * there.
   */
  | { readonly kind: 'detach'; readonly id: number; readonly directory: string }
  | { readonly kind: 'take'; readonly id: number; readonly parts: readonly FilePart[]; key: string }
  /** Resumes after the bytes already received. */
  | { readonly kind: 'fetch'; readonly id: number; readonly gate: CarrierEndpoint }
  /** Closes its files. */
  | { readonly kind: 'end'; readonly id: number };

export type OrderOf<Kind extends CopyOrder['kind']> = Extract<CopyOrder, { kind: Kind }>;

/** Progress of one copy. */
export type CopyReport =
  | { readonly kind: 'sent'; readonly id: number; readonly bytes: number }
  | { readonly kind: 'given'; readonly id: number; readonly checksum: string }
  | { readonly kind: 'detached'; readonly id: number }
  | { readonly kind: 'received'; readonly id: number; readonly bytes: number }
  /** All bytes are written to the files, and not synced yet. */
  | { readonly kind: 'taken'; readonly id: number; readonly checksum: string }
  | { readonly kind: 'synced'; readonly id: number }
  /** The connection broke or was never made. */
  | {
      readonly kind: 'cut';
      readonly id: number;
      readonly wasOpen: boolean;
      received: number;
      message: string;
    }
  | ({ readonly kind: 'failed'; readonly id: number } & Failure);

export type CopyAnswer =
  | CopyReport
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'not-listening'; readonly message: string };

/** Sends a message to the store from within the carrier. */
export const tellStore = (answer: CopyAnswer): void => answerParent(answer);

/** Reports the error that ended a copy. */
export function tellFailed(id: number, error: unknown): void {
  tellStore({ kind: 'failed', id, ...failureBy(error) });
}
