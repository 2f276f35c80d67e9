// Limits the bytes of long values that are being written through this server. Each is held several
// times: as it came, for the log, and for every other server, for seconds if that one is slow.
import { CodedError } from '@ringwright/base/coded-error';
import { longValueBytesMin } from '@ringwright/base/limits-listeners';

export class LongWrites {
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /**
   * Returns a function to be called once the write has ended; null for a value that is not long.
   * Throws STORE_BUSY; but one value, however long, may always be written.
   */
  begin(value: Uint8Array | null): (() => void) | null {
    if (value === null || value.length < longValueBytesMin) return null;
    const { length } = value; // the array may be freed before the write has ended
    if (this.#bytes > 0 && this.#bytes + length > this.#bytesMax) throw this.#tooMany();
    this.#bytes += length;
    return () => {
      this.#bytes -= length;
    };
  }

  #tooMany(): CodedError {
    const now = `${this.#bytes} bytes of long values are being written through this server`;
    return new CodedError('STORE_BUSY', `${now}, and the maximum is ${this.#bytesMax}`, {
      hint: 'send the write again in a moment, and fewer at once',
      details: { bytes: this.#bytes, max: this.#bytesMax, outcome: 'rejected' },
    });
  }
}
