// A client of a worker: one way to reach the cluster. Pure.

import type { Told } from '../../../test/support/ask-record.ts';
import type { Operation } from '../../../test/support/history.ts';

export type Question = Pick<Operation, 'kind' | 'key' | 'value' | 'level'>;

export interface Answer extends Told {
  /** Of the server that was asked; 0 when a client chose it by itself. */
  readonly port: number;
  /** What it was in truth. */
  readonly kind?: Operation['kind'];
}

export interface WorkerClient {
  /** Its operations are one session; absent where there are no sessions. */
  readonly session?: string;
  /** Levels that the protocol can ask for. */
  readonly levels: readonly NonNullable<Operation['level']>[];
  /** Never rejects: failures are outcomes. */
  readonly ask: (question: Question) => Promise<Answer>;
  readonly close?: () => void;
}
