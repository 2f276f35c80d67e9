// The finished segments of the log, and whether their files are still as they were at their end.
import { type FileIdentity, whyLost } from '../file/file-identity.ts';

interface FinishedSegment {
  readonly file: string;
  readonly identity: FileIdentity | null;
  /** Why the segment was found truncated when it ended; null if it was not. */
  readonly emptied: string | null;
}

export class FinishedSegments {
  readonly #segments = new Map<number, FinishedSegment>();

  note(number: number, segment: FinishedSegment): void {
    this.#segments.set(number, segment);
  }

  /** Says why a segment from `oldest` on is lost; null if none is. Older ones are not needed. */
  whyLost(oldest: number): string | null {
    for (const [number, { file, identity, emptied }] of this.#segments) {
      if (number < oldest) this.#segments.delete(number);
      else {
        const reason = whyLost(file, identity) ?? emptied;
        if (reason !== null) return reason;
      }
    }
    return null;
  }
}
