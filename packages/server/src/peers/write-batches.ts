// Sends the writes of one turn to one server in one message. Each write keeps its own outcome.
import {
  batchedWriteBytesMax,
  batchedWritesBytesMax,
  batchedWritesMax,
} from '@ringwright/base/limits-wire';
import type { Callback } from '@ringwright/base/maybe-promise';
import { errorFromDocument } from '@ringwright/base/remote-error';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import { packedWriteBytes, packWrites } from '@ringwright/wire/packed-writes';
import { type recordsWrite, type recordWrite, writeKinds } from '@ringwright/wire/records';

type WriteRequest = RequestOf<typeof recordWrite>;
type WriteAnswer = AnswerOf<typeof recordWrite>;

interface WriteBatchPorts {
  readonly one: (address: string, request: WriteRequest) => Promise<WriteAnswer>;
  readonly many: (
    address: string,
    request: RequestOf<typeof recordsWrite>,
  ) => Promise<AnswerOf<typeof recordsWrite>>;
  /** Whether the server at this address accepts many writes in one message. */
  readonly takesMany: (address: string) => boolean;
  /** Runs `work` when the turn ends. */
  readonly defer: (work: () => void) => void;
}

interface Batch {
  readonly address: string;
  readonly requests: WriteRequest[];
  readonly onResults: Callback<WriteAnswer>[];
  bytes: number;
}

export class WriteBatches {
  readonly #ports: WriteBatchPorts;
  /** By address. */
  readonly #gathering = new Map<string, Batch>();
  #isDeferred = false;

  constructor(ports: WriteBatchPorts) {
    this.#ports = ports;
  }

  /** Calls `onResult` once, in a later turn. */
  add(address: string, request: WriteRequest, onResult: Callback<WriteAnswer>): void {
    const bytes = packedWriteBytes(request);
    if (bytes > batchedWriteBytesMax || !this.#ports.takesMany(address)) {
      this.#sendOne(address, request, onResult);
      return;
    }
    const batch = this.#batchFor(address, request, bytes);
    batch.requests.push(request);
    batch.onResults.push(onResult);
    batch.bytes += bytes;
    if (this.#isDeferred) return;
    this.#isDeferred = true;
    this.#ports.defer(() => {
      this.#isDeferred = false;
      for (const gathered of this.#gathering.values()) this.#send(gathered);
      this.#gathering.clear();
    });
  }

  /** Returns a batch for the same ring that has room for the write. */
  #batchFor(address: string, request: WriteRequest, bytes: number): Batch {
    const batch = this.#gathering.get(address);
    if (batch !== undefined) {
      const [first] = batch.requests;
      const isSame =
        first?.keyspace === request.keyspace && first.ringVersion === request.ringVersion;
      const hasRoom =
        batch.bytes + bytes <= batchedWritesBytesMax && batch.requests.length < batchedWritesMax;
      if (isSame && hasRoom) return batch;
      this.#send(batch);
    }
    const next: Batch = { address, requests: [], onResults: [], bytes: 0 };
    this.#gathering.set(address, next);
    return next;
  }

  #sendOne(address: string, request: WriteRequest, onResult: Callback<WriteAnswer>): void {
    this.#ports.one(address, request).then(
      (answer) => onResult(answer, null),
      (error: unknown) => onResult(null, error),
    );
  }

  #send({ address, requests, onResults }: Batch): void {
    const [first] = requests;
    const [onFirstResult] = onResults;
    if (first === undefined || onFirstResult === undefined) return;
    if (requests.length === 1) {
      this.#sendOne(address, first, onFirstResult);
      return;
    }
    const { keyspace, ringVersion } = first;
    const writes = packWrites(requests);
    this.#ports.many(address, { keyspace, ringVersion, writes }).then(
      (answer) => tellAll(onResults, answer),
      (error: unknown) => {
        for (const tell of onResults) tell(null, error);
      },
    );
  }
}

/** A write without a valid answer counts as failed, with its outcome unknown. */
function tellAll(
  onResults: readonly Callback<WriteAnswer>[],
  { kinds, stamps, errors }: AnswerOf<typeof recordsWrite>,
): void {
  const stamp = stamps.values();
  const error = errors.values();
  for (const [index, tell] of onResults.entries()) {
    const kind = writeKinds[kinds[index] ?? -1];
    if (kind === 'stored') tell({ kind }, null);
    else if (kind === 'stale' || kind === 'promised') {
      const { value } = stamp.next();
      if (value === undefined) tell(null, errorFromDocument(null));
      else tell({ kind, ...value }, null);
    } else tell(null, errorFromDocument(error.next().value));
  }
}
