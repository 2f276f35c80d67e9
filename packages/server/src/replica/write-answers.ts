// This device's answer to many writes in one message: each write is fenced, stored and answered by
// itself.
import { CodedError } from '@ringwright/base/coded-error';
import type { Caller } from '@ringwright/wire/call-channel';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import { errorDocument } from '@ringwright/wire/packed-envelope';
import { type BatchedWrite, unpackWrites } from '@ringwright/wire/packed-writes';
import { type recordsWrite, writeKinds } from '@ringwright/wire/records';
import type { WriteAnswer } from '../peers/device-caller.ts';
import { answerWriteFor, type ReplicaPorts } from './replica.ts';

type Answer = AnswerOf<typeof recordsWrite>;

/** Resolves when each of them is durable here or refused. Throws PEER_FAILED. */
export function answerWrites(
  ports: ReplicaPorts & { readonly onBug: (error: unknown) => void },
  request: RequestOf<typeof recordsWrite>,
  caller: Caller,
): Promise<Answer> {
  const { keyspace, ringVersion } = request;
  const writes = unpackWrites(request.writes);
  if (writes === null) throw new CodedError('PEER_FAILED', 'writes: the bytes cannot be read');
  return new Promise((resolve) => {
    const outcomes = new Array<WriteAnswer | Failed>(writes.length);
    let unanswered = writes.length;
    const note = (index: number, outcome: WriteAnswer | Failed): void => {
      // The caller gets its message alone.
      const isBug = outcome.kind === 'failed' && !(outcome.error instanceof CodedError);
      if (isBug) ports.onBug(outcome.error);
      outcomes[index] = outcome;
      unanswered -= 1;
      if (unanswered === 0) resolve(answerOf(outcomes));
    };
    const begin = (write: BatchedWrite, index: number): void => {
      const writeRequest = { keyspace, ringVersion, ...write };
      try {
        answerWriteFor(ports, { request: writeRequest, caller }, (answer, error) =>
          note(index, answer ?? { kind: 'failed', error }),
        );
      } catch (error) {
        note(index, { kind: 'failed', error });
      }
    };
    for (const [index, write] of writes.entries()) begin(write, index);
  });
}

interface Failed {
  readonly kind: 'failed';
  readonly error: unknown;
}

function answerOf(outcomes: readonly (WriteAnswer | Failed)[]): Answer {
  const answer: Answer = { kinds: new Uint8Array(outcomes.length), stamps: [], errors: [] };
  for (const [index, outcome] of outcomes.entries()) {
    answer.kinds[index] = writeKinds.indexOf(outcome.kind);
    if (outcome.kind === 'failed') answer.errors.push(errorDocument(outcome.error));
    else if (outcome.kind !== 'stored') {
      answer.stamps.push({ ms: outcome.ms, tie: outcome.tie });
    }
  }
  return answer;
}
