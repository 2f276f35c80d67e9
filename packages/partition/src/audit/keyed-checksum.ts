// The keyed checksum of a copied file: a checksum of its bytes under a random key of 128 bits.
import { type CipherGCM, createCipheriv, randomBytes } from 'node:crypto';

const KEY_BYTES = 16;
/** Each key is used once. */
const NONCE = Buffer.alloc(12);

/** 64 hex digits: the key, and the checksum. */
export function isKeyedChecksum(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

/** Takes the bytes of a file in order; for one end of a copy. */
export class KeyedChecksum {
  readonly #key: Buffer;
  /** GMAC, which is the part of AES-GCM that looks at bytes it does not encrypt (SP 800-38D). */
  readonly #cipher: CipherGCM;

  private constructor(key: Buffer) {
    this.#key = key;
    this.#cipher = createCipheriv('aes-128-gcm', key, NONCE);
  }

  /** At the source: the key is drawn here. */
  static begin(): KeyedChecksum {
    return new KeyedChecksum(randomBytes(KEY_BYTES));
  }

  /** At the other end: the result is `text`, if the bytes are the same. */
  static of(text: string): KeyedChecksum {
    return new KeyedChecksum(Buffer.from(text.slice(0, 2 * KEY_BYTES), 'hex'));
  }

  take(bytes: Uint8Array): void {
    this.#cipher.setAAD(bytes);
  }

  /** Once, when all have been taken. */
  text(): string {
    this.#cipher.final();
    return this.#key.toString('hex') + this.#cipher.getAuthTag().toString('hex');
  }
}
