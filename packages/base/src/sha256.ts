// The digest used everywhere here: for rings, log lines, keys and tokens. Pure.
import { createHash } from 'node:crypto';

/** 64 hex digits. */
export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
