// Order-independent digest of a partition: the XOR of all row hashes, 8 bytes. Pure.

/** Bytes of a row hash. */
export const rowHashBytes = 8;

/** Two halves, because JavaScript's bit operations work on 32 bits. */
export interface Digest {
  readonly high: number;
  readonly low: number;
}

export const emptyDigest: Digest = { high: 0, low: 0 };

/** Adds or removes a row hash: XOR is its own inverse. */
export function toggleRow(digest: Digest, rowHash: Buffer): Digest {
  return {
    high: digest.high ^ rowHash.readInt32BE(0),
    low: digest.low ^ rowHash.readInt32BE(4),
  };
}

const scratch = Buffer.alloc(8);

/** Going through bytes takes a seventh of the time of formatting numbers in base 16. */
export function formatDigest({ high, low }: Digest): string {
  scratch.writeInt32BE(high, 0);
  scratch.writeInt32BE(low, 4);
  return scratch.toString('hex');
}

export function parseDigest(text: string): Digest | null {
  if (!/^[0-9a-f]{16}$/.test(text)) return null;
  return {
    high: Number.parseInt(text.slice(0, 8), 16) | 0,
    low: Number.parseInt(text.slice(8), 16) | 0,
  };
}
