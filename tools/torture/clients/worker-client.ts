// A worker's client: one way to reach the cluster. Pure.

import type { OperationResult } from '../../../test/support/ask-record.ts';
import type { Operation } from '../../../test/support/history-operation.ts';

export type Question = Pick<Operation, 'kind' | 'key' | 'value' | 'level'>;

export interface Answer extends OperationResult {
  /** Port of the server that was asked; 0 when the client chose the server itself. */
  readonly port: number;
  /** The kind of operation that was really done. */
  readonly kind?: Operation['kind'];
}

export interface WorkerClient {
  /** Its operations form one session; absent when the client has no sessions. */
  readonly session?: string;
  /** Consistency levels that the protocol supports. */
  readonly levels: readonly NonNullable<Operation['level']>[];
  /** Never rejects: failures are outcomes. */
  readonly ask: (question: Question) => Promise<Answer>;
  readonly close?: () => void;
}
