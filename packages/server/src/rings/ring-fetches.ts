// Limits how many rings this server fetches at once, and in how much memory, from all peers
// together.
import { CodedError } from '@ringwright/base/coded-error';
import { ringFetchesBytesMax, ringFetchesMax } from '@ringwright/base/limits-rings';

/** Called with each chunk before it is kept. Throws PEER_BUSY when there is no room for it. */
export type TakeBytes = (bytes: number) => void;

export class RingFetches {
  #running = 0;
  #bytes = 0;
  readonly #waiting: (() => void)[] = [];

  /** Runs a fetch, and the work with its bytes, when a place is free. */
  async run<T>(fetch: (take: TakeBytes) => Promise<T>): Promise<T> {
    if (this.#running >= ringFetchesMax) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#running += 1;
    let taken = 0;
    try {
      return await fetch((bytes) => {
        if (this.#bytes + bytes > ringFetchesBytesMax) throw busy();
        taken += bytes;
        this.#bytes += bytes;
      });
    } finally {
      this.#bytes -= taken;
      const next = this.#waiting.shift();
      // Passes the place on to the next fetch, or frees it.
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}

function busy(): CodedError {
  const message = `${ringFetchesBytesMax} bytes of rings are fetched here, which is the most`;
  return new CodedError('PEER_BUSY', message, { hint: 'they are asked for again by themselves' });
}
