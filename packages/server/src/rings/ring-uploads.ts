// Ring files that arrive in chunks: one per connection, limited in number, bytes and time.
import { CodedError } from '@ringwright/base/coded-error';
import {
  ringUploadIdleMsMax,
  ringUploadsBytesMax,
  ringUploadsMax,
} from '@ringwright/base/limits-rings';
import type { Caller } from '@ringwright/wire/call-channel';

/** What is to arrive: a ring file, or a delta from the ring `base` to it. */
interface ExpectedUpload {
  readonly id: string;
  readonly keyspace: string;
  readonly bytes: number;
  readonly base: string | null;
}

interface Upload extends ExpectedUpload {
  /** Memory is taken as bytes arrive, not as they are announced. */
  readonly chunks: Uint8Array[];
  received: number;
  lastMs: number;
}

interface ArrivedUpload extends ExpectedUpload {
  readonly content: Buffer;
}

export class RingUploads {
  readonly #monotonicMs: () => number;
  readonly #uploads = new Map<Caller, Upload>();
  #received = 0;
  /** Whether a timer is set that ends idle uploads. */
  #isTimerSet = false;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Begins an upload; it replaces the one before on its connection. Throws PEER_BUSY. */
  begin(caller: Caller, expected: ExpectedUpload): void {
    this.end(caller);
    this.#endIdle();
    if (this.#uploads.size >= ringUploadsMax)
      throw busy(`${ringUploadsMax} rings are being received`);
    this.#uploads.set(caller, {
      ...expected,
      chunks: [],
      received: 0,
      lastMs: this.#monotonicMs(),
    });
    if (!this.#isTimerSet) this.#startTimer();
  }

  find(caller: Caller): Readonly<Upload> | undefined {
    return this.#uploads.get(caller);
  }

  /**
   * Adds the next bytes. Returns the upload once all announced bytes are there. Throws PEER_BUSY,
   * and ends the upload.
   */
  add(caller: Caller, data: Uint8Array): ArrivedUpload | null {
    const upload = this.#uploads.get(caller);
    if (upload === undefined) return null;
    if (this.#received + data.length > ringUploadsBytesMax) this.#endIdle();
    if (this.#received + data.length > ringUploadsBytesMax) {
      this.end(caller);
      throw busy(`${ringUploadsBytesMax} bytes of incomplete rings are held`);
    }
    upload.chunks.push(data);
    upload.received += data.length;
    upload.lastMs = this.#monotonicMs();
    this.#received += data.length;
    if (upload.received < upload.bytes) return null;
    this.end(caller);
    return { ...upload, content: Buffer.concat(upload.chunks) };
  }

  end(caller: Caller): void {
    this.#received -= this.#uploads.get(caller)?.received ?? 0;
    this.#uploads.delete(caller);
  }

  #startTimer(): void {
    this.#isTimerSet = true;
    const onTimer = (): void => {
      this.#endIdle();
      this.#isTimerSet = this.#uploads.size > 0;
      if (this.#isTimerSet) this.#startTimer();
    };
    setTimeout(onTimer, ringUploadIdleMsMax).unref();
  }

  /** Ends idle uploads, because nothing here notices a broken connection. */
  #endIdle(): void {
    const limitMs = this.#monotonicMs() - ringUploadIdleMsMax;
    for (const [caller, { lastMs }] of this.#uploads) if (lastMs < limitMs) this.end(caller);
  }
}

function busy(what: string): CodedError {
  return new CodedError('PEER_BUSY', `${what} here, which is the maximum`, {
    hint: 'push again in a minute',
  });
}
