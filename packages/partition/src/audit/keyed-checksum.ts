// The keyed checksum of a copied file: a checksum of its bytes under a random key of 128 bits.
import { type CipherGCM, createCipheriv, randomBytes } from 'node:crypto';

const KEY_BYTES = 16;
/** A constant nonce is safe here: each key is used once. */
const NONCE = Buffer.alloc(12);

/** 64 hex digits: the key, then the checksum. */
export function isKeyedChecksum(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

/** Takes the bytes of a file in order; each end of a copy has one. */
export class KeyedChecksum {
  readonly #key: Buffer;
  /** GMAC: the part of AES-GCM that authenticates bytes without encrypting them (SP 800-38D). */
  readonly #cipher: CipherGCM;

  private constructor(key: Buffer) {
    this.#key = key;
    this.#cipher = createCipheriv('aes-128-gcm', key, NONCE);
  }

  /** For a file that is read here: draws the key. */
  static begin(): KeyedChecksum {
    return new KeyedChecksum(randomBytes(KEY_BYTES));
  }

  /** For the other end: the result equals `text` if the bytes are the same. */
  static of(text: string): KeyedChecksum {
    return new KeyedChecksum(Buffer.from(text.slice(0, 2 * KEY_BYTES), 'hex'));
  }

  take(bytes: Uint8Array): void {
    this.#cipher.setAAD(bytes);
  }

  /** Called once, after all bytes. */
  text(): string {
    this.#cipher.final();
    return this.#key.toString('hex') + this.#cipher.getAuthTag().toString('hex');
  }
}
